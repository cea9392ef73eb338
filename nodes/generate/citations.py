"""From a model's answer with [n] markers to citations with exact spans.

The model only says which passage it used. Which words of that passage support a sentence is found
here, by the words they share, so that a citation points at what a reader should check.
"""

import re

from lexloop.core.deadline import heed_deadline
from lexloop.core.types import ABSTENTION, Citation, Passage
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.cite import cite
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.reading import read
from lexloop.nodes.markers import MARKER, cited_sentences

_WIDEST_WINDOW = 3
_NUMBER_WEIGHT = 3.0
_EXTRA_SENTENCE_COST = 0.05
_NEARLY_EQUAL = 0.7  # shared words over all words


def cited(answer: str, passages: list[Passage]) -> Draft:
    """The draft for a model's answer.

    Its citations are read in whatever form it wrote them. Each marker of each sentence becomes one
    citation of the span that supports the sentence best. A marker that names no passage stays in
    the answer and gets no citation.

    Args:
        answer: What the model wrote.
        passages: The passages it was shown.

    Raises:
        DeadlineExceeded: The question has run out of time.
    """
    by_number = {passage["n"]: passage for passage in passages}
    answer = read(answer.strip(), by_number.keys())
    if abstains(answer):
        return Draft(ABSTENTION)
    citations: list[Citation] = []
    for statement in cited_sentences(answer):
        heed_deadline("while citations were sought")
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


def citation_for(statement: str, passage: Passage) -> Citation:
    """The citation of the sentences of ``passage`` that share most with ``statement``.

    Numbers and section references weigh more than words. A second or third sentence is taken in
    where it brings more than it costs; a passage that shares nothing is cited as a whole.
    """
    start, end = _best_span(tokenize(statement), passage["text"])
    return cite(passage, start, end)


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
    without_markers = MARKER.sub(" ", text.casefold())
    return " ".join(re.findall(r"\w+", re.sub(r"n['’]t\b", " not", without_markers)))
