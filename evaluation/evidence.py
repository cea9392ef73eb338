"""What answers a gold question: which chunks, which documents and which spans are relevant.

A gold record may name spans, documents or quoted contexts; chunks are found by whichever it has, so
that one record serves any chunking. Nothing else decides what holds evidence: the metrics count
it, and closed-domain runs and the fits that need its absence take it out, by what is here.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lexloop.core.errors import InputError
from lexloop.core.score import Unresolved
from lexloop.core.types import Chunk
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.case import Case, Span

_GRAM = 3
_OPENS = re.compile(r"(?:^\s*+|(?<!\s)(?=\s*?\n[^\S\n]*\n)\s++)Document \d+:\s*")
Grams = set[tuple[str, ...]]
Grades = Mapping[str, int]
"""The relevance of chunks or documents by name, 1 or more; what is missing is not relevant."""


@dataclass(frozen=True)
class Evidence:
    """The relevant chunks of one question.

    Args:
        by_context: For each reference context the ids of the chunks that are relevant to it.
    """

    by_context: tuple[frozenset[str], ...]

    @property
    def chunks(self) -> frozenset[str]:
        """The ids of all relevant chunks."""
        return frozenset().union(*self.by_context)

    def measure(self, found: Sequence[str]) -> dict[str, float]:
        """What the chunks found are worth.

        Args:
            found: At most five ids.

        Returns:
            ``recall@5``, the share of the relevant chunks that were found, of five where there
            are more; ``contexts@5``, the share of the reference contexts to which a chunk that
            was found is relevant. Where no chunk is relevant nothing can be found: both are 0.
        """
        relevant = self.chunks
        hits = len(relevant & set(found))
        contexts = [bool(ids & set(found)) for ids in self.by_context]
        return {
            "recall@5": hits / min(5, len(relevant)) if relevant else 0.0,
            "contexts@5": sum(contexts) / len(contexts) if contexts else 0.0,
        }


class ChunkGrams:
    """The word 3-grams of chunks, from gram to chunk, so that a context need not visit them all.

    Args:
        grams: The 3-grams of each chunk by its id.
    """

    def __init__(self, grams: Mapping[str, Grams]) -> None:
        self._sizes = {name: len(held) for name, held in grams.items()}
        self._holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name, held in grams.items():
            for gram in held:
                self._holders[gram].append(name)

    def __len__(self) -> int:
        return len(self._sizes)

    def sharing(self, context: Grams) -> frozenset[str]:
        """The chunks that hold half of the context's 3-grams, or have half of theirs in it."""
        shared = Counter(name for gram in context for name in self._holders.get(gram, ()))
        return frozenset(
            name
            for name, count in shared.items()
            if 2 * count >= min(self._sizes[name], len(context))
        )


def word_grams(text: str) -> Grams:
    """The word 3-grams of a text, lower-cased."""
    spoken = words(text)
    return {tuple(spoken[i : i + _GRAM]) for i in range(len(spoken) - _GRAM + 1)}


def contexts_of(reference: str) -> list[str]:
    """The contexts of a gold record, each opened by `Document N: `."""
    return [part for part in _OPENS.split(reference) if part.strip()]


def grams_of(chunks: Iterable[Chunk]) -> ChunkGrams:
    """The word 3-grams of every chunk."""
    return ChunkGrams({chunk["id"]: word_grams(chunk["text"]) for chunk in chunks})


def evidence(chunks: ChunkGrams, reference: str) -> Evidence:
    """What is relevant: half of the word 3-grams of a chunk or of a context occur in the other.

    Args:
        chunks: What ``grams_of`` gave.
        reference: The contexts of a gold record.
    """
    contexts = [word_grams(context) for context in contexts_of(reference)]
    return Evidence(tuple(chunks.sharing(context) for context in contexts))


@dataclass(frozen=True)
class Relevant:
    """What is relevant to one question, or why that is not known.

    Args:
        chunks: Grades by chunk id.
        documents: Grades by document.
        spans: The evidence, where the record names spans.
    """

    chunks: Grades | Unresolved
    documents: Grades | Unresolved
    spans: tuple[Span, ...] | Unresolved

    @classmethod
    def unknown(cls, reason: str) -> "Relevant":
        """Nothing is known, and why."""
        return cls(Unresolved(reason), Unresolved(reason), Unresolved(reason))


