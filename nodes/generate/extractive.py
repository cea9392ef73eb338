"""The embedded generator: selects, orders and cites sentences of the passages."""

import re
from typing import Protocol

from lexloop.core.types import ABSTENTION, Advice, Passage, Pointed, PointedUnit, Triplet
from lexloop.corpus.structure.asking import Library
from lexloop.corpus.structure.telling import groups
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.statements import LIST_ITEM
from lexloop.models.dialogue import unassisted
from lexloop.nodes.cite import cite
from lexloop.nodes.definition import asked_definition
from lexloop.nodes.generate.answerable import answerable, read_signs
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.quoting import quote_all
from lexloop.nodes.generate.selection import Evidence, gather, select
from lexloop.nodes.question import question_parts
from lexloop.nodes.relevance import Sources, understand

MIN_ANSWERABLE = 0.5
_SHORT = 300
"""A provision of so few words is quoted whole, whatever is asked of it."""


class Documents(Sources, Library, Protocol):
    """What answers are selected and quoted from."""


class ExtractiveGenerator:
    """Answers in the documents' own words, or abstains when they do not answer.

    Args:
        sources: The collection the passages come from.
        max_words: How many words of provisions are quoted whole.
    """

    instructions = ""

    def __init__(self, sources: Documents, max_words: int = 800) -> None:
        self._sources, self._max_words = sources, max_words

    @unassisted
    def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Quote what the question points to, else the most relevant statements.

        A longer question is answered from statements of what it points to. The abstention where
        the signs are against an answer.
        """
        units = pointed["units"] if pointed else []
        only = pointed is not None and pointed["only"]
        defined = any(map(asked_definition, question_parts(question)))
        if units and (only or (not defined and self._is_quotable(units))):
            return self._quoted(units)
        draft = self._selected(question, passages, units)
        return self._quoted(units) if draft.abstained else draft

    def _is_quotable(self, units: list[PointedUnit]) -> bool:
        """Whether units are best quoted whole: short ones, and the parts of provisions."""
        words = 0
        for unit in units:
            tree = self._sources.tree_of(unit["document"])
            text = self._sources.text_of(unit["document"])
            if tree is None or text is None or groups(tree, unit["place"]):
                return False
            words += len(text[unit["start"] : unit["end"]].split())
        parts = all(unit["label"].endswith(")") for unit in units)
        return words <= (self._max_words if parts else _SHORT)

    def _quoted(self, units: list[PointedUnit]) -> Draft:
        lines, citations = quote_all(units, self._sources, self._max_words)
        return Draft("\n".join(lines), citations, lines) if citations else Draft(ABSTENTION)

    def _selected(self, question: str, passages: list[Passage], units: list[PointedUnit]) -> Draft:
        asked = understand(question, self._sources)
        scored = gather(asked, passages, self._sources)
        if scored is not None and units:
            scored = scored.within(units)
        if scored is None or not asked.all_terms:
            return Draft(ABSTENTION)
        if answerable(read_signs(asked, scored, self._sources)) < MIN_ANSWERABLE:
            return Draft(ABSTENTION)
        chosen = select(asked, scored)
        answer = " ".join(_cited(item) for item in chosen)
        return Draft(answer, [cite(item.passage, item.start, item.end) for item in chosen])


def _cited(item: Evidence) -> str:
    """The evidence with its marker after each sentence, so that none stands uncited."""
    text, marker = _tidy(item.text), f"[{item.passage['n']}]"
    return " ".join(f"{text[start:end]} {marker}" for start, end in sentence_spans(text))


def _tidy(text: str) -> str:
    """The statement on one line, without the list marker it opens with."""
    flat = re.sub(r"\s+", " ", text).strip()
    marker = LIST_ITEM.match(flat)
    bare = flat[marker.end() :] if marker else flat
    return bare[:1].upper() + bare[1:]
