"""One question as it runs: the state that its steps leave, what is told of them, its record."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from itertools import starmap
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lexloop.apps.serve.choices import EMBEDDED_ALONE
from lexloop.apps.serve.people import Person
from lexloop.apps.shapes.record import answer_record, dated, of_collection, searched_for
from lexloop.core.types import Degradation

if TYPE_CHECKING:
    from lexloop.core.settings import Settings


class Run:
    """One question: what is asked of which collections, and the state that its steps leave.

    Args:
        person: Who asks.
        asked: The question.
        settings: Those that each collection is asked with.
        unready: Why others cannot be asked now, by their names.
        thread: The conversation that it goes on with; None for a new one.
        kept: Whether the answer is kept in it.
    """

    def __init__(
        self,
        person: Person,
        asked: str,
        settings: "dict[str, Settings]",
        *,
        unready: Mapping[str, str],
        thread: str | None,
        kept: bool,
    ) -> None:
        self.person, self.asked, self.settings, self.kept = person, asked, settings, kept
        self._unready = unready
        self.id, self.thread, self.begins = _new_id(), thread or _new_id(), thread is None
        self.state: dict[str, Any] = {}
        self.told: list[dict[str, Any]] = []
        self._began = time.monotonic()
        self._attempts: dict[str, int] = {}

    @property
    def first(self) -> "Settings":
        """The settings for the first collection, for what is the same for all."""
        return next(iter(self.settings.values()))

    @property
    def by_a_model(self) -> bool:
        """True where a model has a part in the answer that the embedded could take."""
        chosen = self.first.flat()
        asked = any(chosen[name] not in (one, "none") for name, one in EMBEDDED_ALONE.items())
        return asked and self.first.model.name is not None and self.first.retrieval.source != "none"

    def stepped(
        self, place: Sequence[str], node: str, update: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Take what a node wrote.

        Args:
            place: The namespace of the graph within which the node ran; empty for the outermost.
            node: Its name.
            update: The keys that it wrote.

        Returns:
            What is told of the step; None where that is nothing.
        """
        if not place:
            self.state.update({name: one for name, one in update.items() if name != "found"})
        if update.get("found"):
            return None  # its steps were told
        collection = self._collection(place)
        attempt = self._attempts.get(collection, 1)
        if node == "engineer_prompt":
            self._attempts[collection] = attempt + 1
        step = {
            "collection": collection,
            "node": node,
            "attempt": attempt,
            "seconds": round(time.monotonic() - self._began, 4),
            **_told_of(node, update),
        }
        self.told.append(step)
        return step

    def token(self, place: Sequence[str], event: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is told of a piece of the answer."""
        return {
            "collection": self._collection(place),
            "text": str(event.get("token", "")),
            "restart": bool(event.get("restart")),
        }

    def _collection(self, place: Sequence[str]) -> str:
        if len(self.settings) == 1:
            return next(iter(self.settings))
        from lexloop.graph.agent import collection_of

        return collection_of(place)

    def record(self, hosts: Sequence[str]) -> dict[str, Any]:
        """Return the answer's record."""
        record = answer_record(self.state, self.first, hosts, candidates=True)
        record["degraded"] = [*record["degraded"], *starmap(_left_out, self._unready.items())]
        collections: list[str] = self.state.get("collections", list(self.settings))
        if len(self.settings) == 1:
            record = of_collection(record, *self.settings)
        made = dated(
            record, collections, self.first.access.as_of, self.thread if self.kept else None
        )
        told = {"corpus": ", ".join(collections), "model": shown(self.first.model.name)}
        return {**made, **told, "steps": self.told}


def shown(model: str | None) -> str | None:
    """Return a model's name as people are told it: of a folder on this machine the last part."""
    if model is None:
        return None
    from lexloop.models.provider import LOCAL

    provider, _, name = model.partition(":")
    return f"{provider}:{PurePath(name).name}" if provider == LOCAL else model


def _left_out(collection: str, reason: str) -> Degradation:
    """Return what is told of a collection that could not be asked."""
    return {
        "node": "index",
        "wanted": collection,
        "used": "nothing of it",
        "reason": reason,
        "collection": collection,
    }


def _score(update: Mapping[str, Any]) -> dict[str, Any]:
    evaluation = update["attempts"][-1]["evaluation"]
    score = evaluation.get("answers", evaluation["answer_relevance"])
    return {"score": score, "passed": evaluation["passed"], "reasons": evaluation["reasons"]}


_TOLD: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "route": lambda update: {"collections": list(update["ways"])},
    "classify": lambda update: {"class": update["complexity"], "plan": update["plan"]},
    "rewrite": lambda update: {**searched_for(update), "read_as": update["read_as"]},
    "hybrid_retrieve": lambda update: {"candidates": len(update["candidates"])},
    "kg_retrieve": lambda update: {
        "candidates": len(update["graph_candidates"]),
        "triplets": len(update["triplets"]),
    },
    "rerank": lambda update: {"passages": len(update["passages"])},
    "evaluate": _score,
    "engineer_prompt": lambda update: {
        name: update["advice"][name] for name in ("strategy", "guidance", "question")
    },
}
"""What is told of what each node wrote."""


def _told_of(node: str, update: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reader may like to know of a node that wrote ``update``."""
    told = _TOLD.get(node)
    try:
        return told(update) if told else {}
    except (KeyError, IndexError, TypeError):
        return {}  # the node ended the question early, and wrote less than it does


def _new_id() -> str:
    return uuid.uuid4().hex
