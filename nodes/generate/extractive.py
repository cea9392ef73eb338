"""The embedded generator: sentences of the passages selected, ordered and cited."""

import re
from itertools import islice

from lexloop.core.running import computing
from lexloop.core.types import (
    ABSTENTION,
    MOST_POINTED,
    Advice,
    Citation,
    Draft,
    ParsedQuestion,
    Passage,
    Pointed,
    PointedUnit,
    Triplet,
)
from lexloop.documents.structure.statements import Statement, sentence_before
from lexloop.documents.structure.telling import groups
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.sentences import sentence_spans
from lexloop.documents.text.tokens import tokenize
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.answerable import probability_found, probability_there, read_features
from lexloop.nodes.generate.citations import cite
from lexloop.nodes.generate.quoting import LEFT_OUT, quote_all
from lexloop.nodes.generate.selection import Chosen, Lengths, Quotable, score_quotables, select
from lexloop.nodes.markers import unmarked
from lexloop.nodes.pointing import unit_at
from lexloop.nodes.relevance import Query, coverage, query_of, query_of_part
from lexloop.store.view import View

MIN_THERE, MIN_NEAR, SURE = 0.4, 0.1, 0.75
"""The least probabilities that the documents answer for an answer to be given, and for what comes
near one to be shown; and that the passages do for the best alone to be quoted."""
_NEAR = 2
_LAST_MARKER = re.compile(r" \[(\d+)\]$")
_SHORT = 300
"""A provision of so few words is quoted whole, whatever is asked of it."""
_POINT, _OF_SEVERAL = 0.1, 0.3
"""The share of a question, weighted by idf, that one point must add to the words leading into its
list for the question to ask for that point: where one thing is asked, and where several are."""
_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""Excludes a "this" by which a text speaks of itself: "This Act", "In this section"."""
_TURNS_FROM = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise)\b", re.IGNORECASE
)
_MOST_ANTECEDENTS = 3
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise|therefore|thereafter|accordingly"
    r"|similarly|likewise|in addition|for (?:this|that|these|those|such) \w+"
    rf"|(?:in|to|under|by|on) (?:(?:such|that|those)\b|(?:this|these)\b{_ITSELF})"
    rf"|(?:this|these)\b{_ITSELF}|that|those|such|it|they|he|she"
    r"|the (?:latter|former|same))\b",
    re.IGNORECASE,
)


class ExtractiveGenerator:
    """A generator that answers in the documents' own words, or abstains."""

    instructions = ""

    def __init__(self, sources: View, lengths: Lengths | None = None) -> None:
        self._sources, self._lengths = sources, lengths or Lengths()

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

        A longer question is answered from statements of what it points to. It abstains where the
        features are against an answer.
        """
        units = pointed["units"] if pointed else []
        only = pointed is not None and pointed["only"]
        defined = any(part["term"] for part in question["parts"])
        if units and (only or (not defined and self._is_quotable(units))):
            return self._quoted(units)
        draft = self._selected(question, passages, units)
        if draft["abstained"] and not (quoted := self._quoted(units))["abstained"]:
            return quoted
        return draft

    def _is_quotable(self, units: list[PointedUnit]) -> bool:
        """Return whether units are best quoted whole: short ones, and the parts of provisions."""
        words = 0
        for unit in units:
            tree = self._sources.tree_of(unit["document"])
            text = self._sources.text_of(unit["document"])
            if tree is None or text is None or groups(tree, unit["place"]):
                return False
            words += len(text[unit["start"] : unit["end"]].split())
        parts = all(unit["label"].endswith(")") for unit in units)
        return words <= (self._lengths.whole if parts else _SHORT)

    def _quoted(self, units: list[PointedUnit]) -> Draft:
        lines, citations = quote_all(units, self._sources, self._lengths.whole)
        return (
            drafted("\n".join(lines), citations, told=lines) if citations else drafted(ABSTENTION)
        )

    def _selected(
        self, question: ParsedQuestion, passages: list[Passage], units: list[PointedUnit]
    ) -> Draft:
        asked = query_of(question, self._sources, passages)
        scored = score_quotables(asked, passages, self._sources)
        if scored is not None and units:
            scored = scored.within(units)
        if scored is None or not any(map(self._sources.knows, asked.all_terms)):
            return drafted(ABSTENTION)
        features = read_features(asked, scored, self._sources)
        there, answers = probability_there(features), probability_found(features)
        sure = answers >= SURE or (any(asked.definitions) and not features.undefined)
        chosen = select(asked, scored, self._lengths, sure=sure)
        if there < MIN_THERE:
            # what comes nearest to an answer, one citation a provision
            nearest = [*chosen.best, *chosen.more][: _NEAR if there >= MIN_NEAR else 0]
            near = [self._cited(item, [item.said], n) for n, item in enumerate(nearest, 1)]
            return drafted(ABSTENTION, near=near)
        draft = self._draft(asked, chosen, sure)
        return {**draft, "answers": answers, "unanswered": self._unanswered(asked, passages)}

    def _unanswered(self, asked: Query, passages: list[Passage]) -> list[str]:
        """Return the parts of a question that, asked alone, the passages would not answer."""
        if len(asked.parts) < 2:
            return []
        alone = [query_of_part(part, self._sources) for part in asked.parts]
        scored = [score_quotables(part, passages, self._sources) for part in alone]
        return [
            part.text
            for part, held in zip(alone, scored, strict=True)
            if held and probability_there(read_features(part, held, self._sources)) < MIN_THERE
        ]

    def _draft(self, asked: Query, chosen: Chosen, sure: bool) -> Draft:
        """Write the chosen evidence as an answer; lists that are asked for as a whole come whole.

        Sources are numbered in the order of use, each once. What a list is headed and what of it is
        left out is told by code.
        """
        lines: list[str] = []
        told: list[str] = []
        citations: list[Citation] = []
        lists = [list_asked(item, asked, self._sources) for item in chosen.best]
        more = [] if any(lists) and sure else chosen.more
        room = self._lengths.whole
        quoted: list[PointedUnit] = []
        for item, units in [*zip(chosen.best, lists, strict=True), *((i, []) for i in more)]:
            document = item.passage["document"]
            if any(_within(item.said, document, citation) for citation in citations):
                continue
            if units:
                quoted += units
                listed, cited = quote_all(units, self._sources, room, len(citations))
                room = max(1, room - sum(len(line.split()) for line in listed))
                lines += listed
                # the heading of a list, and what of it is left out
                told += [x for x in listed if x.startswith(LEFT_OUT) or not _LAST_MARKER.search(x)]
                citations += cited
                continue
            n = len(citations) + 1
            said = with_antecedent(item, self._sources)
            if citations:  # what the line before says already is not said again
                said = [one for one in said if not _within(one, document, citations[-1])]
            text = unmarked(" ".join(statement.text for statement in said))
            text = text[:1].upper() + text[1:]
            # a marker after each sentence, so that none stands uncited
            lines.append(" ".join(f"{text[a:b]} [{n}]" for a, b in sentence_spans(text)))
            citations.append(self._cited(item, said, n))
        holding = (chunk_id for unit in quoted for chunk_id in self._sources.chunks_over(unit))
        chunks = dict.fromkeys(islice(holding, MOST_POINTED))
        return drafted("\n".join(lines), citations, told=told, quoted=[*chunks])

    def _cited(self, item: Quotable, said: list[Statement], n: int) -> Citation:
        start, document = said[0].start, item.passage["document"]
        if start >= item.passage["start"]:
            return cite(item.passage, said, n)
        label = item.said.label if said[0].label == item.said.label else item.passage["section"]
        return {**self._sources.cited(document, start, said[-1].end, label), "n": n}


def _within(said: Statement, document: str, citation: Citation) -> bool:
    inside = citation["start"] <= said.start and said.end <= citation["end"]
    return inside and document == citation["document"]


def list_asked(item: Quotable, asked: Query, sources: View) -> list[PointedUnit]:
    """Return the units whose list a question asks for as a whole; none where it asks for none.

    It does where the words that lead into the list, with the headings above them, hold of the
    question nearly all that a point of it holds.
    """
    said, document = item.said, item.passage["document"]
    tree = sources.tree_of(document)
    if tree is None or (place := tree.at(said.start)) < 0 or tree.units[place].kind == "row":
        return []
    several = any(part["several"] for part in asked.parts)
    whole = said.points > 0 or (bool(tree.items(place)) and several)
    if not whole and said.leads:
        place = tree.at(said.leads[-1][0])
    elif not whole:
        return []
    if whole or (tree.units[place].kind == "definition" and any(asked.definitions)):
        return _units(document, tree, place)
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    led = " ".join([said.lead, *headings])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {said.own}"))
    gain = coverage(asked.all_terms, with_own) - coverage(asked.all_terms, before)
    return _units(document, tree, place) if gain < (_OF_SEVERAL if several else _POINT) else []


def _units(document: str, tree: Tree, place: int) -> list[PointedUnit]:
    """Return a paragraph with its list, or the items of the list that a provision leads into."""
    divides = tree.units[place].kind in ("provision", "annex", "part")
    places = tree.items(place) if divides else [place]
    return [unit_at(document, tree, one) for one in places]


def with_antecedent(item: Quotable, sources: View) -> list[Statement]:
    """Return the statement after the one before it where its first word points back to that.

    One that turns from the sentence before it ("However, ...") comes after that one, and so on.
    """
    said, points_back = [item.said], _POINTS_BACK
    while len(said) <= _MOST_ANTECEDENTS and points_back.match(said[0].own):
        before = _before(said[0], item, sources)
        if before is None:
            break
        said, points_back = [before, *said], _TURNS_FROM
    return said


def _before(said: Statement, item: Quotable, sources: View) -> Statement | None:
    if said.leads:
        return None
    document = item.passage["document"]
    found, _ = sources.statements(item.passage["id"])
    before = [other for other in found if other.end <= said.start and not other.points]
    if before:
        return before[-1]
    tree, text = sources.tree_of(document), sources.text_of(document)
    if tree is None or text is None or (place := tree.at(said.start)) < 0:
        return None
    return sentence_before(tree, text, place)
