"""What the graph retrieves for gold questions before k of it is taken."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _pipeline import index_passages, read_rows
from typing_extensions import TypedDict

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.evaluation.case import Case, read_cases
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.tuning.tune import near_duplicates
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Context
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

DEPTH = 30
_SETTINGS = Settings(**{"plan.k": DEPTH, "loop.evaluator": "none"})
"""k is fixed at the candidates' number, and all else as the question's class has it."""


class Item(TypedDict):
    """One passage of a ranking."""

    id: str
    relevant: bool
    tokens: int
    score: float


class Ranking(TypedDict):
    """What one question brings up, best first.

    ``contexts`` holds for each reference context the passages that are relevant to it; ``group``
    is shared by questions that are no independent evidence.
    """

    question: str
    group: str
    relevant: int
    contexts: list[list[str]]
    two_classes: list[float]
    three_classes: list[float]
    items: list[Item]


def rankings_of_gold(gold: Path, docs: Path) -> Iterator[Ranking]:
    """For a gold file with reference contexts over a folder of .txt files."""
    questions = [question for question in read_cases(gold) if not question.out_of_scope]
    documents = [each for each in load_documents(docs)[0] if each.name.endswith(".txt")]
    collection = build_collection(documents, tools_for(_SETTINGS, load_minilm()))
    index = EvidenceIndex(collection.seen_by(Filters.of(_SETTINGS)).every_chunk())
    groups = near_duplicates(questions)
    ask = _Asker(collection)
    for number, question in enumerate(questions, 1):
        known = index.by_context(question.reference_context or "")
        ranking = ask(question, frozenset().union(*known), str(groups[question.id]))
        yield {**ranking, "contexts": [sorted(ids) for ids in known]}
        _show("asking", number, len(questions))


def rankings_of_passages(passages: Path, questions: Path) -> Iterator[Ranking]:
    """For questions with ``relevant_ids`` over passages that are each one chunk."""
    rows = [row for row in read_rows(passages) if row["text"].strip()]
    collection = index_passages(rows, _SETTINGS, load_minilm(), _show)
    ask, asked = _Asker(collection), read_rows(questions)
    for number, row in enumerate(asked, 1):
        relevant = frozenset(f"{name}#0" for name in row["relevant_ids"])
        gold = Case(id=row["id"], question=row["question"])
        # questions made of one passage are no independent evidence
        yield ask(gold, relevant, min(row["relevant_ids"]))
        _show("asking", number, len(asked))


class _Asker:
    def __init__(self, collection: Collection) -> None:
        self._parts: Context = build_context(_SETTINGS, collection, None)
        self._graph: Lexloop = build_graph(lambda *_: self._parts)
        self._count = collection.embedder.count_tokens

    def __call__(self, gold: Case, relevant: frozenset[str], group: str) -> Ranking:
        state = self._retrieved(gold)
        items: list[Item] = [
            {
                "id": passage["id"],
                "relevant": passage["id"] in relevant,
                "tokens": self._count(passage["text"]),
                "score": passage["score"],
            }
            for passage in state["passages"]
        ]
        return {
            "question": gold.question,
            "group": group,
            "relevant": len(relevant),
            "contexts": [],
            "two_classes": self._parts.classifier.probabilities(gold.question, 2),
            "three_classes": self._parts.classifier.probabilities(gold.question, 3),
            "items": items,
        }

    def _retrieved(self, gold: Case) -> dict[str, Any]:
        """The working state after rerank; the state machine is left there."""
        state: dict[str, Any] = {}
        for step in self._graph.stream({"messages": gold.messages}, stream_mode="updates"):
            for update in step.values():
                state.update(update or {})
            if "rerank" in step:
                break
        return state


def _show(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{stage} {done}/{total} ", end="", file=sys.stderr, flush=True)
