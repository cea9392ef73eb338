"""Conversations that are shared by a link: what of them somebody else may read."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from lexloop.apps.threads import Thread
from lexloop.core.errors import LexloopError
from lexloop_server.collections import Collections
from lexloop_server.people import Person

_SHOWN = (
    *("id", "at", "as_of", "question", "answer", "abstained", "finding", "near", "answers"),
    *("passed", "warning", "read_as", "citations", "citations_verified", "scores", "reasons"),
    *("verdict", "inside", "only", "passage"),
)
"""What is told of an answer: nothing of its settings, its searches, or what it did without."""
_RESTS_ON = ("citations", "near", "passages", "triplets", "candidates", "graph_candidates")


class Reader:
    """Reads another's conversation as somebody may.

    Args:
        person: Who reads.
        thread: What they read.
        collections: Say which documents they see.
    """

    def __init__(self, person: Person, thread: Thread, collections: Collections) -> None:
        self._person, self._thread, self._collections = person, thread, collections
        self._seen: dict[str, tuple[str, frozenset[str]] | None] = {}
        self.knows_all = set(thread.tags) <= set(person.tags)
        """Whether they have every access tag that the answers were given with."""

    def readable(self, turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers that rest only on documents that the reader sees."""
        return [self._told(one) for one in turns if self._may_read(one)]

    def _may_read(self, turn: Mapping[str, Any]) -> bool:
        asked: Sequence[str] = turn["collections"]
        sources = chain.from_iterable(turn.get(part) or () for part in _RESTS_ON)
        pairs = {
            (one.get("collection", asked[0] if asked else ""), one["document"]) for one in sources
        }
        held = {name: self._documents(name) for name in {*asked, *(name for name, _ in pairs)}}
        named = {*turn.get("inside", ()), *turn.get("only", ())}
        every = frozenset[str]().union(*(one[1] for one in held.values() if one))
        return (
            all(held.values())
            and named <= every
            and all((own := held[name]) is not None and one in own[1] for name, one in pairs)
        )

    def _documents(self, name: str) -> tuple[str, frozenset[str]] | None:
        """Return what the reader calls a collection, and its documents that they see."""
        if name not in self._seen:
            self._seen[name] = self._opened(name)
        return self._seen[name]

    def _opened(self, name: str) -> tuple[str, frozenset[str]] | None:
        called = self._collections.called(self._person, self._thread.person, name)
        if called is None:
            return None
        try:
            return called, frozenset(self._collections.view(self._person, called).documents)
        except LexloopError:
            return None  # it is not theirs to see, or cannot be read now

    def _told(self, turn: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is told of an answer, its collections as the reader calls them."""
        told = {name: turn[name] for name in _SHOWN if name in turn}
        for part in ("citations", "near"):
            told[part] = [
                {**one, "collection": self._called(one["collection"])}
                if "collection" in one
                else one
                for one in told[part]
            ]
        if not self.knows_all:
            # they may speak of documents that are closed to the reader
            verdict = {**told["verdict"], "words": [], "checked": []}
            told |= {"warning": "", "reasons": [], "verdict": verdict}
        return {**told, "collections": [self._called(name) for name in turn["collections"]]}

    def _called(self, name: str) -> str:
        held = self._documents(name)
        return held[0] if held else name
