"""The embedded generator: statements of the passages selected, judged, ordered and cited."""

from lexloop.core.running import computing
from lexloop.core.settings_groups import LEAST, Care
from lexloop.core.types import (
    ABSTENTION,
    Advice,
    Draft,
    ParsedQuestion,
    Passage,
    Pointed,
    PointedUnit,
    Triplet,
)
from lexloop.documents.chunks.carrying import carried_from
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.answerable import (
    lacks,
    probability_found,
    probability_there,
    read_features,
    without_fact,
)
from lexloop.nodes.generate.quoting import cite, quote_all
from lexloop.nodes.generate.score import Quotable, ScoredQuotables, score_quotables
from lexloop.nodes.generate.select import Lengths, select
from lexloop.nodes.generate.write import Writer, list_asked
from lexloop.nodes.question.naming import inside
from lexloop.nodes.question.parts import part_of
from lexloop.nodes.relevance import Query, query_of, query_of_part
from lexloop.store.view import View

MIN_NEAR = 0.1
"""The least probability that the documents answer for what comes near an answer to be shown."""
EACH = 0.3
"""The least probability that a document's best statement answers for it to be quoted beside those
of other documents."""
_NEAR = 2


class ExtractiveGenerator:
    """A generator that answers in the documents' own words, or abstains."""

    instructions = ""

    def __init__(
        self, sources: View, lengths: Lengths | None = None, care: Care = "normal"
    ) -> None:
        self._sources, self._lengths = sources, lengths or Lengths()
        self._least = LEAST[care]

    @computing
    def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Quote the provisions that the question points to, else the most relevant statements.

        A longer question is answered from statements of what it points to. It abstains if the
        features are against an answer.
        """
        units = pointed["units"] if pointed else []
        only = pointed is not None and pointed["only"]
        if units and only:
            return self._quoted(units)
        others = pointed.get("others", []) if pointed is not None else []
        question = _within(question, pointed.get("names", []) if pointed is not None else [])
        draft = self._selected(question, passages, units, others)
        if draft["abstained"] and not (quoted := self._quoted(units))["abstained"]:
            return quoted
        return draft

    def _quoted(self, units: list[PointedUnit]) -> Draft:
        lines, citations = quote_all(units, self._sources, self._lengths.whole)
        return (
            drafted("\n".join(lines), citations, told=lines) if citations else drafted(ABSTENTION)
        )

    def _selected(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        units: list[PointedUnit],
        others: list[PointedUnit],
    ) -> Draft:
        asked = query_of(question, self._sources)
        scored = score_quotables(asked, passages, self._sources)
        if scored is not None and units:
            scored = scored.within(units)
        if scored is not None and others:
            scored = scored.outside(others)
        if scored is None:
            return drafted(ABSTENTION)
        if not any(map(self._sources.knows, asked.all_terms)):
            return drafted(ABSTENTION, lacks=lacks(asked, scored, self._sources))
        features = read_features(asked, scored.among_the_best, self._sources)
        there, answers = probability_there(features), probability_found(features)
        enough = answers >= self._least.passed
        enough = enough or (any(asked.definitions) and not features.undefined)
        alone = units or question["called"] or any(asked.definitions)
        each = [] if alone else self._of_each(asked, scored, answers)
        chosen = select(asked, scored, self._lengths, enough=enough, each=each)
        if there < self._least.there or answers < self._least.given:
            # what comes nearest to an answer, one citation a provision
            nearest = [*chosen.best, *chosen.more][: _NEAR if there >= MIN_NEAR else 0]
            near = [cite(item.passage, [item.said], n) for n, item in enumerate(nearest, 1)]
            return drafted(ABSTENTION, near=near, lacks=lacks(asked, scored, self._sources))
        # if lists answer as a whole, nothing stands beside them
        whole = enough and any(list_asked(item, asked, self._sources) for item in chosen.best)
        more = [] if whole else chosen.more
        best = [self._carried_on(item, scored) for item in chosen.best]
        draft = Writer(asked, self._sources, self._lengths.whole).write(best, more)
        lacking = without_fact(asked, draft["answer"])
        return {
            **draft,
            "answers": answers,
            "unanswered": [*dict.fromkeys([*lacking, *self._unanswered(asked, passages)])],
            "lacks": lacks(asked, scored, self._sources, given=True),
        }

    def _carried_on(self, item: Quotable, scored: ScoredQuotables) -> Quotable:
        """Return what carries on from a statement and answers, too; else the statement.

        "A person who sells data commits an offence", and the paragraph behind it has the penalty.
        """
        document = item.passage["document"]
        tree, text = self._sources.tree_of(document), self._sources.text_of(document)
        if tree is None or text is None:
            return item
        answers = scored.answers.max(axis=0)
        for other, log_odds in zip(scored.quotables, answers.tolist(), strict=True):
            if log_odds <= 0 or other.passage["document"] != document or other.said.points:
                continue
            before = carried_from(other.said, tree, text)
            if any(one.start <= item.said.start < one.end for one in before):
                return other
        return item

    def _of_each(self, asked: Query, scored: ScoredQuotables, answers: float) -> list[int]:
        """Return the best statement of each document that may answer, if more than one may.

        Beside an answer that would pass they must be likely enough to pass themselves.
        """
        of = [item.passage["document"] for item in scored.quotables]
        if len(documents := dict.fromkeys(of)) < 2:
            return []
        least = self._least.passed if answers >= self._least.passed else EACH
        found: list[int] = []
        for document in documents:
            own = [i for i, name in enumerate(of) if name == document]
            alone = scored.only(own)
            if probability_found(read_features(asked, alone, self._sources)) >= least:
                found.append(own[int(alone.best.argmax())])
        return found if len(found) > 1 else []

    def _unanswered(self, asked: Query, passages: list[Passage]) -> list[str]:
        """Return the parts of a question that, asked alone, the passages would not answer."""
        if len(asked.parts) < 2:
            return []
        alone = [query_of_part(part, self._sources) for part in asked.parts]
        scored = [score_quotables(part, passages, self._sources) for part in alone]
        return [
            part.text
            for part, held in zip(alone, scored, strict=True)
            if held
            and probability_there(read_features(part, held.among_the_best, self._sources))
            < self._least.there
        ]


def _within(question: ParsedQuestion, names: list[str]) -> ParsedQuestion:
    """Return a question as it is asked within the sections that it names: without their names."""
    outside = dict.fromkeys(filter(None, names), "")
    bare = inside(question["inside"], outside)
    parts = [inside(part["text"], outside) for part in question["parts"]]
    if not outside or not bare or not all(parts):
        return question
    return {**question, "inside": bare, "parts": [part_of(part) for part in parts]}
