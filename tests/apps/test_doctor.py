"""``lexloop doctor``: what it says of this machine, of documents and of models fit and unfit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply, Request, refusal, reply

Run = Callable[..., Any]
Checks = Callable[..., dict[str, dict[str, str]]]
PASSAGE = "An independent auditor is a person or group able to judge objectively [1]."


@pytest.fixture
def checks(in_json: Run) -> Checks:
    """``checks("--corpus", ".", code=4)`` -> what was found, by its name."""

    def read(*arguments: str | Path, code: int = 0) -> dict[str, dict[str, str]]:
        found = in_json("doctor", *arguments, code=code)
        assert found["exit_code"] == code
        return {one["name"]: one for one in found["checks"]}

    return read


@pytest.fixture
def asked(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options that name the scripted server's model, which is fit for its work."""
    monkeypatch.setenv("LEXLOOP_API_KEY", server.key or "")
    good = {"reasoning": "Good.", "score": 0.95}
    triad = ("context_relevance", "groundedness", "answer_relevance")
    server.play("evaluate", reply(**dict.fromkeys(triad, good)))
    server.play("rewrite", reply(standalone="Who is an independent auditor?", queries=["auditor"]))
    server.play("generate", Reply(PASSAGE))
    server.otherwise = tried
    return ["--model", "openai:scripted", "--base-url", server.base_url, "--deadline", "20"]


def tried(request: Request) -> Reply:
    if "JSON" in request.user:
        return reply(colour="green", letters=5)
    return Reply("One, two, three, four.", pieces=6)


def states(found: dict[str, dict[str, str]], *names: str) -> list[str]:
    return [found[name]["state"] for name in names]


MODEL = ("model", "answers", "streams", "form", "context window", "a question")


def test_without_a_model_nothing_fails(run: Run, checks: Checks, documents: Path) -> None:
    found = checks("--corpus", documents)
    assert found["documents"]["said"].startswith(f"2 files in {documents}")
    assert found["model"]["state"] == "missing"
    assert "lexloop-server" in found["extra server"]["said"]
    shown = run("doctor", "--corpus", str(documents)).stdout.splitlines()
    assert [line.split(": ")[0].split(maxsplit=1)[1] for line in shown] == [*found]


def test_an_index_and_the_sample_are_opened(checks: Checks, index: Path) -> None:
    assert checks("--corpus", index)["documents"]["said"].startswith("2 documents in ")
    assert checks()["documents"]["said"].startswith("3 documents in sample")


def test_documents_that_are_not_there(checks: Checks, tmp_path: Path) -> None:
    found = checks("--corpus", tmp_path / "nowhere", code=4)
    assert found["documents"]["state"] == "failed"
    assert found["documents"]["hint"]


def test_a_model_that_does_all(checks: Checks, asked: list[str]) -> None:
    found = checks(*asked)
    assert states(found, *MODEL) == [*["good"] * 4, "missing", "good"]
    assert "11 tokens in, 7 out" in found["answers"]["said"]
    assert "pieces" in found["streams"]["said"]
    assert found["a question"]["said"].startswith("3 calls, 33 tokens in, 21 out")


def test_one_piece_and_json_at_last(checks: Checks, asked: list[str], server: FakeOpenAI) -> None:
    hello, line = Reply("Hello."), Reply("One, two.", pieces=1)
    server.script(hello, line, Reply("Green, with five letters."))
    found = checks(*asked)
    assert states(found, "streams", "form") == ["missing", "good"]
    assert "asked again" in found["form"]["said"]


def test_plain_text_in_place_of_json(checks: Checks, asked: list[str], server: FakeOpenAI) -> None:
    for role in ("rewrite", "evaluate"):
        server.play(role, Reply("The question is about auditors."))
    server.otherwise = Reply("It is green.")
    found = checks(*asked, code=6)
    assert states(found, *MODEL[:4], "a question") == ["good"] * 3 + ["failed"] * 2
    assert "in the form asked for" in found["form"]["said"]
    assert found["form"]["hint"]
    assert "to word the searches: " in found["a question"]["said"]


HTML = Reply(body=b"<html><body>Sign in</body></html>", headers={"Content-Type": "text/html"})


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (HTML, "could not be read"),
        (Reply(hang=True), "deadline_s"),
        (refusal(404, "no such model"), "knows no model or address"),
        (refusal(500), "unavailable"),
        (Reply(""), "empty"),
    ],
    ids=["a page", "silence", "another model", "broken", "nothing"],
)
def test_what_a_host_does_is_told_and_nothing_more_is_tried(
    checks: Checks, asked: list[str], server: FakeOpenAI, failure: Reply, says: str
) -> None:
    server.otherwise = failure
    code = 7 if failure.hang else 6
    found = checks(*asked[:-1], "2", "--set", "model.attempts=1", code=code)
    assert [*found][-2:] == ["model", "answers"]
    assert found["answers"]["state"] == "failed"
    assert says in found["answers"]["said"]
    assert found["answers"]["hint"]


def test_a_wrong_key_and_none(
    checks: Checks, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_API_KEY", "sk-another-key-that-is-wrong")
    found = checks(*asked, code=6)
    assert "refused the key" in found["answers"]["said"]
    assert "sk-another" not in json.dumps(found)
    for name in ("LEXLOOP_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert checks("--model", "openai:scripted", code=6)["model"]["state"] == "failed"


@pytest.mark.parametrize("kind", ["empty folder", "GGUF file", "cut file", "no model named"])
def test_what_is_no_model_of_this_machine(checks: Checks, tmp_path: Path, kind: str) -> None:
    place, code = tmp_path / "model", 5
    if kind == "empty folder":
        place.mkdir()
    elif kind == "cut file":
        place.mkdir()
        (place / "config.json").write_text('{"model_type": "llama"}', "utf-8")
        (place / "model.safetensors").write_bytes(b"\xff" * 12)
    elif kind == "GGUF file":
        place = tmp_path / "model.gguf"
        place.write_bytes(b"GGUF\x03\x00\x00\x00")
    named = f"local:{place}"
    if kind == "no model named":
        named, code = "gpt", 2
    found = checks("--model", named, code=code)
    assert found["model"]["state"] == "failed"
    assert found["model"]["hint"]


def test_a_check_keeps_its_deadline(checks: Checks, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from lexloop.apps.cli import doctor

    never = threading.Event()
    monkeypatch.setattr(doctor, "_gpu", never.wait)
    monkeypatch.setattr(doctor, "_MACHINE_S", 0.2)
    found = checks(code=7)
    assert found["GPU"]["said"] == "no result within 0.2 s."
    never.set()
