"""Which statements make an answer: the best for each part of a question, and few others."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lexloop.core.types import BESIDE
from lexloop.documents.text.quantities import facts
from lexloop.nodes.generate.quotables import Quotable, ScoredQuotables, alike
from lexloop.nodes.relevance import Query

NEARLY_BEST = 0.9
"""A further statement must score this share of the best one's."""
LISTS_OF_DUTIES = 0.85
"""A further list where all duties are asked for: half of them would be taken for the whole."""
_LEAST = 0.3
"""The share of the best one's score that a further passage must reach: below it nothing was found
of what laws were asked."""
_LINK = re.compile(r"\b\w+://\S+")


@dataclass(frozen=True)
class Chosen:
    """The statements that make an answer."""

    best: list[Quotable]  # the best evidence for each part of the question
    more: list[Quotable]  # statements that are nearly as good


@dataclass(frozen=True)
class Lengths:
    """The most that an answer may hold; the first statement is always quoted."""

    statements: int = 4  # how many are quoted beside the best for each part of the question
    words: int = 300  # how many they may have together
    whole: int = 800  # how many words of provisions and lists are quoted whole


def select(
    asked: Query,
    scored: ScoredQuotables,
    lengths: Lengths,
    sure: bool = True,
    each: Sequence[int] = (),
) -> Chosen:
    """Return the best evidence for each part, then more that is nearly as good.

    Where all duties are asked for, every list that is nearly as good is of the best. Where it is
    not sure that the best answers, each further passage says what it has nearest to the question.
    ``each`` are the places of statements by which other documents answer as well.
    """
    duties = any(part["duties"] for part in asked.parts)
    chosen: list[Quotable] = []
    for row in range(len(asked.parts)):
        ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.scores[row][i])
        _take_first(ranked, scored, chosen, lengths)
    for i in each:
        _take_first([i], scored, chosen, lengths)
    ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.best[i])
    top = float(scored.best.max())
    best = [*chosen]
    if not sure:
        # a document that has a passage so that it may answer, and does not, says nothing
        found = (i.passage for i in scored.quotables if BESIDE not in i.passage["signals"])
        of = {item["document"] for item in ([i.passage for i in best] if each else found)}
        for i in _nearest_by_passage(scored, of):
            if len(chosen) < lengths.statements and scored.best[i] >= _LEAST * top:
                _take_first([i], scored, chosen, lengths)
        return Chosen(best, chosen[len(best) :])
    for i in ranked:
        listed = scored.quotables[i].said.points > 0
        if len(chosen) >= lengths.statements or scored.best[i] < LISTS_OF_DUTIES * top:
            break
        if duties if listed else scored.best[i] >= NEARLY_BEST * top:
            _take_first([i], scored, chosen, lengths)
    more = chosen[len(best) :]
    best += [item for item in more if item.said.points]
    if duties:  # in the order of the text
        first = best[0].passage["document"] if best else ""
        best.sort(
            key=lambda i: (i.passage["document"] != first, i.passage["document"], i.said.start)
        )
    return Chosen(best, [item for item in more if not item.said.points])


# carries, by benchmarks/rules.py, .19 of the GDPR's everyday answers found
def _nearest_by_passage(scored: ScoredQuotables, of: Collection[str]) -> list[int]:
    """Return the best statement of each passage ``of`` some documents, in the passages' order."""
    found: dict[str, int] = {}
    for i, item in enumerate(scored.quotables):
        if item.said.points:
            continue  # a list is quoted whole or not at all
        if _is_line_of_names(item.text):
            continue
        if item.passage["document"] not in of:
            continue
        held = found.setdefault(item.passage["id"], i)
        if scored.best[i] > scored.best[held]:
            found[item.passage["id"]] = i
    return [*found.values()]


def _is_line_of_names(text: str) -> bool:
    """Return whether a line says nothing of anything: "Version 2.0, January 2004"."""
    words = re.findall(r"[^\W\d_]+", _LINK.sub("", text))
    return all(word[0].isupper() for word in words) and not all(map(str.isupper, words))


def _take_first(
    ranked: list[int], scored: ScoredQuotables, chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take the first that fits the length and says something that is not yet said."""
    if len(chosen) > lengths.statements:
        return
    for i in ranked[:5]:
        item = scored.quotables[i]
        if sum(other.words for other in chosen) + item.words > lengths.words and chosen:
            continue
        if item.said.own.endswith((":", " means")) and not item.said.points:
            continue  # it leads into what is no list of its own
        if any(_repeats(item, other) for other in chosen):
            return
        chosen.append(item)
        return


def _repeats(item: Quotable, other: Quotable) -> bool:
    """Return whether a statement has the words of another, and no fact of its own."""
    return alike(item, other) and facts(item.text) <= facts(other.text)
