"""The evidence of a question: which chunks, documents and spans of a collection are relevant to it.

A gold record may name spans, documents or quoted contexts. Chunks are found by whichever it has, so
that one record works with any chunking. Metrics, closed-domain runs and the fits that need missing
evidence all use this module to decide what contains evidence.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lexloop.core.errors import InputError
from lexloop.core.types import Chunk
from lexloop.documents.text.tokens import words
from lexloop_eval.case import Case, Span
from lexloop_eval.score import Unresolved

_GRAM = 3
_OPENS = re.compile(r"(?:^\s*+|(?<!\s)(?=\s*?\n[^\S\n]*\n)\s++)Document \d+:\s*")
Grades = Mapping[str, int]
"""Relevance of chunks or documents by name, 1 or more. Missing ones are not relevant."""


@dataclass(frozen=True)
class Relevant:
    """The grades of chunks by id and of documents by name, and the spans; or why not known."""

    chunks: Grades | Unresolved
    documents: Grades | Unresolved
    spans: tuple[Span, ...] | Unresolved

    @classmethod
    def unknown(cls, reason: str) -> "Relevant":
        """Return the result if nothing is known."""
        return cls(Unresolved(reason), Unresolved(reason), Unresolved(reason))


class EvidenceIndex:
    """Every chunk of a collection by its place and by its word 3-grams."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._documents: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        self._owner: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for chunk in chunks:
            name, grams = chunk["id"], _grams(chunk["text"])
            self._documents[chunk["document"]].append((name, chunk["start"], chunk["end"]))
            self._owner[name] = chunk["document"]
            self._sizes[name] = len(grams)
            for gram in grams:
                self._holders[gram].append(name)

    def by_context(self, reference: str) -> list[frozenset[str]]:
        """Return the ids of the chunks that are relevant to each context of a gold record.

        Half of the word 3-grams of a chunk or of the context occur in the other.
        """
        return [self._sharing(context) for context in contexts_of(reference)]

    def relevant(self, gold: Case) -> Relevant:
        """Grade by the record's spans, or else its quoted contexts, or else its documents.

        A chunk is relevant to a span if it contains half of the span or half of it lies within the
        span. Its grade is that of the best such span. Contexts and documents have grade 1. If only
        a document is named, all its chunks count.
        """
        if gold.out_of_scope:
            return Relevant.unknown("out of scope: nothing is relevant")
        listed: Grades = dict.fromkeys(gold.documents or (), 1)
        if gold.evidence:
            graded = [(span.document, span.relevance) for span in gold.evidence]
            documents = self._known(listed or _best(graded))
            return Relevant(self._within(gold.evidence), documents, gold.evidence)
        spans = Unresolved("the gold record names no spans")
        if gold.reference_context and gold.reference_context.strip():
            names = sorted(frozenset().union(*self.by_context(gold.reference_context)))
            if not names:
                return Relevant.unknown("no chunk shares the words of the reference contexts")
            owners = dict.fromkeys((self._owner[name] for name in names), 1)
            return Relevant(dict.fromkeys(names, 1), self._known(listed or owners), spans)
        if listed:
            inside = {place[0]: 1 for name in listed for place in self._documents.get(name, ())}
            named = self._known(listed)
            return Relevant(named if isinstance(named, Unresolved) else inside, named, spans)
        return Relevant.unknown("the gold record names no evidence")

    def to_take_out(self, gold: Case) -> frozenset[str]:
        """Return the ids of all chunks that could answer the question.

        This includes all that ``relevant`` counts, all chunks that a span touches, chunks that lie
        half within the quoted contexts together, and, if the record has spans and contexts, what
        either finds, since a text may say the same elsewhere.

        Raises:
            InputError: No chunk does, so nothing can be taken out.
        """
        quoted = (gold.reference_context or "").strip()
        ids = set(self._sharing(quoted).union(*self.by_context(quoted)))
        for span in gold.evidence or ():
            for name, start, end in self._documents.get(span.document, ()):
                if min(end, span.end) > max(start, span.start):
                    ids.add(name)
        if not (quoted or gold.evidence):
            for document in gold.documents or ():
                ids.update(place[0] for place in self._documents.get(document, ()))
        if not ids:
            raise InputError(
                f"No chunk holds the evidence of the question {gold.id!r}: it cannot be taken out.",
                "Correct its evidence, or leave the question out.",
            )
        return frozenset(ids)

    def _sharing(self, context: str) -> frozenset[str]:
        """The chunks that hold half of the context's 3-grams, or have half of theirs in it."""
        grams = _grams(context)
        shared = Counter(name for gram in grams for name in self._holders.get(gram, ()))
        return frozenset(
            name
            for name, count in shared.items()
            if 2 * count >= min(self._sizes[name], len(grams))
        )

    def _known(self, grades: Grades) -> Grades | Unresolved:
        """Grades of documents, if the collection has any of them."""
        if any(name in self._documents for name in grades):
            return grades
        return Unresolved(f"the collection has no document {min(grades)!r}")

    def _within(self, spans: Sequence[Span]) -> Grades | Unresolved:
        graded = [
            (name, span.relevance)
            for span in spans
            for name, start, end in self._documents.get(span.document, ())
            if (shared := min(end, span.end) - max(start, span.start)) > 0
            and 2 * shared >= min(end - start, span.end - span.start)
        ]
        return _best(graded) or Unresolved("no chunk holds the evidence")


def contexts_of(reference: str) -> list[str]:
    """Return the contexts of a gold record, each opened by `Document N: `."""
    return [part for part in _OPENS.split(reference) if part.strip()]


def _grams(text: str) -> set[tuple[str, ...]]:
    spoken = words(text)
    return {tuple(spoken[i : i + _GRAM]) for i in range(len(spoken) - _GRAM + 1)}


def _best(graded: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The highest grade of each name."""
    best: dict[str, int] = {}
    for name, grade in graded:
        best[name] = max(grade, best.get(name, 0))
    return best
