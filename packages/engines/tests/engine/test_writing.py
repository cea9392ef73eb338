"""What an engine does not take is sent again, or told; nothing is written twice."""

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from indexes import Letters, letter_tools, sources
from scripted_engine import Said, ScriptedEngine

from lexloop.core.errors import EngineError, EngineUnavailable
from lexloop.documents.document import Document
from lexloop.store.folder.store import open_folder
from lexloop.store.protocol import PreparedDocument
from lexloop.store.writer import write_index
from lexloop_engines.engine import writing
from lexloop_engines.engine.client import engine_at
from lexloop_engines.engine.generation import Generation
from lexloop_engines.engine.schema import key_of
from lexloop_engines.engine.writing import Writer

DOCUMENT = PreparedDocument("a.txt", "", Document("a.txt", "A", "An act."), [])
REJECTED = {"type": "es_rejected_execution_exception", "reason": "queue capacity"}


class Taking:
    """What takes documents, those first that it does not refuse.

    Args:
        refusals: How often each document is refused.
        status, error: With what.
    """

    def __init__(self, refusals: Counter[str], status: int, error: dict[str, str]) -> None:
        self.taken, self.sent = Counter[str](), list[int]()
        self._refusals, self._failed = refusals, {"status": status, "error": error}

    def __call__(self, method: str, path: str, body: str, kind: str) -> Said:
        if not path.startswith("/_bulk"):
            return Said(200, {"acknowledged": True})
        lines = body.splitlines()
        assert kind == "application/x-ndjson"
        assert all(json.loads(line) for line in lines)
        items = [self._take(json.loads(line)["index"]["_id"]) for line in lines[::2]]
        self.sent.append(len(items))
        return Said(200, {"items": items})

    def _take(self, name: str) -> dict[str, Any]:
        if self._refusals[name]:
            self._refusals[name] -= 1
            return {"index": self._failed}
        self.taken[name] += 1
        return {"index": {"status": 201}}


@pytest.fixture
def documents(tmp_path: Path) -> list[PreparedDocument]:
    (tmp_path / "laws").mkdir()
    for n in range(4):
        text = f"Act {n}\n\nSection 1. Fee. The fee is {n} dollars.\n\nSection 2. End. It ends.\n"
        (tmp_path / "laws" / f"{n}.txt").write_text(text)
    write_index(tmp_path / "index", sources(tmp_path / "laws"), letter_tools())
    with closing(open_folder(tmp_path / "index", Letters())) as contents:
        return list(map(contents.made_of, contents.layout.names))


@pytest.fixture
def writer(server: ScriptedEngine, impatient: None) -> Writer:
    return writer_at(server)


def writer_at(server: ScriptedEngine) -> Writer:
    return Writer(Generation(engine_at(server.address), "x"))


def send(writer: Writer, document: PreparedDocument) -> None:
    writer.add(0, document)
    writer.flush()


def write_all(writer: Writer, documents: list[PreparedDocument]) -> None:
    with writer:
        for place, document in enumerate(documents):
            writer.add(place, document)


def ids_of(server: ScriptedEngine) -> list[str]:
    """The documents in what was sent, each as often as it was."""
    sent = (body.splitlines()[::2] for _, path, body in server.asked if path.startswith("/_bulk"))
    return [json.loads(line)["index"]["_id"] for lines in sent for line in lines]


def test_what_a_busy_engine_did_not_take_is_sent_again(
    server: ScriptedEngine, writer: Writer, documents: list[PreparedDocument]
) -> None:
    server.script(Taking(Counter(), 201, {}))
    send(writer_at(server), documents[0])
    names = ids_of(server)
    taking = Taking(Counter(dict.fromkeys(names[::2], 2)), 429, REJECTED)
    server.script(taking)
    send(writer, documents[0])
    assert taking.taken == Counter(dict.fromkeys(names, 1))
    half = len(names[::2])
    assert taking.sent == [len(names), half, half]


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        (400, "document_parsing_exception", r"refused a request \(400\): document_parsing"),
        (429, "cluster_block_exception", "is read-only: cluster_block"),
    ],
)
def test_what_is_refused_for_good_is_told_at_once(
    server: ScriptedEngine, writer: Writer, status: int, reason: str, said: str
) -> None:
    taking = Taking(Counter({key_of(DOCUMENT.name): 1000}), status, {"type": reason})
    server.script(taking)
    with pytest.raises(EngineError, match=said) as told:
        send(writer, DOCUMENT)
    assert not isinstance(told.value, EngineUnavailable)
    assert len(taking.sent) == 1


def test_an_error_in_the_middle_is_told_at_the_end(
    server: ScriptedEngine,
    writer: Writer,
    documents: list[PreparedDocument],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writing, "_ACTIONS", 3)
    refused = Counter({key_of(documents[1].name): 1000})
    server.script(Taking(refused, 400, {"type": "document_parsing_exception"}))
    with pytest.raises(EngineError, match="document_parsing"):
        write_all(writer, documents)
