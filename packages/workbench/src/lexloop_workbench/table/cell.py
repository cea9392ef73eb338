"""A cell: one question asked of one document, cut to a short answer with its source.

Whether a single document says something at all is harder to decide than for a collection: every
document has something near any question. So the loop's probability that its answer answers is
combined with how near the shown statement is to the question (or to a clause of its checklist that
would answer it), and with the reader's score. Both also choose the statement among those that the
loop cites and the nearest ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lexloop.core.errors import LexloopError
from lexloop.core.folding import folded
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk, Citation, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.text.languages import NOT_ANSWERED, mismatch
from lexloop.graph.build import Lexloop, build_graph
from lexloop.models.embedding import Vectors
from lexloop.nodes.context import Context
from lexloop.nodes.generate.quoting import cite
from lexloop.nodes.markers import without_markers
from lexloop.nodes.reading import Stated, reads
from lexloop.nodes.weights import load_weights
from lexloop.store.view import Collection, View
from lexloop_workbench.table.checklist import Question
from lexloop_workbench.table.record import Cell, State

if TYPE_CHECKING:
    from lexloop.graph.resources import Resources


class Marks(NamedTuple):
    """The least probability of a cell that says something, and of one that says it as such."""

    said: float
    stated: float


MARKS = {"asked": Marks(0.24, 0.5), "worded": Marks(0.28, 0.5)}
"""Thresholds for questions alone and for those with model clauses. Below the lower one, at
which `training/cell.py` tells best which cells are right, cells are not stated. Above the upper
one, a cell is more likely right than wrong."""
_NEAREST, _MOST_CITED = 2, 5
_READ = 0.12
"""The weight of the reader's log-odds, next to a cosine and a MaxSim, in choosing a statement."""
_LEAST_WORDS = 5
"""The least words of a statement that is shown though the loop does not cite it."""
_SHORT = 320
_WEIGHTS = "judges/cell.json"


@dataclass(frozen=True)
class CellFeatures:
    """The features of a statement that answers; about in [0, 1]."""

    answers: float  # the loop's probability that its answer answers; 0 of an abstention
    abstained: float  # whether the loop gave no answer
    nearest: float  # the cosine of the statement with the question, or with a model clause
    tokens: float  # the MaxSim of its chunk with it; the same cosine without token vectors
    read: float  # a fifth of the reader's log-odds that it answers


def probability_stated(features: CellFeatures, worded: bool) -> float:
    """Return how likely a document's statement is to answer, in [0, 1].

    Args:
        features: Read off the document.
        worded: Whether the question has model clauses, which a statement comes nearer to.
    """
    weights = load_weights(_WEIGHTS, _part(worded), CellFeatures)
    return weights.probability(astuple(features))


def _part(worded: bool) -> str:
    return "worded" if worded else "asked"


