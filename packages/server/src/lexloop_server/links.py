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
"""Fields of a shared answer, without its settings, searches and degradations."""
_RESTS_ON = ("citations", "near", "passages", "triplets", "candidates", "graph_candidates")


class Reader:
    """Reads another person's conversation with the rights of the reader.

    Args:
        person: The reader.
        thread: The conversation.
        collections: The collections, each with the documents that the reader sees.
    """

    def __init__(self, person: Person, thread: Thread, collections: Collections) -> None:
        self._person, self._thread, self._collections = person, thread, collections
        self._seen: dict[str, tuple[str, frozenset[str]] | None] = {}
        self.knows_all = set(thread.tags) <= set(person.tags)
        """Whether they have every access tag that the answers were given with."""

    def readable(self, turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the answers that rest only on documents that the reader sees."""
        return [self._told(turn) for turn in turns if self._may_read(turn)]

    def _may_read(self, turn: Mapping[str, Any]) -> bool:
        collections: Sequence[str] = turn["collections"]
        sources = chain.from_iterable(turn.get(part) or () for part in _RESTS_ON)
        pairs = {
            (source.get("collection", collections[0] if collections else ""), source["document"])
            for source in sources
        }
        visible = {
            name: self._documents(name) for name in {*collections, *(name for name, _ in pairs)}
        }
        documents = {*turn.get("inside", ()), *turn.get("only", ())}
        all_visible = frozenset[str]().union(*(pair[1] for pair in visible.values() if pair))
        return (
            all(visible.values())
            and documents <= all_visible
            and all(
                (own := visible[name]) is not None and document in own[1]
                for name, document in pairs
            )
        )

    def _documents(self, name: str) -> tuple[str, frozenset[str]] | None:
        """Return the reader's name for a collection, and the documents in it that they see."""
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
        """Return the shared form of an answer, with the reader's names for collections."""
        shared = {name: turn[name] for name in _SHOWN if name in turn}
        for part in ("citations", "near"):
            shared[part] = [
                {**source, "collection": self._called(source["collection"])}
                if "collection" in source
                else source
                for source in shared[part]
            ]
        if not self.knows_all:
            # they may speak of documents that are closed to the reader
            verdict = {**shared["verdict"], "words": [], "checked": []}
            shared |= {"warning": "", "reasons": [], "verdict": verdict}
        return {**shared, "collections": [self._called(name) for name in turn["collections"]]}

    def _called(self, name: str) -> str:
        visible = self._documents(name)
        return visible[0] if visible else name
