"""Right and wrong pairs of questions with answers and passages, with the signs the judge reads."""

import itertools
from collections.abc import Collection as Collected
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Citation, Passage
from lexloop.corpus.index.builder import build_collection
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.view import View
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import tools_for
from lexloop.evaluation.case import Case, read_cases
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.graph.build import build_graph
from lexloop.graph.contexts import build_context
from lexloop.models.embedders import load_shipped
from lexloop.nodes.evaluate.embedded import answer_features, context_features, evidence_in
from lexloop.nodes.evaluate.support import ClaimSupport, claims_of
from lexloop.nodes.relevance import parse_question

Part = Literal["answer", "context", "groundedness"]
_SETTINGS = Settings(**{"loop.max_retries": 0, "loop.evaluator": "none"})
_SAME = 0.9  # questions this much alike may well have the same answer
_SEED = 7


@dataclass(frozen=True)
class Row:
    """A pair of things that belong together or do not.

    Args:
        part: What is judged.
        kind: How the pair was made.
        right: Whether the two belong together.
        question: Of which it was made; its rows never cross a fold.
        signs: Those of the answer or the passages; of groundedness the score alone.
    """

    part: Part
    kind: str
    right: bool
    question: str
    signs: tuple[float, ...]


@dataclass(frozen=True)
class _Run:
    """What the graph made of a question whose evidence lies in the chunks ``held``."""

    gold: Case
    held: frozenset[str]
    standalone: str
    passages: list[Passage]
    answer: str
    cited: frozenset[str]

    @property
    def reference(self) -> str:
        return self.gold.reference_answer or ""

    def holds(self, evidence: frozenset[str]) -> bool:
        """Whether the passages have some of the evidence."""
        return any(passage["id"] in evidence for passage in self.passages)


def read_rows(gold: Path, docs: Path) -> list[Row]:
    """The pairs of one gold file over one folder of documents.

    Raises:
        InputError: The gold file is malformed, or no chunk holds the evidence of a question.
        CorpusError: The folder holds no documents.
    """
    documents = [document for document in load_documents(docs)[0] if document.name[-4:] == ".txt"]
    collection = build_collection(documents, tools_for(_SETTINGS, load_shipped()))
    view = collection.seen_by(Filters.of(_SETTINGS))
    index = EvidenceIndex(view.every_chunk())
    runs = [
        _ask(asked, collection, () if asked.out_of_scope else index.to_take_out(asked))
        for asked in read_cases(gold)
    ]
    inside = [run for run in runs if not run.gold.out_of_scope and run.reference]
    reader = _Reader(view)
    rows: list[Row] = []
    for run, others in zip(inside, _others(inside, collection), strict=True):
        rows += reader.of(run, others)
    outside = [run for run in runs if run.gold.out_of_scope]
    return rows + [row for run in outside for row in reader.context(run, run, "no scope", False)]


class _Reader:
    """Makes the pairs of a question and reads their signs."""

    def __init__(self, view: View) -> None:
        self._whole = view
        self._support = ClaimSupport(view.embed)

    def of(self, run: _Run, others: dict[str, _Run]) -> Iterator[Row]:
        """All pairs of one question that its documents answer.

        Its reference answers it, and so does what the graph quotes from its evidence; answers to
        other questions do not, nor does what the graph says once the evidence is gone. Passages
        bear on it when its evidence is among them, and do not when they were found without it or
        for another question; its reference is grounded in the former alone.
        """
        yield from self._answer(run, run.reference, "reference", True)
        if run.cited & run.held:
            yield from self._answer(run, run.answer, "quoted", True)
        if run.holds(run.held):
            yield from self.context(run, run, "evidence", True)
            yield from self._grounded(run, run, run.reference, "evidence", True)
        for kind, other in others.items():
            yield from self._answer(run, other.reference, kind, False)
            if not other.holds(run.held):
                yield from self.context(run, other, kind, False)
            if not run.holds(other.held):
                yield from self._grounded(run, run, other.reference, kind, False)
        bereft = _ask(run.gold, self._whole.without(run.held), run.held)
        yield from self.context(run, bereft, "no evidence", False)
        yield from self._grounded(run, bereft, run.reference, "no evidence", False)
        if bereft.cited:
            yield from self._answer(run, bereft.answer, "no evidence", False)

    def _answer(self, run: _Run, answer: str, kind: str, right: bool) -> Iterator[Row]:
        asked = parse_question(run.standalone, self._whole)
        evidence = evidence_in(run.passages, self._whole)
        signs = answer_features(asked, answer, evidence, self._whole)
        if signs:
            yield Row("answer", kind, right, run.gold.question, astuple(signs))

    def context(self, run: _Run, found: _Run, kind: str, right: bool) -> Iterator[Row]:
        """The question with the passages found in another run."""
        asked = parse_question(run.standalone, self._whole)
        signs = context_features(asked, evidence_in(found.passages, self._whole))
        if signs:
            yield Row("context", kind, right, run.gold.question, astuple(signs))

    def _grounded(
        self, run: _Run, found: _Run, answer: str, kind: str, right: bool
    ) -> Iterator[Row]:
        evidence = evidence_in(found.passages, self._whole)
        if support := self._support.of(claims_of(answer), evidence):
            mean = float(np.mean([one.probability for one in support]))
            yield Row("groundedness", kind, right, run.gold.question, (mean,))


def _ask(question: Case, collection: Collection, held: Collected[str]) -> _Run:
    parts = build_context(_SETTINGS, collection, None)
    roles = {"user": HumanMessage, "assistant": AIMessage}
    messages: list[AnyMessage] = [
        roles[turn.role](content=turn.content) for turn in question.conversation_history
    ]
    found: dict[str, Any] = build_graph(lambda *_: parts).invoke(
        {"messages": [*messages, HumanMessage(content=question.question)]}
    )
    (attempt,) = found["attempts"]
    return _Run(
        gold=question,
        held=frozenset(held),
        standalone=attempt["question"],
        passages=attempt["passages"],
        answer=attempt["answer"],
        cited=cited_in(attempt["passages"], attempt["citations"]),
    )


def cited_in(passages: Sequence[Passage], citations: Sequence[Citation]) -> frozenset[str]:
    """The ids of the passages that hold words of the citations."""
    return frozenset(
        passage["id"]
        for passage in passages
        for citation in citations
        if passage["document"] == citation["document"]
        and max(passage["start"], citation["start"]) < min(passage["end"], citation["end"])
    )


def _others(runs: Sequence[_Run], collection: Collection) -> list[dict[str, _Run]]:
    """For each question the one most like it that other evidence answers, and any such."""
    vectors = collection.embedder.embed([run.standalone for run in runs])
    alike = vectors @ vectors.T
    for i, j in itertools.product(range(len(runs)), repeat=2):
        if runs[i].held & runs[j].held or alike[i, j] > _SAME:
            alike[i, j] = -1.0
    dice = np.random.default_rng(_SEED)
    found = []
    for row in alike:
        apart = np.flatnonzero(row > -1.0)
        picked = (
            {"most alike": int(np.argmax(row)), "any other": int(dice.choice(apart))}
            if len(apart)
            else {}
        )
        found.append({kind: runs[j] for kind, j in picked.items()})
    return found
