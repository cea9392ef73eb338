"""Writing an extractive answer: quotes with their markers, and the lines that code adds."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from lexloop.core.types import MOST_POINTED, Citation, Draft, Passage, PointedUnit
from lexloop.documents.chunks.carrying import POINTS_BACK, carried_from
from lexloop.documents.chunks.limits import limits_of, notes_of
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.telling import heading_span
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import sentence_spans, term_set
from lexloop.nodes.answering import repeats
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.quoting import LEFT_OUT, cite, quote_all
from lexloop.nodes.generate.score import Quotable, lies_in
from lexloop.nodes.markers import unmarked
from lexloop.nodes.question.provisions import unit_at
from lexloop.nodes.relevance import Query, coverage
from lexloop.store.view import View

LIMITED, NOTED = "Except:", "Footnote:"
"""The lines before limits of the statements above, and before their footnotes."""
_LAST_MARKER = re.compile(r" \[(\d+)\]$")
_MOST_FOLLOWED, _MOST_ADDED = 2, 2
"""The most units quoted because a statement refers to them for the answer, and the most words that
such a statement may add."""
_POINT, _OF_SEVERAL = 0.1, 0.3
"""The idf-weighted share of a question that a point must add to its lead-in, for the question
to ask for that point alone: if one thing is asked for, and if several are."""
SHORT = 120
"""The most words of a paragraph that is quoted as a whole."""
_BETWEEN = re.compile(r"[\W\d_]+|(?<![^\W\d_])[a-z]{1,4}(?![^\W\d_])")
"""Blanks and paragraph marks: what may stand between sentences that are quoted together."""
_MOST_AFTER = 3
"""The most sentences quoted after one that they refer to."""


class Writer:
    """Writes statements as an answer; sources are numbered in the order of use, each once.

    Args:
        query: The question.
        sources: The documents.
        room: The most words of provisions and lists that are quoted as a whole.
        among: The passages that all quotes must lie in, or None if they may lie anywhere.
    """

    def __init__(
        self, query: Query, sources: View, room: int, among: Sequence[Passage] | None = None
    ) -> None:
        self._query, self._sources, self._room, self._among = query, sources, room, among
        self._lines: list[str] = []
        self._told: list[str] = []
        self._citations: list[Citation] = []
        self._units: list[PointedUnit] = []
        self._last_question = self._last_document = ""

    def write(self, best: Sequence[Quotable], more: Sequence[Quotable]) -> Draft:
        """Return the draft; lists that the question asks for are quoted as a whole.

        Statements of a document are grouped. The headings of lists and the lines that name what is
        left out are written by code, and listed as such in the draft.

        Args:
            best: The best statement for each part of the question, and of each document.
            more: Further statements; none is quoted as a whole list.
        """
        quotes = [
            (item, self._allowed(list_asked(item, self._query, self._sources))) for item in best
        ]
        quotes += [(item, []) for item in more]
        names = list(dict.fromkeys(item.passage["document"] for item, _ in quotes))
        quotes.sort(key=lambda quote: names.index(quote[0].passage["document"]))
        for item, units in quotes:
            name = item.passage["document"]
            if any(lies_in(item.statement, name, citation) for citation in self._citations):
                continue
            document, statements = self._sources.document(name), [item.statement]
            if units:
                self._quote_whole(units)
            else:
                statements = self._quote(item, several=len(names) > 1)
                self._follow(statements, document)
            self._limit(statements, document)
        beyond = self._units if self._among is None else []
        over = (chunk_id for unit in beyond for chunk_id in self._sources.chunks_over(unit))
        chunk_ids = dict.fromkeys(islice(over, MOST_POINTED))
        answer = "\n".join(self._lines)
        return drafted(answer, self._citations, told=self._told, quoted=[*chunk_ids])

    def _allowed(self, units: list[PointedUnit]) -> list[PointedUnit]:
        """Return the units, or nothing if one of them lies outside the passages."""
        inside = all(
            self._may_quote(unit["document"], unit["start"], unit["end"]) for unit in units
        )
        return units if inside else []

    def _may_quote(self, document: str, start: int, end: int) -> bool:
        return self._among is None or any(
            passage["document"] == document and passage["start"] <= start and end <= passage["end"]
            for passage in self._among
        )

    def _quote(self, item: Quotable, several: bool) -> list[Statement]:
        """Quote a statement with its paragraph, and return the paragraph's statements."""
        name = item.passage["document"]
        statements = paragraph = [
            each
            for each in paragraph_of(item, self._sources)
            if each == item.statement or self._may_quote(name, each.start, each.end)
        ]
        if self._citations:  # do not repeat what the line before quotes
            last = self._citations[-1]
            statements = [each for each in statements if not lies_in(each, name, last)]
        if item.question != self._last_question:
            statements = self._with_question(item, statements)
        self._last_question = item.question
        if statements[0].start < item.passage["start"]:  # the judge reads what is quoted
            self._units += _unit_of(self._sources.document(name), statements[0])
        if several and name != self._last_document:
            self._tell(" ".join(f"In {name}:".split()))
        self._last_document = name
        self._say(statements, self._cited(item, statements))
        return paragraph

    def _quote_whole(self, units: list[PointedUnit]) -> None:
        lines, citations = quote_all(units, self._sources, self._room, len(self._citations))
        self._last_document = units[0]["document"]  # the list's heading names it
        self._room = max(1, self._room - sum(len(line.split()) for line in lines))
        self._units += units
        self._lines += lines
        # the heading of a list, and the line that names what is left out
        self._told += [x for x in lines if x.startswith(LEFT_OUT) or not _LAST_MARKER.search(x)]
        self._citations += citations

    def _follow(self, statements: Sequence[Statement], document: Document) -> None:
        """Quote the units that hold the answer: "The charges are those of Schedule 1."."""
        asked = frozenset(self._query.all_terms)
        places = [at for each in statements for at in _referred_to(each, asked, document.tree)]
        found = [unit_at(document.name, document.tree, place) for place in dict.fromkeys(places)]
        units = self._allowed(found)
        if units and len(units) <= _MOST_FOLLOWED:
            self._quote_whole(units)

    def _limit(self, statements: Sequence[Statement], document: Document) -> None:
        """Quote a provision's footnotes and limits below it."""
        tree, text = document.tree, document.text
        limits = limits_of(statements[0].start, statements[-1].end, tree, text)
        self._quote_under(NOTED, notes_of(statements, tree, text), document)
        self._quote_under(LIMITED, limits, document)

    def _quote_under(self, line: str, statements: Sequence[Statement], document: Document) -> None:
        cited, name = self._citations, document.name
        limits = [
            each
            for each in statements
            if not any(lies_in(each, name, c) for c in cited)
            and self._may_quote(name, each.start, each.end)
        ]
        if limits:
            self._tell(line)
        for limit in limits:
            [unit] = _unit_of(document, limit)
            self._units.append(unit)
            if document.tree.items(unit["place"]) and self._allowed([unit]):
                self._quote_whole([unit])
            else:
                span = limit.start, limit.end, limit.label
                self._say([limit], self._sources.cited(name, *span))

    def _say(self, statements: Sequence[Statement], citation: Citation) -> None:
        """Add a line of statements, with a marker after each sentence so that all are cited."""
        n = len(self._citations) + 1
        text = unmarked(" ".join(statement.text for statement in statements))
        text = text[:1].upper() + text[1:]
        self._lines.append(" ".join(f"{text[a:b]} [{n}]" for a, b in sentence_spans(text)))
        self._citations.append({**citation, "n": n})

    def _tell(self, line: str) -> None:
        self._told.append(unmarked(line))
        self._lines.append(unmarked(line))

    def _with_question(self, item: Quotable, statements: list[Statement]) -> list[Statement]:
        """Put the document's question before its answer, unless the user asked the same.

        "No." may be right as an answer to that question alone.
        """
        question, before, first = item.question, item.before, statements[0]
        if not question or first.leads or repeats(question, self._query.text):
            return statements
        document = self._sources.document(item.passage["document"])
        span = (before.start, before.end) if before else _heading_span(document, first)
        return (
            [replace(first, lead=question, leads=(span,)), *statements[1:]] if span else statements
        )

    def _cited(self, item: Quotable, statements: list[Statement]) -> Citation:
        first, passage = statements[0], item.passage
        if first.start >= passage["start"]:
            return cite(passage, statements, 0)
        label = first.label if first.label == item.statement.label else passage["section"]
        return self._sources.cited(passage["document"], first.start, statements[-1].end, label)


