"""Choosing the statements of an answer: the best for each part of a question, and a few more."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lexloop.core.types import BESIDE
from lexloop.documents.text.quantities import facts
from lexloop.nodes.generate.score import Quotable, ScoredQuotables, alike, authority_of
from lexloop.nodes.relevance import Query

NEARLY_BEST = 0.2
"""How far below the best score a further item may be if the question asks for several."""
LISTS_OF_DUTIES = 0.3
"""The same for a further list if it asks for all duties: half of them would look like all."""
_NEAREST = 1.0
"""How far below the best score a further passage may be if nothing is sure to answer: a statement
that the reader rates ten log-odds lower is about something else."""
_LINK = re.compile(r"\b\w+://\S+")


@dataclass(frozen=True)
class Chosen:
    """The statements of an answer."""

    best: list[Quotable]  # the best for each part of the question
    more: list[Quotable]  # nearly as good statements


@dataclass(frozen=True)
class Lengths:
    """The limits of an answer; the first statement is always quoted."""

    statements: int = 4  # quoted besides the best for each part of the question
    words: int = 300  # of these statements together
    whole: int = 800  # of provisions and lists that are quoted as a whole
    beyond: bool = True  # whether text outside the passages may be quoted


def select(
    query: Query,
    scored: ScoredQuotables,
    lengths: Lengths,
    enough: bool = True,
    each: Sequence[int] = (),
) -> Chosen:
    """Return the best statement for each part, and statements worth quoting beside them.

    If the question asks for several things, these are nearly as good statements; if it asks for all
    duties, every such list is among the best. If the best may not answer, they are the nearest
    statement of each further passage.

    Args:
        query: The question.
        scored: The statements.
        lengths: The limits of the answer.
        enough: Whether the best statements are known to answer.
        each: The places of the statements by which other documents answer as well.
    """
    chosen: list[Quotable] = []
    for scores in scored.scores[: len(query.parts)]:
        _take_first(np.argsort(-scores, kind="stable").tolist(), scored, chosen, lengths)
    for i in each:
        _take_first([i], scored, chosen, lengths)
    if each:  # all of them may answer: the weightiest source first
        chosen.sort(key=lambda item: -authority_of(item))
    best = [*chosen]
    if not enough:
        _take_nearest(scored, best if each else [], chosen, lengths)
        return Chosen(best, chosen[len(best) :])
    duties = any(part["duties"] for part in query.parts)
    _take_further(query, scored, chosen, lengths, duties)
    more = chosen[len(best) :]
    best += [item for item in more if item.statement.points]
    if duties:  # in the order of the text
        first = best[0].passage["document"] if best else ""
        best.sort(
            key=lambda item: (
                item.passage["document"] != first,
                item.passage["document"],
                item.statement.start,
            )
        )
    return Chosen(best, [item for item in more if not item.statement.points])


def _take_further(
    query: Query, scored: ScoredQuotables, chosen: list[Quotable], lengths: Lengths, duties: bool
) -> None:
    """Take further items if the question asks for several, and lists if it asks for all duties."""
    several = any(part["several"] for part in query.parts)
    top = float(scored.best.max())
    for i in np.argsort(-scored.best, kind="stable").tolist():
        listed = scored.quotables[i].statement.points > 0
        if len(chosen) >= lengths.statements or scored.best[i] < top - LISTS_OF_DUTIES:
            break
        if duties if listed else several and scored.best[i] >= top - NEARLY_BEST:
            _take_first([i], scored, chosen, lengths)


def _take_nearest(
    scored: ScoredQuotables, best: Sequence[Quotable], chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take the best statement of each further passage, of the best ones' documents if any."""
    # passages beside the search's own count only if they answer
    own = (item for item in scored.quotables if BESIDE not in item.passage["signals"])
    documents = {item.passage["document"] for item in best or own}
    top = float(scored.best.max())
    for i in _nearest_by_passage(scored, documents):
        if len(chosen) < lengths.statements and scored.best[i] >= top - _NEAREST:
            _take_first([i], scored, chosen, lengths)


# carries, by benchmarks/rules.py, .19 of the GDPR's everyday answers found
def _nearest_by_passage(scored: ScoredQuotables, documents: Collection[str]) -> list[int]:
    """Return the best statement of each passage of some documents, in the passages' order."""
    nearest: dict[str, int] = {}
    for i, item in enumerate(scored.quotables):
        # a list is quoted as a whole or not at all
        usable = not item.statement.points and not _is_line_of_names(item.text)
        if usable and item.passage["document"] in documents:
            best = nearest.setdefault(item.passage["id"], i)
            nearest[item.passage["id"]] = i if scored.best[i] > scored.best[best] else best
    return [*nearest.values()]


def _is_line_of_names(text: str) -> bool:
    """Return whether a line is only names: "Version 2.0, January 2004"."""
    words = re.findall(r"[^\W\d_]+", _LINK.sub("", text))
    return all(word[0].isupper() for word in words) and not all(map(str.isupper, words))


def _take_first(
    ranked: list[int], scored: ScoredQuotables, chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take the first item that fits the length, unless it repeats one that was taken."""
    if len(chosen) > lengths.statements:
        return
    for item in (scored.quotables[i] for i in ranked[:5]):
        fits = sum(other.words for other in chosen) + item.words <= lengths.words or not chosen
        leads_in = item.statement.own.endswith((":", " means", "-", "–", "—"))
        if not fits or (leads_in and not item.statement.points):
            continue
        if not any(_repeats(item, other) for other in chosen):
            chosen.append(item)
        return


def _repeats(item: Quotable, other: Quotable) -> bool:
    """Return whether a statement has the words of another, and no fact of its own."""
    return alike(item, other) and facts(item.text) <= facts(other.text)
