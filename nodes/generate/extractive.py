"""The embedded generator: selects, orders and cites sentences of the passages."""

from collections.abc import Sequence

from lexloop.core.types import ABSTENTION, Advice, Citation, Passage, Triplet
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.models.dialogue import unassisted
from lexloop.nodes.cite import cite
from lexloop.nodes.generate.answerable import answerable, read_signs
from lexloop.nodes.generate.lists import list_asked, quote_list
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.selection import Evidence, gather, select
from lexloop.nodes.relevance import Asked, Sources, understand

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
        return self._draft(asked, select(asked, scored))

    def _draft(self, asked: Asked, chosen: Sequence[Evidence]) -> Draft:
        """The evidence as an answer; a source has the number of its first use."""
        answer: list[str] = []
        citations: list[Citation] = []
        for n, item in enumerate(chosen, 1):
            document = item.passage["document"]
            tree, text = self._sources.tree_of(document), self._sources.text_of(document)
            place = -1
            if tree is not None and text is not None:
                place = list_asked(item, asked, tree, text, self._sources)
            if place >= 0 and tree and text:
                quoted = quote_list(tree, text, place, 600)
                answer.append(
                    "\n".join(f"{line} [{n}]" for line in quoted.lines)
                    + (f"\n{quoted.left_out} [{n}]" if quoted.left_out else "")
                )
                unit = tree.units[place]
                citations.append(
                    {
                        "n": n,
                        "document": document,
                        "section": unit.label,
                        "page": item.passage["page"],
                        "start": unit.start,
                        "end": unit.end,
                        "quote": text[unit.start : unit.end],
                    }
                )
                break
            said = item.said.text
            words = said[:1].upper() + said[1:]
            # a marker after each sentence, so that none stands uncited
            answer.append(
                " ".join(f"{words[start:end]} [{n}]" for start, end in sentence_spans(words))
            )
            citations.append(cite(item.passage, [item.said], n))
        return Draft("\n".join(answer), citations)
