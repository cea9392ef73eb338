"""An extractive answer as it is written: quotes with their markers, and what code says of them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from lexloop.core.types import MOST_POINTED, Citation, Draft, PointedUnit
from lexloop.documents.chunks.carrying import POINTS_BACK, carried_from
from lexloop.documents.chunks.limits import limits_of, notes_of
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.telling import heading_span
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import sentence_spans, tokenize
from lexloop.nodes.answering import repeats
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.quoting import LEFT_OUT, cite, quote_all
from lexloop.nodes.generate.score import Quotable
from lexloop.nodes.markers import unmarked
from lexloop.nodes.question.provisions import unit_at
from lexloop.nodes.relevance import Query, coverage
from lexloop.store.view import View

LIMITED, NOTED = "Except:", "Footnote:"
"""The lines before what limits the statements above, and before a footnote that hangs on them."""
_LAST_MARKER = re.compile(r" \[(\d+)\]$")
_MOST_FOLLOWED, _MOST_ADDED = 2, 2
"""How many units are quoted that a statement leaves the answer to, and how many words of its own it
may have."""
_POINT, _OF_SEVERAL = 0.1, 0.3
"""The share of a question, weighted by idf, that one point must add to the words leading into its
list for the question to ask for that point: if one thing is asked, and if several are."""
SHORT = 120
"""The most words of a paragraph that is quoted whole."""
_BETWEEN = re.compile(r"[\W\d_]+|(?<![^\W\d_])[a-z]{1,4}(?![^\W\d_])")
"""Blanks and the mark of a paragraph: what may stand between two that are quoted together."""
_MOST_AFTER = 3
"""The most sentences quoted behind one that they refer to."""


class Writer:
    """Writes statements as an answer; sources are numbered in the order of use, each once.

    Args:
        asked: The question.
        sources: The documents.
        room: How many words of provisions and lists are quoted whole.
    """

    def __init__(self, asked: Query, sources: View, room: int) -> None:
        self._asked, self._sources, self._room = asked, sources, room
        self._lines: list[str] = []
        self._told: list[str] = []
        self._citations: list[Citation] = []
        self._units: list[PointedUnit] = []
        self._led = self._named = ""

    def write(self, best: Sequence[Quotable], more: Sequence[Quotable]) -> Draft:
        """Return the draft; lists that are asked for as a whole come whole.

        Statements of a document stand together. What a list is headed and what of it is left out is
        told by code.

        Args:
            best: The best statement for each part of the question, and of each document.
            more: Further statements, of which no list is quoted whole.
        """
        quotes = [(item, list_asked(item, self._asked, self._sources)) for item in best]
        quotes += [(item, []) for item in more]
        names = list(dict.fromkeys(item.passage["document"] for item, _ in quotes))
        quotes.sort(key=lambda quote: names.index(quote[0].passage["document"]))
        for item, units in quotes:
            document = item.passage["document"]
            if any(_within(item.said, document, citation) for citation in self._citations):
                continue
            if units:
                self._quote_whole(units)
                said = [item.said]
            else:
                said = self._quote(item, several=len(names) > 1)
                self._follow(said, document)
            self._limit(said, document)
        holding = (chunk_id for unit in self._units for chunk_id in self._sources.chunks_over(unit))
        chunks = dict.fromkeys(islice(holding, MOST_POINTED))
        answer = "\n".join(self._lines)
        return drafted(answer, self._citations, told=self._told, quoted=[*chunks])

    def _quote(self, item: Quotable, several: bool) -> list[Statement]:
        """Quote a statement with its paragraph; return what is quoted of it."""
        document = item.passage["document"]
        said = whole = paragraph_of(item, self._sources)
        if self._citations:  # what the line before says already is not said again
            said = [one for one in said if not _within(one, document, self._citations[-1])]
        if item.question != self._led:  # the line before stands under it, too
            said = self._with_question(item, said)
        self._led = item.question
        if said[0].start < item.passage["start"]:  # it is judged by what it is quoted from
            self._units += _unit_of(document, said[0], self._sources)
        if several and document != self._named:
            self._tell(" ".join(f"In {document}:".split()))
        self._named = document
        self._say(said, self._cited(item, said))
        return whole

    def _quote_whole(self, units: list[PointedUnit]) -> None:
        listed, cited = quote_all(units, self._sources, self._room, len(self._citations))
        self._named = units[0]["document"]  # it stands in the heading of the list
        self._room = max(1, self._room - sum(len(line.split()) for line in listed))
        self._units += units
        self._lines += listed
        # the heading of a list, and what of it is left out
        self._told += [x for x in listed if x.startswith(LEFT_OUT) or not _LAST_MARKER.search(x)]
        self._citations += cited

    def _follow(self, said: Sequence[Statement], document: str) -> None:
        """Quote what a statement leaves the answer to: "The charges are those of Schedule 1."."""
        tree = self._sources.tree_of(document)
        if tree is None:
            return
        asked = frozenset(self._asked.all_terms)
        places = [place for one in said for place in _left_to(one, asked, tree)]
        units = [unit_at(document, tree, place) for place in dict.fromkeys(places)]
        if units and len(units) <= _MOST_FOLLOWED:
            self._quote_whole(units)

    def _limit(self, said: Sequence[Statement], document: str) -> None:
        """Quote behind a provision its footnotes and what limits it."""
        tree, text = self._sources.tree_of(document), self._sources.text_of(document)
        if tree is None or text is None:
            return
        self._quote_under(NOTED, notes_of(said, tree, text), document)
        limits = limits_of(said[0].start, said[-1].end, tree, text)
        self._quote_under(LIMITED, limits, document)

    def _quote_under(self, line: str, found: Sequence[Statement], document: str) -> None:
        cited = self._citations
        limits = [one for one in found if not any(_within(one, document, c) for c in cited)]
        if limits:
            self._tell(line)
        for limit in limits:
            [unit] = _unit_of(document, limit, self._sources)
            tree = self._sources.tree_of(document)
            self._units.append(unit)
            if tree is not None and tree.items(unit["place"]):
                self._quote_whole([unit])
            else:
                place = limit.start, limit.end, limit.label
                self._say([limit], self._sources.cited(document, *place))

    def _say(self, said: Sequence[Statement], citation: Citation) -> None:
        """Add a line of statements, with a marker after each sentence so that none is uncited."""
        n = len(self._citations) + 1
        text = unmarked(" ".join(statement.text for statement in said))
        text = text[:1].upper() + text[1:]
        self._lines.append(" ".join(f"{text[a:b]} [{n}]" for a, b in sentence_spans(text)))
        self._citations.append({**citation, "n": n})

    def _tell(self, line: str) -> None:
        self._told.append(unmarked(line))
        self._lines.append(unmarked(line))

    def _with_question(self, item: Quotable, said: list[Statement]) -> list[Statement]:
        """Lead a statement by the question of the document that it answers, if another was asked.

        "No." may be right of that one alone.
        """
        question, before = item.question, item.before
        if not question or said[0].leads or repeats(question, self._asked.text):
            return said
        document = item.passage["document"]
        span = (before.start, before.end) if before else self._heading(document, said[0])
        return [replace(said[0], lead=question, leads=(span,)), *said[1:]] if span else said

    def _heading(self, document: str, said: Statement) -> tuple[int, int] | None:
        tree, text = self._sources.tree_of(document), self._sources.text_of(document)
        if tree is None or text is None or (at := tree.at(said.start)) < 0:
            return None
        headed = (p for p in (at, *tree.above(at)) if tree.units[p].heading == said.label)
        return next((heading_span(tree, place, text) for place in headed), None)

    def _cited(self, item: Quotable, said: list[Statement]) -> Citation:
        start, document = said[0].start, item.passage["document"]
        if start >= item.passage["start"]:
            return cite(item.passage, said, 0)
        label = item.said.label if said[0].label == item.said.label else item.passage["section"]
        return self._sources.cited(document, start, said[-1].end, label)


def _left_to(said: Statement, asked: frozenset[str], tree: Tree) -> list[int]:
    """Return the places of the units that a statement refers to and adds nothing to.

    It has no number and but two words that are neither of the question nor of the references, nor
    head what is referred to: "the ones set out in Annex B".
    """
    references = [one for one in find_references(said.own) if not (one.itself or one.here)]
    rest = said.own
    for one in reversed(references):
        rest = f"{rest[: one.start]} {rest[one.end :]}"
    terms = frozenset(tokenize(rest))
    if said.points or not terms & asked or any(map(str.isdecimal, rest)):
        return []
    at = tree.at(said.start)
    around = {at, *tree.above(at)} if at >= 0 else set[int]()
    found = [place for one in references for place in tree.find(one, at) if place not in around]
    headed = frozenset(tokenize(" ".join(tree.units[place].heading for place in found)))
    return found if len(terms - asked - headed) <= _MOST_ADDED else []


def _unit_of(document: str, said: Statement, sources: View) -> list[PointedUnit]:
    tree = sources.tree_of(document)
    place = tree.at(said.start) if tree is not None else -1
    return [unit_at(document, tree, place)] if tree is not None and place >= 0 else []


def _within(said: Statement, document: str, citation: Citation) -> bool:
    inside = citation["start"] <= said.start and said.end <= citation["end"]
    return inside and document == citation["document"]


# carries, by benchmarks/rules.py, all of whole lists, .05 of LL144's correct answers
def list_asked(item: Quotable, asked: Query, sources: View) -> list[PointedUnit]:
    """Return the units whose whole list a question asks for; empty if it asks for no list.

    It does if the words that lead into the list, with the headings above them, hold of the
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


