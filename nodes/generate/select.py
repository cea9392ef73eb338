"""Which statements make an answer: the best for each part of a question, and few others."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lexloop.core.types import BESIDE
from lexloop.documents.text.quantities import facts
from lexloop.nodes.generate.score import Quotable, ScoredQuotables, alike
from lexloop.nodes.relevance import Query

NEARLY_BEST = 0.2
"""By how much the score of a further item may be below the best one's, if several are asked."""
LISTS_OF_DUTIES = 0.3
"""The same of a further list if all duties are: half of them would be taken for the whole."""
_NEAREST = 1.0
"""By how much the score of a further passage may be below the best one's if nothing is enough:
what the reader likes ten log-odds less says nothing of what is asked."""
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
    enough: bool = True,
    each: Sequence[int] = (),
) -> Chosen:
    """Return the best evidence for each part, then what is worth standing beside it.

    If several things are asked for, that is what is nearly as good; if all duties are, every
    such list is of the best. If the best is not known to be enough, each further passage says
    what it has nearest to the question.

    Args:
        asked: The question.
        scored: The statements.
        lengths: The most that is taken.
        enough: Whether the best statements answer.
        each: The places of statements by which other documents answer as well.
    """
    chosen: list[Quotable] = []
    for row in range(len(asked.parts)):
        ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.scores[row][i])
        _take_first(ranked, scored, chosen, lengths)
    for i in each:
        _take_first([i], scored, chosen, lengths)
    best = [*chosen]
    if enough:
        _take_further(asked, scored, chosen, lengths)
    else:
        _take_nearest(scored, best if each else [], chosen, lengths)
    more = chosen[len(best) :]
    if not enough:
        return Chosen(best, more)
    best += [item for item in more if item.said.points]
    if any(part["duties"] for part in asked.parts):  # in the order of the text
        first = best[0].passage["document"] if best else ""
        best.sort(
            key=lambda i: (i.passage["document"] != first, i.passage["document"], i.said.start)
        )
    return Chosen(best, [item for item in more if not item.said.points])


def _take_further(
    asked: Query, scored: ScoredQuotables, chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take further items if several are asked for, and lists if all duties are."""
    duties = any(part["duties"] for part in asked.parts)
    several = any(part["several"] for part in asked.parts)
    ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.best[i])
    top = float(scored.best.max())
    for i in ranked:
        listed = scored.quotables[i].said.points > 0
        if len(chosen) >= lengths.statements or scored.best[i] < top - LISTS_OF_DUTIES:
            break
        if duties if listed else several and scored.best[i] >= top - NEARLY_BEST:
            _take_first([i], scored, chosen, lengths)


def _take_nearest(
    scored: ScoredQuotables, best: Sequence[Quotable], chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take the best statement of each further passage, of the documents of the best ones if any."""
    # a document that has a passage so that it may answer, and does not, says nothing
    found = (i.passage for i in scored.quotables if BESIDE not in i.passage["signals"])
    of = {passage["document"] for passage in ([i.passage for i in best] if best else found)}
    top = float(scored.best.max())
    for i in _nearest_by_passage(scored, of):
        if len(chosen) < lengths.statements and scored.best[i] >= top - _NEAREST:
            _take_first([i], scored, chosen, lengths)


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
        if item.said.own.endswith((":", " means", "-", "–", "—")) and not item.said.points:
            continue  # it only introduces what follows
        if any(_repeats(item, other) for other in chosen):
            return
        chosen.append(item)
        return


def _repeats(item: Quotable, other: Quotable) -> bool:
    """Return whether a statement has the words of another, and no fact of its own."""
    return alike(item, other) and facts(item.text) <= facts(other.text)
