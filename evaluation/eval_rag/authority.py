"""What an answer is judged against: the document *d* of Eval-RAG, section 2."""

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["pair", "provision", "case"]
Origin = Literal["corpus", "cited", "answer"]

MOST_CHARS = 4000
"""The most characters of one authority: it goes into prompts whole. Questions of the LL144
development half find the right provision as often at 2,500, those of the sample less often."""


@dataclass(frozen=True)
class Authority:
    """A provision, a part of a case, or what the answer of a known pair rests on.

    Args:
        kind: Whether it was made from a pair, a provision or a case.
        origin: Where its text comes from: for a pair ``cited`` (the provisions and cases that the
            pair's answer cites) or ``answer`` (the pair's answer itself, which cites none that
            the corpus holds); otherwise ``corpus``.
        label: What a reader knows it by.
        text: What it says.
        documents: The documents of the corpus from which its text comes.
    """

    kind: Kind
    origin: Origin
    label: str
    text: str
    documents: tuple[str, ...] = ()

    def as_record(self) -> dict[str, Any]:
        """A flat JSON object."""
        return {**vars(self), "documents": list(self.documents)}


@dataclass(frozen=True)
class Entry:
    """A question, and the authority that answers it: the pair (q, d) of Eval-RAG, section 2."""

    question: str
    authority: Authority
