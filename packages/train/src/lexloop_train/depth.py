"""The other label: how much context a question needed in the index at hand.

A question's depth is how many passages it takes, of the first 20, until each piece of its evidence
has been met; its label is the class of the plan whose k is the first to reach it. The classifier is
the embedded one, learnt from a user's own questions; with ``classifier_model`` set to its folder it
sets k.
"""

from collections.abc import Collection, Sequence

import numpy as np

from lexloop.core.errors import InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.reading.workers import Progress, silent
from lexloop.nodes.classify import class_plans as plans
from lexloop.store.view import Collection as Index
from lexloop_eval.case import Case
from lexloop_eval.evidence import EvidenceIndex, contexts_of
from lexloop_eval.graph_runs import retriever
from lexloop_eval.score import Unresolved
from lexloop_train.classifier import (
    LabelledQuestions,
    Labels,
    Text,
    ours,
    train,
)
from lexloop_train.classifier_report import ClassifierScores, Task, held_out, table_row

MOST = 20
TEXT: tuple[Text, ...] = ("clean",)
_TASK: Task = (3, "clean")


def labelled(
    questions: Sequence[Case],
    index: Index,
    settings: Settings,
    report: Progress = silent,
) -> LabelledQuestions:
    """Return the questions whose evidence is known, each with the class of its depth.

    Raises:
        InputError: Of no question it is known what answers it.
    """
    view = index.seen_by(Filters.of(settings))
    evidence = EvidenceIndex(view.every_chunk())
    retrieve = retriever(index, settings, MOST)
    texts, depths = [], []
    for number, case in enumerate(questions, start=1):
        if needed := pieces(evidence, case):
            passages = retrieve(case)
            texts.append(case.question)
            depths.append(depth([passage["id"] for passage in passages], needed))
        report("questions", number, len(questions))
    if not texts:
        raise InputError(
            f"It is not known what answers any of the {len(questions)} questions.",
            "Give gold questions with evidence, contexts or documents that the corpus holds.",
        )
    return LabelledQuestions(texts, texts, classes_of(depths, settings))


def pieces(evidence: EvidenceIndex, asked: Case) -> list[Collection[str]]:
    """Return for each piece of a question's evidence the chunks that hold it."""
    parts: list[dict[str, object]] = [{"evidence": (span,)} for span in asked.evidence or ()]
    parts = parts or [
        {"reference_context": part} for part in contexts_of(asked.reference_context or "")
    ]
    parts = parts or [{"documents": (name,)} for name in asked.documents or ()]
    chunks_of = [evidence.relevant(asked.model_copy(update=change)).chunks for change in parts]
    return [chunks for chunks in chunks_of if not isinstance(chunks, Unresolved)]


def depth(ranked: Sequence[str], needed: Sequence[Collection[str]]) -> int:
    """Return how many passages it takes to meet each piece that they hold; 1 for no piece.

    Args:
        ranked: The ids of passages, best first.
        needed: For each piece of evidence the ids of those that hold it.
    """
    first = [
        next((place for place, name in enumerate(ranked, start=1) if name in piece), 1)
        for piece in needed
    ]
    return max(first, default=1)


def classes_of(depths: Sequence[int], settings: Settings) -> Labels:
    """Return for each depth the first of three classes whose k reaches it, else the last."""
    ks = [row["k"] for row in plans(settings.plan)]
    classes = np.minimum(np.searchsorted(ks, depths), len(ks) - 1)
    return np.asarray(classes, dtype=np.int64)


def measured(rows: LabelledQuestions, seed: int) -> list[ClassifierScores]:
    """Return the cross-validated scores of the classes, beside always predicting the usual one.

    Raises:
        CorpusError: The rows do not have every class in enough different groups.
    """
    usual = np.full(len(rows.labels), np.bincount(rows.labels).argmax())
    learnt = held_out(rows, lambda others: ours(train(others, TEXT, seed)), [_TASK], seed)[_TASK]
    return [
        table_row((name, *_TASK), rows.labels, predicted)
        for name, predicted in (("learnt depth", learnt), ("always the same", usual))
    ]
