"""Passages cut to what a model can read at once."""

from collections.abc import Sequence

from lexloop.core.types import Passage
from lexloop.documents.text.tokens import sentence_spans


def shortened(passages: Sequence[Passage], share: float) -> list[Passage]:
    """Return the passages with the longest of them cut, each at the end of a sentence.

    Args:
        passages: In their order, which stays.
        share: How much of all their characters may be left, in (0, 1]. The first sentence of each
            stays whole, whatever that comes to.
    """
    most = _longest([len(passage["text"]) for passage in passages], share)
    return [{**passage, "text": _cut(passage["text"], most)} for passage in passages]


def _longest(lengths: Sequence[int], share: float) -> float:
    """Return the length at which cutting all that are longer leaves the share of the sum."""
    left, ordered = share * sum(lengths), sorted(lengths)
    for place, length in enumerate(ordered):
        each = left / (len(ordered) - place)
        if length > each:
            return each
        left -= length
    return max(ordered, default=0)


def _cut(text: str, most: float) -> str:
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text)] or [len(text)]
    return text[: max((end for end in ends if end <= most), default=ends[0])]