def _heading_span(document: Document, statement: Statement) -> tuple[int, int] | None:
    tree = document.tree
    if (at := tree.at(statement.start)) < 0:
        return None
    headed = (p for p in (at, *tree.above(at)) if tree.units[p].heading == statement.label)
    return next((heading_span(tree, place, document.text) for place in headed), None)


def _referred_to(statement: Statement, asked: frozenset[str], tree: Tree) -> list[int]:
    """Return the places of the units that a statement refers to instead of answering itself.

    Such a statement has no number, and at most two words that are in neither the question nor the
    references nor the headings referred to: "the ones set out in Annex B".
    """
    references = [ref for ref in find_references(statement.own) if not (ref.itself or ref.here)]
    rest = statement.own
    for reference in reversed(references):
        rest = f"{rest[: reference.start]} {rest[reference.end :]}"
    terms = term_set(rest)
    if statement.points or not terms & asked or any(map(str.isdecimal, rest)):
        return []
    at = tree.at(statement.start)
    lineage = {at, *tree.above(at)} if at >= 0 else set[int]()
    places = [p for reference in references for p in tree.find(reference, at) if p not in lineage]
    headed = term_set(" ".join(tree.units[place].heading for place in places))
    return places if len(terms - asked - headed) <= _MOST_ADDED else []


