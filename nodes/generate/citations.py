"""From a model's answer with [n] markers to citations with exact spans.

The model only says which passage it used. Which words of that passage support a sentence is found
here, by the words they share, so that a citation points at what a reader should check.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from lexloop.core.deadline import heed_deadline
from lexloop.core.types import ABSTENTION, Citation, Passage
from lexloop.corpus.structure.statements import Statement
from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.cite import cite
from lexloop.nodes.context import Draft
from lexloop.nodes.generate.reading import read
from lexloop.nodes.markers import MARKER, cited_sentences, marker_numbers

_WIDEST_WINDOW = 3
_NUMBER_WEIGHT = 3.0
_EXTRA_SENTENCE_COST = 0.05
_NEARLY_EQUAL = 0.7  # shared words over all words


StatementsOf = Callable[[str], Sequence[Statement]]


def cited(answer: str, passages: list[Passage], statements_of: StatementsOf) -> Draft:
    """The draft for a model's answer.

    Its citations are read in whatever form it wrote them, and the passages are numbered anew in the
    order in which it uses them. Each marker of each sentence becomes one citation of the statements
    that support the sentence best. A marker that names no passage stays in the answer and gets no
    citation.

    Args:
        answer: What the model wrote.
        passages: The passages it was shown.
        statements_of: From a passage's id to its statements.

    Raises:
        DeadlineExceeded: The question has run out of time.
    """
    by_number = {passage["n"]: passage for passage in passages}
    answer = read(answer.strip(), by_number.keys())
    if abstains(answer):
        return Draft(ABSTENTION)
    answer, order = _in_order_of_use(answer, by_number)
    citations: list[Citation] = []
    for sentence in cited_sentences(answer):
        heed_deadline("while citations were sought")
        for number in sentence.numbers:
            if number not in order:
                continue
            passage = order[number]
            found = citation_for(sentence.text, passage, statements_of(passage["id"]), number)
            if found not in citations:
                citations.append(found)
    return Draft(answer, citations)


def _in_order_of_use(
    answer: str, by_number: Mapping[int, Passage]
) -> tuple[str, dict[int, Passage]]:
    """The answer with its passages numbered from 1 in the order of use, and these by number.

    What a marker names beyond the passages is numbered after them all.
    """
    used = [n for marker in MARKER.findall(answer) for n in marker_numbers(marker)]
    known = dict.fromkeys(n for n in used if n in by_number)
    unknown = dict.fromkeys(n for n in used if n not in by_number)
    new = {old: place for place, old in enumerate([*known, *unknown], 1)}

    def renumbered(marker: re.Match[str]) -> str:
        return "".join(f"[{new[n]}]" for n in dict.fromkeys(marker_numbers(marker[1])))

    return MARKER.sub(renumbered, answer), {new[old]: by_number[old] for old in known}


def abstains(answer: str) -> bool:
    """Whether an answer contains the abstention, or says nearly the same in nearly its words."""
    said, abstention = _plain(answer), _plain(ABSTENTION)
    if abstention in said:
        return True
    words, wanted = set(said.split()), set(abstention.split())
    return "not" in words and len(words & wanted) / len(words | wanted) >= _NEARLY_EQUAL


def citation_for(sentence: str, passage: Passage, found: Sequence[Statement], n: int) -> Citation:
    """The citation of the statements of ``passage`` that share most with a sentence.

    Numbers and section references weigh more than words. A second or third statement is taken in
    where it brings more than it costs; a passage that shares nothing is cited as a whole.

    Args:
        sentence: Of an answer.
        passage: What it cites.
        found: The passage's statements.
        n: The number of the source.
    """
    best = _best_run(tokenize(sentence), found)
    if not best:
        end = passage["start"] + len(passage["text"].rstrip())
        best = [Statement(passage["start"], end, (), passage["section"], "", passage["text"])]
    return cite(passage, best, n)


def _best_run(sought: list[str], found: Sequence[Statement]) -> Sequence[Statement]:
    weights = {term: _NUMBER_WEIGHT if term[0].isdigit() else 1.0 for term in sought}
    total = sum(weights.values())
    terms = [{*tokenize(statement.label), *tokenize(statement.text)} for statement in found]
    best, best_score = found[:0], 0.0
    for first in range(len(found)):
        covered: set[str] = set()
        for last in range(first, min(first + _WIDEST_WINDOW, len(found))):
            covered |= terms[last] & weights.keys()
            share = sum(weights[term] for term in covered) / total if total else 0.0
            score = share - _EXTRA_SENTENCE_COST * (last - first)
            if score > best_score:
                best, best_score = found[first : last + 1], score
    return best


def _plain(text: str) -> str:
    without_markers = MARKER.sub(" ", text.casefold())
    return " ".join(re.findall(r"\w+", re.sub(r"n['’]t\b", " not", without_markers)))
