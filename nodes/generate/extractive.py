"""The embedded generator: selects, orders and cites sentences of the passages."""

import re

from lexloop.core.types import ABSTENTION, Advice, Passage, Triplet
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.statements import LIST_ITEM
from lexloop.models.dialogue import unassisted
from lexloop.nodes.cite import cite
from lexloop.nodes.generate.answerable import answerable, read_signs
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.selection import Evidence, gather, select
from lexloop.nodes.relevance import Sources, understand

MIN_ANSWERABLE = 0.5


class ExtractiveGenerator:
    """Answers in the documents' own words, or abstains when they do not answer.

    Args:
        sources: The collection the passages come from.
    """

    instructions = ""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    @unassisted
    def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
    ) -> Draft:
        """Quote the most relevant statements; the abstention when the signs are against it."""
        asked = understand(question, self._sources)
        scored = gather(asked, passages, self._sources)
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