class Judged:
    """Says what is relevant in one collection.

    Args:
        chunks: Every chunk of it.
    """

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        held = list(chunks)
        self._grams = grams_of(held)
        self._documents: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        self._owner: dict[str, str] = {}
        for chunk in held:
            place = (chunk["id"], chunk["start"], chunk["end"])
            self._documents[chunk["document"]].append(place)
            self._owner[chunk["id"]] = chunk["document"]

    def relevant(self, gold: Case) -> Relevant:
        """By the record's spans, else by its quoted contexts, else by the documents it names.

        A chunk is relevant to a span when it holds half of the span or lies half within it; its
        grade is that of the best such span. Contexts and documents grade 1; of a document that is
        named and nothing more, every chunk counts.
        """
        if gold.out_of_scope:
            return Relevant.unknown("out of scope: nothing is relevant")
        spans = Unresolved("the gold record names no spans")
        if gold.evidence:
            graded = self._listed(gold) or _by_document(gold.evidence)
            return Relevant(self._within(gold.evidence), self._known(graded), gold.evidence)
        if gold.reference_context and gold.reference_context.strip():
            found = dict.fromkeys(sorted(evidence(self._grams, gold.reference_context).chunks), 1)
            if not found:
                return Relevant.unknown("no chunk shares the words of the reference contexts")
            owners = dict.fromkeys((self._owner[name] for name in found), 1)
            return Relevant(found, self._known(self._listed(gold) or owners), spans)
        if named := self._listed(gold):
            inside = {place[0]: 1 for name in named for place in self._documents.get(name, ())}
            known = self._known(named)
            return Relevant(known if isinstance(known, Unresolved) else inside, known, spans)
        return Relevant.unknown("the gold record names no evidence")

    def to_take_out(self, gold: Case) -> frozenset[str]:
        """Every chunk that could answer the question.

        That is all that ``relevant`` counts and more: what a span touches at all, what lies by
        half in the quoted contexts together, and, where the record has spans and contexts, what
        either finds, since a text may say the same elsewhere.

        Raises:
            InputError: No chunk does, so that nothing can be taken out.
        """
        quoted = (gold.reference_context or "").strip()
        found = set(evidence(self._grams, quoted).chunks | self._grams.sharing(word_grams(quoted)))
        for span in gold.evidence or ():
            for name, start, end in self._documents.get(span.document, ()):
                if min(end, span.end) > max(start, span.start):
                    found.add(name)
        if not (quoted or gold.evidence):
            for document in self._listed(gold):
                found.update(place[0] for place in self._documents.get(document, ()))
        if not found:
            raise InputError(
                f"No chunk holds the evidence of the question {gold.id!r}: it cannot be taken out.",
                "Correct its evidence, or leave the question out.",
            )
        return frozenset(found)

    @staticmethod
    def _listed(gold: Case) -> Grades:
        return dict.fromkeys(gold.documents or (), 1)

    def _known(self, grades: Grades) -> Grades | Unresolved:
        """Grades of documents, if the collection has any of them."""
        if any(name in self._documents for name in grades):
            return grades
        return Unresolved(f"the collection has no document {min(grades)!r}")

    def _within(self, spans: Sequence[Span]) -> Grades | Unresolved:
        grades: dict[str, int] = {}
        for span in spans:
            for name, start, end in self._documents.get(span.document, ()):
                shared = min(end, span.end) - max(start, span.start)
                if shared > 0 and 2 * shared >= min(end - start, span.end - span.start):
                    grades[name] = max(span.relevance, grades.get(name, 0))
        return grades or Unresolved("no chunk holds the evidence")


def _by_document(spans: Sequence[Span]) -> Grades:
    grades: dict[str, int] = {}
    for span in spans:
        grades[span.document] = max(span.relevance, grades.get(span.document, 0))
    return grades
