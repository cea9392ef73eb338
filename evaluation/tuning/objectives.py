"""What tuning may raise, each in a form that compares chunks of any size.

Recall counts pieces of evidence and not chunks: where documents are cut small there are more
chunks to find, and no chunker could be compared with another.
"""

from collections.abc import Sequence
from typing import Literal, get_args

from lexloop.core.score import Score, Unresolved
from lexloop.core.types import Passage
from lexloop.evaluation.case import Case
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.evaluation.metrics.retrieval import ndcg, overlap, span_recall

Objective = Literal["similarity", "correctness", "recall", "ndcg", "span_recall"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
OF_RETRIEVAL: tuple[Objective, ...] = ("recall", "ndcg", "span_recall")
"""These need no answer."""
_DEPTH = 10


def of_passages(
    gold: Case, passages: Sequence[Passage], index: EvidenceIndex
) -> dict[Objective, Score]:
    """The objectives of retrieval for one question.

    Args:
        gold: The question and its evidence.
        passages: What an answer would be written from.
        index: Finds the evidence in the collection.

    Returns:
        ``recall``: the share of the pieces of evidence (spans, quoted contexts, or documents,
        whichever the record has) that a passage holds, half of them at least. ``ndcg``: nDCG@10
        of the passages. ``span_recall``: the share of the evidence's characters in them. Each is
        unresolved where the record lacks what it needs.
    """
    found = [passage["id"] for passage in passages]
    relevant = index.relevant(gold)
    grades, spans = relevant.chunks, relevant.spans
    places = [(p["document"], p["start"], p["end"]) for p in passages]
    return {
        "recall": _recall(gold, passages, index),
        "ndcg": grades if isinstance(grades, Unresolved) else ndcg(found, grades, _DEPTH),
        "span_recall": spans
        if isinstance(spans, Unresolved)
        else span_recall(places, [(span.document, span.start, span.end) for span in spans]),
    }


def _recall(gold: Case, passages: Sequence[Passage], index: EvidenceIndex) -> Score:
    if gold.out_of_scope:
        return Unresolved("out of scope: nothing is relevant")
    if gold.evidence:
        places = [(p["document"], p["start"], p["end"]) for p in passages]
        wanted = [(span.document, span.start, span.end) for span in gold.evidence]
        return _share([_covered(piece, places) for piece in wanted])
    if gold.reference_context:
        held = {passage["id"] for passage in passages}
        pieces = [ids for ids in index.by_context(gold.reference_context) if ids]
        return _share([bool(ids & held) for ids in pieces])
    owners = {passage["document"] for passage in passages}
    return _share([name in owners for name in gold.documents or ()])


def _covered(piece: tuple[str, int, int], places: Sequence[tuple[str, int, int]]) -> bool:
    """Whether the passages hold half of a span, or one of them lies half within it."""
    whole = piece[2] - piece[1]
    shared = [overlap(piece, place) for place in places]
    if 2 * sum(shared) >= whole:
        return True
    return any(
        2 * common >= place[2] - place[1] for common, place in zip(shared, places, strict=True)
    )


def _share(hits: Sequence[bool]) -> Score:
    return sum(hits) / len(hits) if hits else Unresolved("the gold record names no evidence")