class TableAsker:
    """Asks questions of single documents of a collection.

    Args:
        resources: Open the documents and the models.
        settings: Those that questions are answered with, the corpus among them.

    Raises:
        LexloopError: The documents or a model cannot be used.
    """

    def __init__(self, resources: "Resources", settings: Settings) -> None:
        self.settings = settings
        self._resources = resources
        self._collection: Collection = resources.collection(settings)[0]
        self.view: View = self._collection.seen_by(Filters.of(settings))
        self._graph = build_graph(_as_brought)
        self._whole = resources.over(settings, self._collection)

    @property
    def documents(self) -> dict[str, str]:
        """The documents in order, each with the fingerprint of the file that it is of."""
        sources = {name: self.view.access.source_of(name) for name in self.view.documents}
        return {name: source[1] if source else "" for name, source in sources.items()}

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the documents."""
        return self.view.titles

    def refuses(self, question: str) -> bool:
        """Return whether a question is refused for all documents: it is an order, or obscene."""
        return self._whole.guard.refuses(question, question, ())

    def of(self, document: str) -> "DocumentAsker":
        """Return what asks a document.

        Raises:
            NotFoundError: It is not there any more.
        """
        alone = self.settings.changed(**{"access.only": (document,)})
        view = self._collection.seen_by(Filters.of(alone))
        context = self._resources.over(alone, self._collection)
        return DocumentAsker(document, view, context, self._graph)


def _as_brought(context: Any, _: str | None) -> Context:
    """Return the context of a run, which is that of its only document."""
    assert isinstance(context, Context)
    return context


@dataclass(frozen=True)
class Found:
    """The result of a question in a document, before it is rated.

    ``cited`` are the loop's own citations, ``quoted`` the statements that may answer, most likely
    first. The features describe the first one.
    """

    features: CellFeatures
    answer: str
    cited: list[Citation]
    quoted: list[Citation]
    by_model: bool
    passed: bool


class DocumentAsker:
    """Asks one document, reading what its questions share only once.

    Args:
        document: The name of the document.
        view: A view of this document only.
        context: The context over that view.
        graph: Answers questions in the contexts of its runs.
    """

    def __init__(self, document: str, view: View, context: Context, graph: Lexloop) -> None:
        self._document, self._view, self._context, self._graph = document, view, context, graph

    @cached_property
    def _statements(self) -> tuple[list[tuple[Chunk, Statement]], Vectors]:
        """Its statements without points of their own, each with its chunk, and their vectors."""
        pairs: list[tuple[Chunk, Statement]] = []
        rows: list[Vectors] = []
        for chunk in self._view.every_chunk():
            statements_read, vectors = self._view.statements(chunk["id"])
            for statement, vector in zip(statements_read, vectors, strict=True):
                if not statement.points:
                    pairs.append((chunk, statement))
                    rows.append(vector)
        return pairs, np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    def ask(self, question: Question) -> Cell:
        """Return the cell of a question. Its state tells of errors."""
        cell = Cell(document=self._document, question=question.id, state="failed")
        if why := self._untranslated(question.question):
            return cell.model_copy(update={"state": "refused", "reason": why})
        try:
            result = self.found(question)
        except LexloopError as error:
            return cell.model_copy(update={"reason": str(error)})
        return _decided(cell, result, question)

    def _untranslated(self, question: str) -> str:
        """Return why a question is not asked whose language the document does not have."""
        language = self._view.language.other(question)
        if not language or self._context.rewriter.translates:
            return ""
        return f"{mismatch(language, self._view.language.names)} {NOT_ANSWERED}"

    def found(self, question: Question) -> Found:
        """Return the result of a question.

        Raises:
            LexloopError: The question cannot be asked.
        """
        brought: Any = self._context  # which `_as_brought` hands to the nodes
        state = self._graph.invoke({"question": question.question}, context=brought)
        abstained, answers = state["abstained"], state["evaluation"].get("answers")
        own = [
            citation for citation in state["citations"] if citation["document"] == self._document
        ]
        cited = own if state["evaluation"]["citations_verified"] else []
        quoted, (nearest, tokens, read) = self._quoted(question, cited)
        return Found(
            features=CellFeatures(
                answers=0.0 if abstained else 1.0 if answers is None else answers,
                abstained=float(abstained),
                nearest=nearest,
                tokens=tokens,
                read=read,
            ),
            answer=without_markers(state["answer"]) if not abstained else "",
            cited=cited,
            quoted=quoted,
            by_model=bool(self._context.generator.instructions) and not state["degraded"],
            passed=state["evaluation"]["passed"],
        )

    def _quoted(
        self, question: Question, cited: Sequence[Citation]
    ) -> tuple[list[Citation], tuple[float, float, float]]:
        """Return the statements that may answer, the likeliest first, and three of its features."""
        pairs, vectors = self._statements
        if not pairs:
            return [*cited], (0.0, 0.0, 0.0)
        near, tokens = self._near(vectors, question.like or (question.question,))
        is_cited = np.array(
            [any(_meet(citation, statement) for citation in cited) for _, statement in pairs]
        )
        long = np.array([len(statement.own.split()) >= _LEAST_WORDS for _, statement in pairs])
        close = np.where(is_cited | long, near + tokens, -1.0)
        stated = [Stated(self._document, statement, statement.text) for _, statement in pairs]
        # the loop's citations are read first
        scores = (close + is_cited).astype(np.float32)
        read = reads(question.question, stated, scores, self._view).answers
        best = np.argsort(-(close + _READ * read), kind="stable").tolist()
        quoted = [self._cited(*pairs[at]) for at in best[:_MOST_CITED]]
        top = best[0]
        return quoted, (max(0.0, float(near[top])), float(tokens[top]), float(read[top]) / 5)

    def _near(self, vectors: Vectors, like: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Return the best cosine of each statement with some texts, and its chunk's best MaxSim."""
        texts = [folded(text) for text in like]
        cosines: Vectors = (vectors @ self._view.embed(texts).T).max(axis=1)
        ids = [chunk["id"] for chunk, _ in self._statements[0]]
        chunks = {id: at for at, id in enumerate(dict.fromkeys(ids))}
        lists = [self._view.closeness(text, [*chunks]) for text in texts]
        close = [values.mean(axis=0) for values in lists if values is not None]
        if not close:
            return cosines, cosines
        return cosines, np.max(close, axis=0)[[chunks[id] for id in ids]]

    def _cited(self, chunk: Chunk, statement: Statement) -> Citation:
        passage = Passage(**chunk, score=0.0, signals={}, n=1)
        return self._view.located(cite(passage, [statement], 1))


def _decided(cell: Cell, result: Found, question: Question) -> Cell:
    """Return the cell for a result."""
    if result.by_model:
        # a model's answer stands as it is; its judge has passed it or not
        state: State = (
            "not stated" if not result.cited else "stated" if result.passed else "in part"
        )
        probability = None if result.features.abstained else result.features.answers
        cited = result.cited if result.cited else result.quoted[:_NEAREST]
        answer = result.answer
    else:
        probability = probability_stated(result.features, bool(question.like))
        least = MARKS[_part(bool(question.like))]
        state = "stated" if probability >= least.stated else "in part"
        state = state if probability >= least.said else "not stated"
        cited = [*_apart(result.quoted)]
        answer = _statement(cited[0]) if cited else ""
        state = state if cited else "not stated"
    numbered: list[Citation] = [{**citation, "n": n} for n, citation in enumerate(cited, 1)]
    there = state != "not stated"
    quoted = " ".join(map(_statement, numbered[:1])) if there else ""
    return cell.model_copy(
        update={
            "state": state,
            "answer": _short(answer) if there else "",
            "probability": None if probability is None else round(probability, 4),
            # of what may be said in part a person has to judge
            "deviation": "" if state == "in part" else question.deviation(there, quoted),
            "citations": numbered if there else numbered[:_NEAREST],
        }
    )


def _apart(citations: Sequence[Citation]) -> Iterator[Citation]:
    """Yield citations that do not overlap an earlier one."""
    earlier: list[Citation] = []
    for citation in citations:
        if not any(
            other["start"] < citation["end"] and citation["start"] < other["end"]
            for other in earlier
        ):
            earlier.append(citation)
            yield citation


def _meet(citation: Citation, statement: Statement) -> bool:
    """Return whether a quote holds words of a statement."""
    return citation["start"] < statement.end and statement.start < citation["end"]


def _statement(citation: Citation) -> str:
    """Return a quote behind the words that it completes."""
    return " ".join(f"{citation.get('lead', '')} {citation['quote']}".split())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1].rsplit(' ', 1)[0]} …"
