"""Half of an index's shards are gone: what the others have is found, and told to be a part."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from indexes import ANYBODY, Letters, letter_tools, sources
from scripted_engine import Said, ScriptedEngine, passed_on_to

from lexloop.core.errors import EngineUnavailable, hearing
from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.store.engine.address import Storage
from lexloop.store.engine.moving import push_index
from lexloop.store.engine.store import open_engine
from lexloop.store.view import Collection
from lexloop.store.writer import write_index

LAWS, QUESTION = 12, "What is the fee of a dog licence?"


class OneShard:
    """Passes requests on; while ``lost``, one of two shards of chunks answers for both."""

    def __init__(self, address: str) -> None:
        self._pass_on = passed_on_to(address.partition("://")[2].partition("/")[0].split(",")[0])
        self.lost = False

    def __call__(self, method: str, path: str, body: str, kind: str) -> Said:
        if not (self.lost and path.endswith(".chunks/_msearch")):
            return self._pass_on(method, path, body, kind)
        lines = body.splitlines()
        lines[::2] = [json.dumps({**json.loads(line), "preference": "_shards:0"})
                      for line in lines[::2]]  # fmt: skip
        told = self._pass_on(method, path, "\n".join([*lines, ""]), kind)
        for answer in told.body["responses"]:
            answer["_shards"] = {"total": 2, "successful": 1, "skipped": 0, "failed": 1}
        return told


@pytest.fixture
def pushed(engine_address: str, tmp_path: Path) -> str:
    """An index of a dozen laws whose chunks lie in two shards."""
    (tmp_path / "laws").mkdir()
    for law in range(LAWS):
        of = "dog" if law % 3 == 0 else "cat"
        text = f"{of} act {law}\n\nSection 1. Fee. The fee of a {of} licence is {law} dollars.\n"
        (tmp_path / "laws" / f"{law}.txt").write_text(text)
    write_index(tmp_path / "index", sources(tmp_path / "laws"), letter_tools())
    push_index(tmp_path / "index", engine_address, Letters(), storage=Storage(shards=2))
    return engine_address


@pytest.fixture
def shards(pushed: str) -> OneShard:
    return OneShard(pushed)


@pytest.fixture
def collection(pushed: str, shards: OneShard) -> Iterator[Collection]:
    with ScriptedEngine() as between:
        between.script(shards)
        address = f"{pushed.partition('://')[0]}://{between.host}/{pushed.rpartition('/')[2]}"
        with closing(Collection(open_engine(address, Letters()))) as opened:
            yield opened


def test_an_answer_of_a_part_is_told_to_be_one(collection: Collection, shards: OneShard) -> None:
    view = collection.seen_by(ANYBODY)
    assert not answered(collection)["degraded"]
    shards.lost = True
    with hearing() as told:
        words, vectors = view.search([QUESTION, "boat"], 2 * LAWS)
    (loss,) = told
    assert loss.wanted.startswith("all 2 shards of ")
    assert loss.used == "1 of them"
    assert 0 < len(vectors[0]) < LAWS
    with pytest.raises(EngineUnavailable, match="from 1 of 2 shards"):
        list(view.every_chunk())
    assert "1 of them" in [loss["used"] for loss in answered(collection)["degraded"]]
    shards.lost = False
    with hearing() as told:
        whole, vectors = view.search([QUESTION, "boat"], 2 * LAWS)
    assert not told
    assert len(whole[0]) > len(words[0]) > 0
    assert len(vectors[0]) == LAWS
    assert not answered(collection)["degraded"]


def answered(collection: Collection) -> dict[str, Any]:
    """The state after a question."""
    parts = build_context(Settings(), collection, None)
    graph = build_graph(lambda _context, _snapshot: parts)
    return dict(graph.invoke({"question": QUESTION}))
