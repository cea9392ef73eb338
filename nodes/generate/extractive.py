"""The embedded generator: selects, judges, orders and cites statements of the passages."""

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
from lexloop.nodes.relevance import Query, query_of
from lexloop.store.view import View

MIN_NEAR = 0.1
"""The least probability that the documents answer, for the nearest statements to be shown."""
EACH = 0.3
"""The least probability that a document's best statement answers, for it to be quoted beside those
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
        """Quote the provisions that the question points to, or the most relevant statements.

        A question that asks for more than a provision is answered from statements within it.
        Abstain if an answer is unlikely to be right.
        """
        if pointed is None:
            return self._selected(question, passages, [], [])
        units = pointed["units"]
        if units and pointed["only"]:
            return self._quoted(units)
        question = _within(question, pointed.get("names", []))
        draft = self._selected(question, passages, units, pointed.get("others", []))
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
        query = query_of(question, self._sources)
        scored = score_quotables(query, passages, self._sources)
        if scored is not None and units:
            scored = scored.within(units)
        if scored is not None and others:
            scored = scored.within(others, inside=False)
        if scored is None:
            return drafted(ABSTENTION)
        if not any(map(self._sources.knows, query.all_terms)):
            return drafted(ABSTENTION, lacks=lacks(query, scored, self._sources))
        features = read_features(query, scored.among_the_best, self._sources)
        there, answers = probability_there(features), probability_found(features)
        defined = any(query.definitions)
        enough = answers >= self._least.passed or (defined and not features.undefined)
        alone = units or question["called"] or defined
        each = [] if alone else self._best_of_each(query, scored, answers)
        each = each if len(each) > 1 else []
        chosen = select(query, scored, self._lengths, enough=enough, each=each)
        if there < self._least.there or answers < self._least.given:
            nearest = [*chosen.best, *chosen.more][: _NEAR if there >= MIN_NEAR else 0]
            near = [cite(item.passage, [item.statement], n) for n, item in enumerate(nearest, 1)]
            return drafted(ABSTENTION, near=near, lacks=lacks(query, scored, self._sources))
        # if whole lists answer, nothing is quoted beside them
        whole = enough and any(list_asked(item, query, self._sources) for item in chosen.best)
        best = [self._continued(item, scored) for item in chosen.best]
        among = None if self._lengths.beyond else passages
        writer = Writer(query, self._sources, self._lengths.whole, among)
        draft = writer.write(best, [] if whole else chosen.more)
        lacking = without_fact(query, draft["answer"])
        return {
            **draft,
            "answers": answers,
            "unanswered": [*dict.fromkeys([*lacking, *self._unanswered(question, passages)])],
            "lacks": lacks(query, scored, self._sources, given=True),
        }

    def _continued(self, item: Quotable, scored: ScoredQuotables) -> Quotable:
        """Return an answering statement that continues a statement, or the statement itself.

        "A person who sells data commits an offence", and the next paragraph has the penalty.
        """
        document = self._sources.document(item.passage["document"])
        answers = scored.answers.max(axis=0)
        for other, log_odds in zip(scored.quotables, answers.tolist(), strict=True):
            beside = other.passage["document"] == document.name and not other.statement.points
            if log_odds > 0 and beside:
                before = carried_from(other.statement, document.tree, document.text)
                if any(each.start <= item.statement.start < each.end for each in before):
                    return other
        return item

    def each(self, question: ParsedQuestion, passages: list[Passage]) -> dict[str, str]:
        """Return the best statement of each document that may answer."""
        query = query_of(question, self._sources)
        scored = score_quotables(query, passages, self._sources)
        if scored is None:
            return {}
        answers = probability_found(read_features(query, scored.among_the_best, self._sources))
        best = [scored.quotables[i] for i in self._best_of_each(query, scored, answers)]
        return {item.passage["document"]: item.text for item in best}

    def _best_of_each(self, query: Query, scored: ScoredQuotables, answers: float) -> list[int]:
        """Return the best statement of each document that may answer.

        If an answer would pass, they must be likely enough to pass themselves.
        """
        places: dict[str, list[int]] = {}
        for place, item in enumerate(scored.quotables):
            places.setdefault(item.passage["document"], []).append(place)
        least = self._least.passed if answers >= self._least.passed else EACH
        best: list[int] = []
        for own in places.values():
            alone = scored.only(own)
            if probability_found(read_features(query, alone, self._sources)) >= least:
                best.append(own[int(alone.best.argmax())])
        return best

    def _unanswered(self, question: ParsedQuestion, passages: list[Passage]) -> list[str]:
        """Return the parts of a question that the passages would not answer if asked alone."""
        if len(question["parts"]) < 2:
            return []
        alone: list[ParsedQuestion] = [
            {**question, "inside": part["text"], "parts": [part]} for part in question["parts"]
        ]
        parts = [query_of(part, self._sources) for part in alone]
        scored = [score_quotables(part, passages, self._sources) for part in parts]
        return [
            part.text
            for part, its in zip(parts, scored, strict=True)
            if its
            and probability_there(read_features(part, its.among_the_best, self._sources))
            < self._least.there
        ]


def _within(question: ParsedQuestion, names: list[str]) -> ParsedQuestion:
    """Return a question without the names of the sections that it is asked within."""
    outside = dict.fromkeys(filter(None, names), "")
    bare = inside(question["inside"], outside)
    parts = [inside(part["text"], outside) for part in question["parts"]]
    if not outside or not bare or not all(parts):
        return question
    return {**question, "inside": bare, "parts": [part_of(part) for part in parts]}