def paragraph_of(item: Quotable, sources: View) -> list[Statement]:
    """Return the statements that are quoted together, in the order of the text.

    These are all of a short paragraph, and of a longer one the statement with the sentences behind
    it that point back to it. What points back to the paragraph before comes after its last
    sentence. A list and a row of a table stand alone.
    """
    said, tree = item.said, sources.tree_of(item.passage["document"])
    place = tree.at(said.start) if tree is not None else -1
    if tree is None or place < 0 or said.points or tree.units[place].kind == "row":
        found = [said]
    else:
        own = _own(item, tree, place, sources)
        short = sum(len(one.own.split()) for one in own) <= SHORT
        found = own if short else _pointing_back(own, own.index(said))
    return [*_before(found[0], item, sources), *found]


def _own(item: Quotable, tree: Tree, place: int, sources: View) -> list[Statement]:
    """Return the statements of a unit's own words that a passage has.

    If each line of the unit ends with a sentence, a line is a paragraph; so is what stands
    between two questions.
    """
    said, document = item.said, item.passage["document"]
    stated, _ = sources.statements(item.passage["id"])
    own = [one for one in stated if not one.points and tree.at(one.start) == place]
    text = sources.text_of(document)
    if said not in own or text is None:
        return [said]
    own = _between_questions(own, own.index(said))
    if any("\n" in text[one.start : one.end].strip() for one in own):
        return own
    begin, end = text.rfind("\n", 0, said.start), text.find("\n", said.end)
    return [one for one in own if begin < one.start and (one.end <= end or end < 0)]


def _between_questions(own: Sequence[Statement], at: int) -> list[Statement]:
    first, last = at, at + 1
    while first and not own[first - 1].own.endswith("?"):
        first -= 1
    while last < len(own) and not own[last].own.endswith("?"):
        last += 1
    return [*own[first:last]]


def _pointing_back(own: Sequence[Statement], at: int) -> list[Statement]:
    """Return a statement with those before it that it points back to, and behind it the reverse."""
    first, last = at, at
    while first and POINTS_BACK.match(own[first].own):
        first -= 1
    while last + 1 < len(own) and last - at < _MOST_AFTER and POINTS_BACK.match(own[last + 1].own):
        last += 1
    return [*own[first : last + 1]]


def _before(said: Statement, item: Quotable, sources: View) -> list[Statement]:
    """Return what a statement carries on from if that stands right before it."""
    tree = sources.tree_of(item.passage["document"])
    text = sources.text_of(item.passage["document"])
    if tree is None or text is None:
        return []
    before = carried_from(said, tree, text)
    beside = before and not _BETWEEN.sub("", text[before[-1].end : said.start])
    return before if beside else []
