"""Indexes in an engine from the command line: what is refused, and the way there and back."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine
from servers import reading_room

Run = Callable[..., Any]
QUESTION = "How much does a dog licence cost?"
SECRET = "s3cret-key"


@pytest.fixture
def refusing() -> Iterator[FakeEngine]:
    """An engine that has nothing."""
    with FakeEngine() as engine:
        yield engine


def failed(result: Any, kind: str, code: int, *said: str) -> None:
    error = json.loads(result.stdout)["error"]
    assert (error["type"], error["exit_code"], result.exit_code) == (kind, code, code)
    told = f"{error['what']} {error['hint']}"
    assert all(one in told for one in said), told
    assert SECRET not in result.stdout + result.stderr


def test_a_wrong_key(
    run: Run, index: Path, refusing: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_ENGINE_API_KEY", SECRET)
    refusing.refuse(401, "security_exception", "unable to authenticate")
    address = f"{refusing.base}/dogs"
    for command in (("index", "push", str(index), address), ("ask", QUESTION, "--corpus", address)):
        failed(run(*command, "--json"), "EngineAuthError", 13, "401", "LEXLOOP_ENGINE_API_KEY")
    sent = {headers.get("authorization") for _, _, headers in refusing.requests}
    assert sent == {f"ApiKey {SECRET}"}


def test_no_index_at_an_address(run: Run, refusing: FakeEngine, tmp_path: Path) -> None:
    address = f"{refusing.base}/dogs"
    for command in (
        ("ask", QUESTION, "--corpus", address),
        ("index", "info", address),
        ("index", "verify", address),
        ("index", "pull", address, str(tmp_path / "new")),
    ):
        failed(run(*command, "--json"), "CorpusError", 4, f"lexloop index push INDEX {address}")
    assert not (tmp_path / "new").exists()


def test_coarse_vectors_from_the_command_line(
    run: Run, in_json: Run, documents: Path, index: Path, engine_address: str
) -> None:
    assert run("index", str(documents), "--out", engine_address).exit_code == 0
    for command in (
        ("push", str(index), engine_address),
        ("build", str(documents), "--out", engine_address),
    ):
        done = run("index", *command, "--vectors", "int8")
        assert done.exit_code == 0, done.stderr
        assert in_json("index", "info", engine_address)["dense_kind"] == "int8_hnsw"
        verified = in_json("index", "verify", engine_address, "--against", str(index))
        assert verified["overlap"] >= 0.95
    assert "40 euros" in in_json("ask", QUESTION, "--corpus", engine_address)["answer"]


def test_the_way_there_and_back(
    run: Run, in_json: Run, index: Path, engine_address: str, tmp_path: Path
) -> None:
    pushed = run("index", "push", str(index), engine_address, "--shards", "1")
    assert pushed.exit_code == 0
    assert pushed.stdout.startswith("2 documents, ")
    assert f"-> {engine_address}" in pushed.stdout
    host = engine_address.partition("//")[2].partition(",")[0].partition("/")[0]
    assert host in pushed.stderr  # where text went
    assert in_json("index", "verify", engine_address, "--against", str(index))["documents"] == 2
    back = tmp_path / "back.index"
    assert run("index", "pull", engine_address, str(back)).exit_code == 0
    assert run("index", "verify", str(back)).exit_code == 0
    places = (index, engine_address, back)
    here, there, again = (in_json("ask", QUESTION, "--corpus", place) for place in places)
    assert "40 euros" in here["answer"]
    for found in (there, again):
        assert found["answer"] == here["answer"]
        assert found["citations"] == here["citations"]
        assert found["degraded"] == []
    assert (here["hosts"], again["hosts"]) == ([], [])
    assert there["hosts"][0] == host
    told, held = (in_json("index", "info", place, "--documents") for place in places[:2])
    own = {"index", "bytes", "generation", "dense_kind", "recall@10"}
    assert {n: v for n, v in held.items() if n not in own} == {
        n: v for n, v in told.items() if n not in own
    }
    assert (held["index"], held["bytes"]) == (engine_address, None)


def test_an_address_by_settings_among_collections_and_on_a_server(
    run: Run, in_json: Run, index: Path, engine_address: str, *, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    run("index", "push", str(index), engine_address)
    named = ("ask", QUESTION, "--collections", f"sample,dogs={engine_address}")
    assert in_json(*named)["collections"] == ["dogs"]
    other = run(
        "ask", QUESTION, "--corpus", engine_address, "--set", "index.windows=whole", "--json"
    )
    failed(other, "SettingsError", 2, engine_address, "index.windows=statements, not whole")
    with reading_room(tmp_path / "served", {"dogs": engine_address}) as (client, _):
        (told,) = client.get("/api/collections").json()
        assert (told["documents"], told["trouble"]) == (2, "")
        text = client.get("/api/collections/dogs/text", params={"document": "dogs.txt"}).json()
        assert "40 euros" in json.dumps(text)
    monkeypatch.setenv("LEXLOOP_CORPUS", engine_address)
    assert "40 euros" in in_json("ask", QUESTION)["answer"]
    assert "on a leash" in run("show", "dogs.txt", "§ 2").stdout
    assert "40 euros" in run("chat", stdin=f"{QUESTION}\n").stdout
