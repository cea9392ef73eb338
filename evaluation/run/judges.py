"""What judges every row alike, with what they have already judged of the question at hand."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from lexloop.core.filters import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Passage
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.view import View
from lexloop.evaluation.asking import Asker, asker_for
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.run.embedding import Embed, OneByOne
from lexloop.models.background import finished
from lexloop.models.embedders import load_shipped
from lexloop.models.embedding import Embedder
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.embedded import EmbeddedJudge
from lexloop.nodes.evaluate.support import ClaimSupport

T = TypeVar("T")


class Once:
    """Keeps what was found out about one question; another question clears it."""

    def __init__(self) -> None:
        self._question: str | None = None
        self._kept: dict[Hashable, object] = {}

    def about(self, question: str) -> None:
        """Name the question that comes next, by its id."""
        if question != self._question:
            self._question, self._kept = question, {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept under a key; made when it is not there."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(T, self._kept[key])


@dataclass(frozen=True)
class Kit:
    """The judges of what one asker may see.

    Args:
        view: The documents that were asked.
        embed: Unit vectors by the embedded model, whatever answers.
        support: Judges claims.
        correctness: Judges answers against references.
        triad: From question, passages and answer to LQ-RAG's three scores.
        asker: The model that judges, where there is one.
        once: What is already known of the question.
    """

    view: View
    embed: Embed
    support: ClaimSupport
    correctness: CorrectnessJudge
    triad: Callable[[str, list[Passage], str], Judgement]
    asker: Asker | None
    once: Once


class Judges:
    """Loaded once in a process.

    Args:
        connection: Where the model that judges is reached.
        judge: Its settings; None without one.

    Raises:
        LexloopError: Their weights cannot be read, or the model that judges cannot be used.
    """

    def __init__(self, connection: Connection, judge: dict[str, Any] | None) -> None:
        self._alone: dict[str, OneByOne] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._once = Once()
        self._embed: Embed = self._one_by_one(load_shipped()).embed
        self._support = ClaimSupport(self._embed)
        self._correctness = CorrectnessJudge(self._embed)
        self._asker = asker_for(Settings(**judge), connection) if judge else None

    def over(self, collection: Collection, access: Filters) -> Kit:
        """The judges for answers from what an access admits of a collection."""
        # texts are embedded one at a time: what is judged must not depend on its batch
        judging = collection.embedded_by(self._one_by_one(collection.embedder))
        judge = EmbeddedJudge(judging.seen_by(access))

        def triad(question: str, passages: list[Passage], answer: str) -> Judgement:
            return finished(judge.judge(question, passages, answer))

        return Kit(
            collection.seen_by(access),
            self._embed,
            self._support,
            self._correctness,
            triad,
            self._asker,
            self._once,
        )

    def _one_by_one(self, embedder: Embedder) -> OneByOne:
        return self._alone.setdefault(embedder.name, OneByOne(embedder))

    def context_tokens(self, passages: list[Passage]) -> int:
        """The tokens of the passages as the embedded model counts them, whatever answers."""
        embedder = load_shipped()
        total = 0
        for passage in passages:
            key = passage["id"], passage["text"]
            if key not in self._counts:
                self._counts[key] = embedder.count_tokens(passage["text"])
            total += self._counts[key]
        return total
