"""How many characters of the evidence were retrieved, and how many retrieved ones are evidence.

A span is ``(document, start, end)``, code points, half-open. Spans that overlap count their
characters once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from lexloop.core.score import Score, Unresolved

Span = tuple[str, int, int]


def span_recall(retrieved: Sequence[Span], evidence: Sequence[Span]) -> Score:
    """Characters of the evidence that were retrieved / characters of the evidence.

    Source: LegalBench-RAG's character-level recall.

    Returns:
        In [0, 1]; unresolved without evidence.
    """
    wanted = _merged(evidence)
    total = _length(wanted)
    if not total:
        return Unresolved("no evidence span is known")
    return _common(_merged(retrieved), wanted) / total


def span_precision(retrieved: Sequence[Span], evidence: Sequence[Span]) -> Score:
    """Characters of the evidence that were retrieved / characters that were retrieved.

    Source: LegalBench-RAG's character-level precision.

    Returns:
        In [0, 1]; unresolved without evidence, or when nothing was retrieved.
    """
    wanted, found = _merged(evidence), _merged(retrieved)
    total = _length(found)
    if not _length(wanted):
        return Unresolved("no evidence span is known")
    if not total:
        return Unresolved("nothing was retrieved")
    return _common(found, wanted) / total


def overlap(first: Span, second: Span) -> int:
    """The characters that two spans share; 0 in different documents."""
    if first[0] != second[0]:
        return 0
    return max(0, min(first[2], second[2]) - max(first[1], second[1]))


def _merged(spans: Sequence[Span]) -> dict[str, list[tuple[int, int]]]:
    """Disjoint ranges by document, in order; empty and inverted spans hold nothing."""
    merged: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for document, start, end in sorted(spans):
        if end <= start:
            continue
        ranges = merged[document]
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], end))
        else:
            ranges.append((start, end))
    return merged


def _length(ranges: Mapping[str, list[tuple[int, int]]]) -> int:
    return sum(end - start for spans in ranges.values() for start, end in spans)


def _common(
    first: Mapping[str, list[tuple[int, int]]], second: Mapping[str, list[tuple[int, int]]]
) -> int:
    return sum(
        overlap((document, *one), (document, *other))
        for document, spans in first.items()
        for one in spans
        for other in second.get(document, ())
    )
