"""From a model's answer with [n] markers to citations with exact spans.

The model only says which passage it used. Which words of that passage support a sentence is found
here, by the words they share, so that a citation points at what a reader should check.
"""

import itertools
import re
from dataclasses import dataclass

from lexloop.core.types import ABSTENTION, Citation, Passage
from lexloop.corpus.sentences import sentence_spans
from lexloop.corpus.tokens import tokenize
from lexloop.nodes.generate.node import Draft

# Three digits at most: [2021] is part of a law report's name.
_MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*)\s*\]")
_WIDEST_RANGE = 50
_WIDEST_WINDOW = 3
_NUMBER_WEIGHT = 3.0
_EXTRA_SENTENCE_COST = 0.05
_NEARLY_EQUAL = 0.7  # shared words over all words


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer, its markers taken out, and the passages they name."""

    text: str
    numbers: tuple[int, ...]


def cited(answer: str, passages: list[Passage]) -> Draft:
    """The draft for a model's answer.

    Each marker of each sentence becomes one citation of the span that supports the sentence best.
    A marker that names no passage stays in the answer and gets no citation.

    Args:
        answer: What the model wrote.
        passages: The passages it was shown.
    """
    answer = answer.strip()
    if abstains(answer):
        return Draft(ABSTENTION)
    by_number = {passage["n"]: passage for passage in passages}
    citations: list[Citation] = []
    for statement in statements(answer):
        for number in statement.numbers:
            if number not in by_number:
                continue
            citation = citation_for(statement.text, by_number[number])
            if citation not in citations:
                citations.append(citation)
    return Draft(answer, citations)


def abstains(answer: str) -> bool:
    """Whether an answer contains the abstention, or says nearly the same in nearly its words."""
    said, abstention = _plain(answer), _plain(ABSTENTION)
    if abstention in said:
        return True
    words, wanted = set(said.split()), set(abstention.split())
    return "not" in words and len(words & wanted) / len(words | wanted) >= _NEARLY_EQUAL


def statements(answer: str) -> list[Statement]:
    """The sentences of an answer; markers after a full stop belong to the sentence before it."""
    # Blanks in place of the markers keep the offsets and show where sentences really end.
    bare = _MARKER.sub(lambda marker: " " * len(marker.group()), answer)
    starts = [start for start, _ in sentence_spans(bare)]
    edges = [0, *starts[1:], len(answer)]
    found: list[Statement] = []
    for start, end in itertools.pairwise(edges):
        numbers = [
            n for marker in _MARKER.findall(answer[start:end]) for n in marker_numbers(marker)
        ]
        found.append(Statement(" ".join(bare[start:end].split()), tuple(dict.fromkeys(numbers))))
    return found


def marker_numbers(marker: str) -> list[int]:
    """The passage numbers inside one marker: ``1``, ``1, 2`` or ``1-3``."""
    numbers: list[int] = []
    for item in re.split(r"[,;]", marker):
        ends = [int(end) for end in re.split(r"[-–]", item)]
        first, last = ends[0], ends[-1]
        if first <= last <= first + _WIDEST_RANGE:
            numbers.extend(range(first, last + 1))
        else:
            numbers.extend(ends)
    return numbers


def citation_for(statement: str, passage: Passage) -> Citation:
    """The citation of the sentences of ``passage`` that share most with ``statement``.

    Numbers and section references weigh more than words. A second or third sentence is taken in
    where it brings more than it costs; a passage that shares nothing is cited as a whole.
    """
    start, end = _best_span(tokenize(statement), passage["text"])
    return Citation(
        n=passage["n"],
        document=passage["document"],
        section=passage["section"],
        page=passage["page"],
        start=passage["start"] + start,
        end=passage["start"] + end,
        quote=passage["text"][start:end],
    )


def _best_span(sought: list[str], text: str) -> tuple[int, int]:
    weights = {term: _NUMBER_WEIGHT if term[0].isdigit() else 1.0 for term in sought}
    total = sum(weights.values())
    spans = sentence_spans(text)
    terms = [set(tokenize(text[start:end])) for start, end in spans]
    best, best_score = (0, len(text)), 0.0
    for first in range(len(spans)):
        covered: set[str] = set()
        for last in range(first, min(first + _WIDEST_WINDOW, len(spans))):
            covered |= terms[last] & weights.keys()
            share = sum(weights[term] for term in covered) / total if total else 0.0
            score = share - _EXTRA_SENTENCE_COST * (last - first)
            if score > best_score:
                best, best_score = (spans[first][0], spans[last][1]), score
    return best


def _plain(text: str) -> str:
    without_markers = _MARKER.sub(" ", text.casefold())
    return " ".join(re.findall(r"\w+", re.sub(r"n['’]t\b", " not", without_markers)))
