"""The statements of the passages that make the answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lexloop.core.types import DEFINING, Passage, PointedUnit
from lexloop.documents.structure.statements import Statement
from lexloop.documents.structure.tree import keys_of_term
from lexloop.documents.text.quantities import holds
from lexloop.documents.text.tokens import term_set
from lexloop.models.embedding import Vectors
from lexloop.nodes.relevance import Query, Sources, defines, relevance

NEARLY_BEST = 0.9
"""A further statement must score this share of the best one's."""
LISTS_OF_DUTIES = 0.85
"""A further list where all duties are asked for: half of them would be taken for the whole."""
TOKENS = 1.6
_COPY = 0.85
_FACT, _LEAST = 0.05, 0.3
"""What the kind of fact that is asked for adds to a score, and the share of the best one's score
that a further passage must reach: below it nothing was found of what laws were asked."""
_DEFINES = 0.5
_DEFINED = re.compile(r' "(?P<term>[^"]+)"$')
"""The label of a definition that has no number ends with its term."""
_BLANK = re.compile(r"_{3,}\W*$")
"""The end of a line of a form that is still to be filled in."""
_LINK = re.compile(r"\b\w+://\S+")
_SUPPORTING = 0.85
"""A recital explains what an article says: it answers where it is clearly closer."""


@dataclass(frozen=True)
class Quotable:
    """A statement that can be quoted of a passage; ``order`` is its place in the passages."""

    passage: Passage
    said: Statement
    order: int

    @property
    def text(self) -> str:
        """It as it can stand alone."""
        return self.said.text

    @property
    def words(self) -> int:
        """Length in words."""
        return len(self.text.split())


@dataclass(frozen=True)
class ScoredQuotables:
    """The quotable statements of the passages; ``scores`` has shape (parts, quotables)."""

    quotables: list[Quotable]
    vectors: Vectors
    scores: NDArray[np.float32]

    @property
    def passages(self) -> list[Passage]:
        """The passages that hold it, in their order."""
        return list({item.passage["id"]: item.passage for item in self.quotables}.values())

    @property
    def best(self) -> NDArray[np.float32]:
        """Each piece of evidence by the part it suits best."""
        top: NDArray[np.float32] = self.scores.max(axis=0)
        return top

    def within(self, units: Sequence[PointedUnit]) -> "ScoredQuotables | None":
        """Return the statements that lie in provisions; None where none does."""
        kept = [i for i, item in enumerate(self.quotables) if any(_lies_in(item, u) for u in units)]
        if not kept:
            return None
        return ScoredQuotables(
            [self.quotables[i] for i in kept], self.vectors[kept], self.scores[:, kept]
        )


def _lies_in(item: Quotable, unit: PointedUnit) -> bool:
    inside = unit["start"] <= item.said.start and item.said.end <= unit["end"]
    return inside and item.passage["document"] == unit["document"]


def score_quotables(
    asked: Query, passages: list[Passage], sources: Sources
) -> ScoredQuotables | None:
    """Score every statement and list of the passages; None when there is none."""
    quotables: list[Quotable] = []
    rows: list[Vectors] = []
    for passage in passages:
        for statement, vector in zip(*sources.statements(passage["id"]), strict=True):
            quotables.append(Quotable(passage, statement, len(quotables)))
            rows.append(vector)
    if not quotables:
        return None
    vectors = np.stack(rows)
    said = [item.said for item in quotables]
    near = _closeness(asked, passages, sources)
    weights = [_SUPPORTING if item.passage.get("supporting") else 1.0 for item in quotables]
    scores = relevance(asked, said, vectors, sources) * np.array(weights, dtype=np.float32)
    scores += [near[item.passage["id"]] for item in quotables]
    for row, term in enumerate(asked.definitions):
        if term is not None:
            scores[row] += [_DEFINES * is_definition(item, term) for item in quotables]
    return ScoredQuotables(quotables, vectors, scores)


def _closeness(asked: Query, passages: list[Passage], sources: Sources) -> dict[str, float]:
    """Return each passage's weighted MaxSim less that of the best; 0 without token vectors."""
    ids = [passage["id"] for passage in passages]
    found = sources.closeness(asked.text, ids)
    if found is None:
        return dict.fromkeys(ids, 0.0)
    close = found.mean(axis=0)
    return dict(zip(ids, (TOKENS * (close - close.max())).tolist(), strict=True))


def is_definition(item: Quotable, term: str) -> bool:
    """Return whether a statement is the documents' own definition of a term."""
    if DEFINING not in item.passage["signals"]:
        return False
    defined = _DEFINED.search(item.said.label)
    asked = set(keys_of_term(term)[:1])
    return defines(term, item.text) or bool(defined and asked & {*keys_of_term(defined["term"])})


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


def select(asked: Query, scored: ScoredQuotables, lengths: Lengths, sure: bool = True) -> Chosen:
    """Return the best evidence for each part, then more that is nearly as good.

    Where all duties are asked for, every list that is nearly as good is of the best. Where it is
    not sure that the best answers, each further passage says what it has nearest to the question.
    """
    scored = replace(scored, scores=scored.scores + _FACT * _holding_facts(asked, scored))
    duties = any(part["duties"] for part in asked.parts)
    chosen: list[Quotable] = []
    for row in range(len(asked.parts)):
        ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.scores[row][i])
        _take_first(ranked, scored, chosen, lengths)
    ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.best[i])
    top = float(scored.best.max())
    best = [*chosen]
    if not sure:
        for i in _nearest_by_passage(scored):
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


def _holding_facts(asked: Query, scored: ScoredQuotables) -> NDArray[np.float32]:
    """Return 1 where a statement holds a fact of the kind that a part asks for, else 0."""
    found = np.zeros_like(scored.scores)
    for row, part in enumerate(asked.parts):
        if kind := part["kind"]:
            what = frozenset(part["counted"])
            found[row] = [holds(kind, item.text, what) for item in scored.quotables]
    return found


def _nearest_by_passage(scored: ScoredQuotables) -> list[int]:
    """Return the best statement of each passage, in the order of the passages."""
    found: dict[str, int] = {}
    for i, item in enumerate(scored.quotables):
        if item.said.points:
            continue  # a list is quoted whole or not at all
        if _is_line_of_names(item.text):
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
        if _BLANK.search(item.said.own):
            continue
        if any(_repeats(item, other) for other in chosen):
            return
        chosen.append(item)
        return


def _repeats(item: Quotable, other: Quotable) -> bool:
    mine, theirs = term_set(item.text), term_set(other.text)
    return len(mine & theirs) >= _COPY * max(1, min(len(mine), len(theirs)))
