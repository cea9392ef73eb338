"""The embedded generator: selects, orders and cites sentences of the passages."""

from collections.abc import Sequence

from lexloop.core.types import ABSTENTION, Advice, Citation, Passage, Triplet
from lexloop.corpus.text.sentences import sentence_spans
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
        return _draft(select(asked, scored))


def _draft(chosen: Sequence[Evidence]) -> Draft:
    """The evidence as an answer; a source has the number of its first use."""
    answer: list[str] = []
    citations: list[Citation] = []
    for n, item in enumerate(chosen, 1):
        said = " ".join([item.said[0].text, *(statement.own for statement in item.said[1:])])
        text = said[:1].upper() + said[1:]
        # a marker after each sentence, so that none stands uncited
        answer += [f"{text[start:end]} [{n}]" for start, end in sentence_spans(text)]
        citations.append(cite(item.passage, item.said, n))
    return Draft(" ".join(answer), citations)
