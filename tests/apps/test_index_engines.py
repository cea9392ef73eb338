"""Indexes in an engine from the command line: what is refused, and the way there and back."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_engine import FakeEngine
from fastapi.testclient import TestClient
from reading_room import reading_room

Run = Callable[..., Any]
QUESTION = "How much does a dog licence cost?"
SECRET = "s3cret-key"


@pytest.fixture
def index(run: Run, documents: Path, tmp_path: Path) -> Path:
    """The index of two small documents."""
    made = tmp_path / "dogs.index"
    assert run("index", str(documents), "--out", str(made)).exit_code == 0
    return made


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


def test_an_engine_that_is_not_there(run: Run, index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    address = f"opensearch://127.0.0.1:{port}/dogs"
    for command in (
        ("index", "push", str(index), address),
        ("index", "info", address),
        ("index", "verify", address),
        ("ask", QUESTION, "--corpus", address),
    ):
        failed(run(*command, "--json"), "EngineUnavailable", 13, address, "cannot be reached")


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


def test_another_product(run: Run, index: Path, refusing: FakeEngine) -> None:
    node = {"version": "9.2.0", "build_flavor": "default", "build_type": "tar"}
    refusing.answers["/_nodes"] = (200, {"nodes": {"n": node}})
    address = f"{refusing.base}/dogs"
    result = run("index", "push", str(index), address, "--json")
    failed(result, "EngineError", 13, address, "elasticsearch 9.2.0", "elasticsearch://")


def test_a_version_that_is_too_old(run: Run, index: Path, refusing: FakeEngine) -> None:
    refusing.answers["/_nodes"] = (200, {"nodes": {"n": {"version": "1.3.2"}}})
    result = run("index", "push", str(index), f"{refusing.base}/dogs", "--json")
    failed(result, "EngineError", 13, "opensearch 1.3.2", "or later is needed")


def test_an_engine_that_is_read_only(run: Run, index: Path, refusing: FakeEngine) -> None:
    said = "index blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark]"
    refusing.refuse(403, "cluster_block_exception", said, "/lexloop")
    result = run("index", "push", str(index), f"{refusing.base}/dogs", "--json")
    failed(result, "EngineError", 13, "read-only", "watermark")


def test_an_engine_that_is_busy_is_asked_again_a_few_times(run: Run, refusing: FakeEngine) -> None:
    refusing.refuse(429, "rejected_execution_exception", "queue capacity")
    failed(run("index", "info", f"{refusing.base}/dogs", "--json"), "EngineUnavailable", 13, "429")
    assert 1 < len(refusing.requests) < 20


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


def test_what_is_no_engine(run: Run, refusing: FakeEngine, tmp_path: Path) -> None:
    refusing.answers = {"/": (404, {})}
    address = f"{refusing.base}/dogs"
    for command in (
        ("ask", QUESTION, "--corpus", address),
        ("index", "pull", address, str(tmp_path / "new")),
    ):
        failed(run(*command, "--json"), "EngineError", 13, address, "as no opensearch does")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("opensearch://127.0.0.1:9/Dogs", "Dogs"),
        ("opensearch://127.0.0.1:9", "name"),
        ("opensearch://127.0.0.1:99999/dogs", "99999"),
        ("opensearch:127.0.0.1/dogs", "no address"),
        (f"elasticsearch://ann:{SECRET}@127.0.0.1:9/dogs", "LEXLOOP_ENGINE_PASSWORD"),
    ],
)
def test_what_is_no_address(run: Run, index: Path, address: str, said: str) -> None:
    failed(run("index", "push", str(index), address, "--json"), "SettingsError", 2, said)
    failed(run("ask", QUESTION, "--corpus", address, "--json"), "SettingsError", 2, said)


def test_an_address_where_a_folder_belongs(run: Run, documents: Path, index: Path) -> None:
    address = "opensearch://127.0.0.1:9/dogs"
    for command in (
        ("index", address, "--out", str(index) + "2"),
        ("index", "add", address, str(documents)),
        ("index", "update", address),
        ("index", "push", address, address),
    ):
        failed(run(*command, "--json"), "InputError", 2, address, "takes a folder")
    assert run("index", "remove", address, "dogs.txt").exit_code == 2


def test_what_cannot_be_compared_or_overwritten(run: Run, index: Path) -> None:
    against = run("index", "verify", str(index), "--against", str(index), "--json")
    failed(against, "InputError", 2, str(index), "--against")
    taken = run("index", "pull", "opensearch://127.0.0.1:9/dogs", str(index), "--json")
    failed(taken, "CorpusError", 4, f"{index} already exists")


def test_vectors_that_cannot_be_kept_so(run: Run, documents: Path, index: Path) -> None:
    for product, kind, kinds in (
        ("opensearch", "binary", "float or int8"),
        ("opensearch", "half", "float or int8"),
        ("elasticsearch", "half", "float or int8 or binary"),
    ):
        address = f"{product}://127.0.0.1:9/dogs"
        for command in (("push", str(index), address), ("build", str(documents), "--out", address)):
            refused = run("index", *command, "--vectors", kind, "--json")
            failed(refused, "SettingsError", 2, repr(kind), product, f"Use {kinds}.")
    new = f"{index}2"
    for said in (("--vectors", "int8"), ("--shards", "3")):
        here = run("index", str(documents), "--out", new, *said, "--json")
        failed(here, "InputError", 2, new, said[0])
    assert not Path(new).exists()


@pytest.mark.parametrize("kind", ["float", "int8"])
def test_coarse_vectors_from_the_command_line(
    run: Run, documents: Path, index: Path, engine_address: str, kind: str
) -> None:
    assert run("index", str(documents), "--out", engine_address).exit_code == 0
    for command in (
        ("push", str(index), engine_address),
        ("build", str(documents), "--out", engine_address),
    ):
        assert run("index", *command, "--vectors", kind).exit_code == 0
        told = json.loads(run("index", "info", engine_address, "--json").stdout)
        assert told["dense_kind"] == {"float": "hnsw", "int8": "int8_hnsw"}[kind]
        assert told["recall@10"] is None
        verified = run("index", "verify", engine_address, "--against", str(index), "--json")
        assert json.loads(verified.stdout)["overlap"] >= 0.95
    asked = json.loads(run("ask", QUESTION, "--json", "--corpus", engine_address).stdout)
    assert "40 euros" in asked["answer"]


def test_the_way_there_and_back(run: Run, index: Path, engine_address: str, tmp_path: Path) -> None:
    pushed = run("index", "push", str(index), engine_address)
    assert pushed.exit_code == 0
    assert pushed.stdout.startswith("2 documents, ")
    assert f"-> {engine_address}" in pushed.stdout
    host = engine_address.partition("//")[2].partition(",")[0].partition("/")[0]
    assert host in pushed.stderr  # where text went
    verified = run("index", "verify", engine_address, "--against", str(index), "--json")
    assert json.loads(verified.stdout)["documents"] == 2
    back = tmp_path / "back.index"
    assert run("index", "pull", engine_address, str(back)).exit_code == 0
    assert run("index", "verify", str(back)).exit_code == 0
    asked = ("ask", QUESTION, "--json", "--corpus")
    here, there, again = (
        json.loads(run(*asked, place).stdout) for place in (str(index), engine_address, str(back))
    )
    assert "40 euros" in here["answer"]
    for found in (there, again):
        assert found["answer"] == here["answer"]
        assert found["citations"] == here["citations"]
        assert found["degraded"] == []
    assert (here["hosts"], again["hosts"]) == ([], [])
    assert there["hosts"][0] == host


def test_what_an_engine_holds_is_told(run: Run, index: Path, engine_address: str) -> None:
    run("index", "push", str(index), engine_address)
    here, there = (
        json.loads(run("index", "info", place, "--documents", "--json").stdout)
        for place in (str(index), engine_address)
    )
    own = {"index", "bytes", "generation", "dense_kind", "recall@10"}
    assert {n: v for n, v in there.items() if n not in own} == {
        n: v for n, v in here.items() if n not in own
    }
    assert there["index"] == engine_address
    assert there["bytes"] is None
    assert run("index", "info", engine_address).exit_code == 0


def test_an_index_that_changed_meanwhile_does_not_agree(
    run: Run, index: Path, documents: Path, engine_address: str
) -> None:
    run("index", "push", str(index), engine_address)
    (documents / "dogs.txt").write_text("§ 1 Licence. A dog licence costs 50 euros a year.\n")
    run("index", "update", str(index))
    differs = run("index", "verify", engine_address, "--against", str(index), "--json")
    failed(differs, "DataError", 5, engine_address)
    asked = ("ask", QUESTION, "--json", "--corpus", engine_address)
    assert "40 euros" in json.loads(run(*asked).stdout)["answer"]
    assert run("index", "push", str(index), engine_address).exit_code == 0
    assert "50 euros" in json.loads(run(*asked).stdout)["answer"]
    assert run("index", "verify", engine_address, "--against", str(index)).exit_code == 0


def test_settings_that_an_index_in_an_engine_was_not_made_with(
    run: Run, index: Path, engine_address: str
) -> None:
    run("index", "push", str(index), engine_address)
    other = ("--set", "index.windows=whole")
    asked = run("ask", QUESTION, "--corpus", engine_address, *other, "--json")
    failed(asked, "SettingsError", 2, engine_address, "index.windows=statements, not whole")
    assert "push an index there that is made with index.windows=whole" in asked.stdout


def test_an_address_by_settings_and_among_collections(
    run: Run, index: Path, engine_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("index", "push", str(index), engine_address)
    named = ("ask", QUESTION, "--json", "--collections", f"sample,dogs={engine_address}")
    assert json.loads(run(*named).stdout)["collections"] == ["dogs"]
    monkeypatch.setenv("LEXLOOP_CORPUS", engine_address)
    assert "40 euros" in json.loads(run("ask", QUESTION, "--json").stdout)["answer"]
    shown = run("show", "dogs.txt", "§ 2")
    assert "on a leash" in shown.stdout
    assert "40 euros" in run("chat", stdin=f"{QUESTION}\n").stdout


def test_a_collection_of_a_server(
    run: Run, index: Path, engine_address: str, tmp_path: Path
) -> None:
    run("index", "push", str(index), engine_address)
    with reading_room(tmp_path / "served", {"dogs": engine_address}) as (client, _):
        (told,) = client.get("/api/collections").json()
        assert (told["documents"], told["trouble"]) == (2, "")
        text = client.get("/api/collections/dogs/text", params={"document": "dogs.txt"}).json()
        assert "40 euros" in json.dumps(text)


def test_a_server_whose_engine_is_down(tmp_path: Path, refusing: FakeEngine) -> None:
    refusing.refuse(503, "master_not_discovered_exception", "no master")
    with reading_room(tmp_path / "served", {"dogs": f"{refusing.base}/dogs"}) as (client, _):
        assert told_of(client)["trouble"] == "It cannot be opened; the server's log says why."


def told_of(client: TestClient) -> Any:
    (told,) = client.get("/api/collections").json()
    return told