def _unit_of(document: Document, statement: Statement) -> list[PointedUnit]:
    place = document.tree.at(statement.start)
    return [unit_at(document.name, document.tree, place)] if place >= 0 else []


# carries, by benchmarks/rules.py, all of whole lists, .05 of LL144's correct answers
def list_asked(item: Quotable, query: Query, sources: View) -> list[PointedUnit]:
    """Return the units of the list that a question asks for; empty if it asks for no list.

    It asks for the list if the lead-in and the headings above it cover nearly as much of the
    question as they do together with one point.
    """
    statement, name = item.statement, item.passage["document"]
    tree = sources.document(name).tree
    if (place := tree.at(statement.start)) < 0 or tree.units[place].kind == "row":
        return []
    several = any(part["several"] for part in query.parts)
    whole = statement.points > 0 or (bool(tree.items(place)) and several)
    if not whole and not statement.leads:
        return []
    if statement.leads:
        outer = tree.at(statement.leads[-1][0])
        asked = tree.units[outer].kind == "definition" and any(query.definitions)
        if asked or _gain(statement, outer, query, tree) < (_OF_SEVERAL if several else _POINT):
            place = outer
        elif not whole:
            return []
    if {tree.units[p].kind for p in tree.items(place)} == {"definition"}:
        return []  # no question asks for all the definitions of a list at once
    # a paragraph with its list, or the items of a list that a provision leads into
    divides = tree.units[place].kind in ("provision", "annex", "part")
    return [unit_at(name, tree, p) for p in (tree.items(place) if divides else [place])]


def _gain(statement: Statement, outer: int, query: Query, tree: Tree) -> float:
    """Return how much of a question a point covers that the list around it does not."""
    headings = (tree.units[p].heading for p in (outer, *tree.above(outer)))
    led = " ".join([statement.lead, *headings])
    before, with_own = term_set(led), term_set(f"{led} {statement.own}")
    return coverage(query.all_terms, with_own) - coverage(query.all_terms, before)


def paragraph_of(item: Quotable, sources: View) -> list[Statement]:
    """Return the statements that are quoted together, in the order of the text.

    A short paragraph is quoted as a whole. Of a longer one, the statement is quoted with the
    sentences after it that refer back to it. If the first refers back to the paragraph before, the
    sentence it continues comes first. A list and a table row are quoted alone.
    """
    statement, document = item.statement, sources.document(item.passage["document"])
    tree, text = document.tree, document.text
    place = tree.at(statement.start)
    paragraph = [statement]
    if place >= 0 and not statement.points and tree.units[place].kind != "row":
        in_passage, _ = sources.statements(item.passage["id"])
        own = [each for each in in_passage if not each.points and tree.at(each.start) == place]
        if statement in own:
            paragraph = _paragraph(own, statement, text)
    carried = carried_from(paragraph[0], tree, text)
    beside = carried and not _BETWEEN.sub("", text[carried[-1].end : paragraph[0].start])
    return [*(carried if beside else []), *paragraph]


def _paragraph(own: list[Statement], statement: Statement, text: str) -> list[Statement]:
    """Return the statements of a unit's own text that are quoted with one of them.

    If each line of the unit ends with a sentence, a line is a paragraph. So is the text between two
    questions.
    """
    at = own.index(statement)
    asking = [n for n, each in enumerate(own) if each.own.endswith("?")]
    first = max((n + 1 for n in asking if n < at), default=0)
    last = min((n for n in asking if n > at), default=len(own))
    own = own[first:last]
    if not any("\n" in text[each.start : each.end].strip() for each in own):
        begin, end = text.rfind("\n", 0, statement.start), text.find("\n", statement.end)
        own = [each for each in own if begin < each.start and (each.end <= end or end < 0)]
    if sum(len(each.own.split()) for each in own) <= SHORT:
        return own
    first = last = at = own.index(statement)
    while first and POINTS_BACK.match(own[first].own):
        first -= 1
    while last + 1 < len(own) and last - at < _MOST_AFTER and POINTS_BACK.match(own[last + 1].own):
        last += 1
    return own[first : last + 1]
