"""Answers by lookup instead of search: the parties of a document, and rows of tables."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from lexloop.core.types import ParsedQuestion, Pointed, StructureLine
from lexloop.documents.chunks.statements import row_text
from lexloop.documents.document import Document
from lexloop.documents.structure.lines import cells
from lexloop.documents.text.exceptions import EXCEPTING
from lexloop.documents.text.parties import Party, parties_of
from lexloop.documents.text.ranges import Quantity, Range, quantities, range_of
from lexloop.documents.text.tokens import term_set, tokenize
from lexloop.nodes.question.naming import whole
from lexloop.nodes.question.parts import words_of_asking
from lexloop.nodes.question.pointing import KINDS
from lexloop.nodes.question.provisions import MOST_DOCUMENTS
from lexloop.store.view import View

_WHO = re.compile(
    r"(?:between\s+)?(?:who|whom|which|name|list)\b|what (?:parties|(?:is|are) the names?)\b", re.I
)
_ALL = term_set("parties")
_PARTY_TERMS = (
    term_set(f"name named company person people list made called {' '.join(KINDS)}") | _ALL
)
"""Terms that may stand beside a party's role: they ask for a party or name a kind of document."""
_MOST_ASKED = 50


def parties_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the parties that a question asks for, as their documents name them.

    "Who are the parties?" asks for all, "Who is the Buyer?" for one. None if the question asks for
    something else, or if too many documents have such parties.
    """
    terms = term_set(question["inside"])
    if len(question["parts"]) != 1 or not terms or not _WHO.match(question["parts"][0]["text"]):
        return None
    by_document = {
        name: parties
        for name in _having_parties(terms, view)
        if (parties := _parties_of(name, terms, view))
    }
    if not 0 < len(by_document) <= MOST_DOCUMENTS:
        return None
    told = [
        _party_line(view.document(name), party, view, len(by_document))
        for name, parties in by_document.items()
        for party in parties
    ]
    return {"units": [], "chunks": [], "told": told, "only": True}


def _having_parties(terms: frozenset[str], view: View) -> list[str]:
    """Return the documents whose parties may be meant: all if few, else those with the terms."""
    if len(view.documents) <= _MOST_ASKED:
        return [*view.documents]
    own = sorted(terms - _PARTY_TERMS)
    return [*view.having(own)][:_MOST_ASKED] if own else []


def _parties_of(name: str, terms: frozenset[str], view: View) -> list[Party]:
    """Return the parties of a document that all terms of a question ask for."""
    parties = parties_of(view.text_of(name) or "")
    beside = _PARTY_TERMS | term_set(view.titles[name])
    if terms & _ALL and terms <= beside:
        return [*parties]
    roles = [(party, term_set(party.role)) for party in parties]
    return [party for party, role in roles if role and role <= terms and terms - role <= beside]


def _party_line(document: Document, party: Party, view: View, documents: int) -> StructureLine:
    """Return a party in the words of its document."""
    place = document.tree.at(party.start)
    label = document.tree.units[place].label if place >= 0 else ""
    name = " ".join(document.text[slice(*party.span)].split())
    line = f"In {document.name}: {name}" if documents > 1 else name
    return {"line": line, "citations": [view.cited(document.name, *party.span, label)]}


_MOST_READ, _MOST_LIKELY, _MOST_ROWS, _SAMPLE = 20, 200, 5, 50
"""The most documents and likely rows that are read, and the most rows of an answer; and the number
of rows that show the form of keys."""
_MOSTLY = 0.5
"""The share of a document's text above which tables are its whole content."""
_WRITTEN = re.compile(r"[^\W_]+(?:[.,/:\-][^\W_]+)*")
_PLAIN = re.compile(r"\d{1,3}|\d+[.,]\d+|(?:1[6-9]|20)\d\d")
"""A number that may count or measure something, or be a year."""
_COMPARES = re.compile(
    r"\b(?:above|after|before|below|between|over|since|than|under|until)\b", re.I
)
_OTHERS = re.compile(r"\b(?:besides|but|never|not|other|without)\b|n['’]t\b", re.I)
"""Words by which a question asks for rows without the key."""
_ROW_NUMBER = "Row"
"""The column of a sheet that numbers its rows."""


class _Table(NamedTuple):
    """A table: its document, the names of its columns, its rows, and the terms above them."""

    document: Document
    names: list[str]
    rows: list[int]
    heads: frozenset[str]

    def cells_of(self, row: int) -> list[str]:
        """Return the cells of a row."""
        unit = self.document.tree.units[row]
        return cells(self.document.text[unit.start : unit.end])

    def named(self, terms: frozenset[str]) -> set[int]:
        """Return the columns whose names have one of some terms."""
        return {at for at, name in enumerate(self.names) if _terms(name) & terms}


class _Row(NamedTuple):
    """A row, the columns whose whole cells are in the question, and the terms of these cells."""

    table: _Table
    place: int
    columns: frozenset[int]
    keys: frozenset[str]


def rows_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the rows whose keys are in a question, or a line that no row has a key.

    Keys are whole cells, of one column or of several together. The question must name another
    column, and nothing else than the keys and the terms above the row. None if the question asks
    for something else.
    """
    text = question["inside"]
    every = _terms(text)
    if EXCEPTING.search(text) or _OTHERS.search(text):
        return None
    known = [word for word, terms in _words(text) if terms and all(map(view.knows, tokenize(word)))]
    names = view.having(known)[:_MOST_READ] if known else ()
    tables = [table for name in names for table in _tables(name, view) if table.named(every)]
    columns = _terms(" ".join(name for table in tables for name in table.names))
    needed = every - _only_asking(text, columns)
    said = quantities(text)
    bands = [band for table in tables for band in _bands(table)] if said else []
    rows = [row for table in tables for row in _rows(table, every)]
    rows += [row for band in bands for row in band.rows(every, said)]
    if _COMPARES.search(text) and any(key[:1].isdigit() for row in rows for key in row.keys):
        return None
    told = [_row_line(row, view) for row in _answering(rows, needed)]
    if not told and bands:
        told = [line for band in bands for line in band.beyond(needed, said)]
    elif not told:
        told = [*_missing(text, needed, tables, rows, view)]
    return {"units": [], "chunks": [], "told": told, "only": True} if told else None


def _only_asking(text: str, columns: frozenset[str]) -> frozenset[str]:
    """Return the terms of words that only ask and have no telling word beside: not "total fee".

    A word with a capital within a sentence is a name: "in May".
    """
    asking, words = words_of_asking(text), _words(f"{text[:1].lower()}{text[1:]}")
    tells = [bool(own) and (word not in asking or bool(own & columns)) for word, own in words]
    beside = zip(words, tells, [*tells[1:], False], strict=True)
    return frozenset().union(*(own for (_, own), *both in beside if not any(both)))


def _words(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the words of a text, each with its search terms; stop words have none.

    A word with a digit is its own term. A stop word with a capital within a sentence is a name: "in
    May".
    """
    words: list[tuple[str, frozenset[str]]] = []
    for number, word in enumerate(_WRITTEN.findall(text)):
        terms = [word.lower()] if any(map(str.isdigit, word)) else tokenize(word)
        named = number > 0 and word[0].isupper()
        words.append((word, frozenset(terms or [word.lower()] * named)))
    return words


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for _, terms in _words(text) for term in terms)


def _tables(name: str, view: View) -> Iterator[_Table]:
    """Yield the tables of a document whose columns have names."""
    document = view.document(name)
    tree = document.tree
    for place, unit in enumerate(tree.units):
        below = tree.children(place) if unit.kind == "table" else ()
        rows = [p for p in below if tree.units[p].kind == "row"]
        first = next((tree.units[p] for p in below if tree.units[p].kind == "columns"), None)
        if first is not None and rows:
            columns = cells(document.text[first.start : first.end])
            above = [tree.units[p].heading for p in (place, *tree.above(place))]
            heads = _terms(" ".join([*columns, *above, view.titles[name], name.replace("-", " ")]))
            yield _Table(document, columns, rows, heads)


def _rows(table: _Table, asked: frozenset[str]) -> Iterator[_Row]:
    """Yield the rows with a whole cell in the question and a filled cell in a column it names."""
    named = table.named(asked)
    sample = [table.cells_of(place) for place in table.rows[:_SAMPLE]]
    key_columns = {
        at for at, column in enumerate(zip_longest(*sample, fillvalue="")) if _are_keys(column)
    }
    for place in _likely(table, asked):
        own = table.cells_of(place)[: len(table.names)]
        keys: dict[int, frozenset[str]] = {}
        for at, cell in enumerate(own):
            terms = _terms(cell) or frozenset(filter(None, [cell.lower()]))
            inside = terms and terms <= asked and table.names[at] != _ROW_NUMBER
            key = at in key_columns and _is_key(cell)
            if inside and (not cell.isdigit() or at in named or key):
                keys[at] = terms
        if keys and any(own[at] for at in named - keys.keys() if at < len(own)):
            yield _Row(table, place, frozenset(keys), frozenset().union(*keys.values()))


class _Bands(NamedTuple):
    """A column of ranges, such as "up to 6 m": its table and place, and the range of each row."""

    table: _Table
    at: int
    ranges: dict[int, Range]

    def rows(self, asked: frozenset[str], said: Sequence[Quantity]) -> Iterator[_Row]:
        """Yield the rows whose range holds a quantity, if the question names another column."""
        if not self.table.named(asked) - {self.at}:
            return
        for place, band in self.ranges.items():
            if keys := [one.terms for one in said if band.holds(one, self.table.heads)]:
                yield _Row(self.table, place, frozenset({self.at}), frozenset().union(*keys))

    def beyond(self, needed: frozenset[str], said: Sequence[Quantity]) -> Iterator[StructureLine]:
        """Yield a line on each quantity that is all that is asked for and lies in no range."""
        heads, bands = self.table.heads, self.ranges.values()
        for one in said:
            measured = any(band.measures(one, heads) for band in bands)
            inside = any(band.holds(one, heads) for band in bands)
            if measured and not inside and needed <= heads | one.terms:
                line = f"No row of {self.table.document.name} has {one.written}."
                yield {"line": line, "citations": []}


def _bands(table: _Table) -> Iterator[_Bands]:
    """Yield the columns with more than one range."""
    columns: dict[int, dict[int, Range]] = defaultdict(dict)
    for place in table.rows:
        for at, cell in enumerate(table.cells_of(place)):
            if (band := range_of(cell)) is not None:
                columns[at][place] = band
    yield from (_Bands(table, at, ranges) for at, ranges in columns.items() if len(ranges) > 1)


def _likely(table: _Table, asked: frozenset[str]) -> list[int]:
    """Return the rows that may have most of some terms, the likeliest first."""
    # a stem ends in "i" if the word may end in "y"
    stems = (re.escape(term[:-1] if term.endswith("i") else term) for term in sorted(asked))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(f'({stem})' for stem in stems)})", re.IGNORECASE)
    units = table.document.tree.units
    starts = [units[place].start for place in table.rows]
    matched: dict[int, set[int | None]] = defaultdict(set)
    for match in pattern.finditer(table.document.text, starts[0], units[table.rows[-1]].end):
        matched[table.rows[bisect_right(starts, match.start()) - 1]].add(match.lastindex)
    ranked = sorted(matched, key=lambda place: (-len(matched[place]), place))
    return ranked[:_MOST_LIKELY]


def _is_key(written: str) -> bool:
    return any(map(str.isdigit, written)) and _PLAIN.fullmatch(written) is None


def _form(written: str) -> str:
    """Return the form that keys of one kind share: "a-0" for "P-17" and "P-204"."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", written))


def _are_keys(column: Sequence[str]) -> bool:
    """Return whether the cells of a column all differ and have one form, with digits."""
    filled = [*filter(None, column)]
    forms = set(map(_form, filled))
    return 1 < len(filled) == len(set(filled)) and len(forms) == 1 and "0" in forms.pop()


def _answering(rows: Sequence[_Row], needed: frozenset[str]) -> list[_Row]:
    """Return the rows whose keys and heads have all terms asked for, by the most columns."""
    groups: dict[tuple[str, frozenset[int]], list[_Row]] = defaultdict(list)
    for row in rows:
        groups[row.table.document.name, row.columns].append(row)
    best: dict[int, list[_Row]] = defaultdict(list)
    for (_, columns), group in groups.items():
        most = [row for row in group if not any(row.keys < other.keys for other in group)]
        terms = frozenset().union(*(row.keys | row.table.heads for row in most))
        best[len(columns)] += most if needed <= terms else []
    answering = next((best[count] for count in sorted(best, reverse=True) if best[count]), [])
    return answering if len(answering) <= _MOST_ROWS else []


def _row_line(row: _Row, view: View) -> StructureLine:
    """Return a row, each cell with the name of its column."""
    document = row.table.document
    unit = document.tree.units[row.place]
    line = document.text[unit.start : unit.end].strip()
    begin = document.text.index(line, unit.start)
    citation = view.cited(document.name, begin, begin + len(line), unit.label)
    return {"line": row_text(line, row.table.names), "citations": [citation]}


def _missing(
    text: str, needed: frozenset[str], tables: Sequence[_Table], rows: Sequence[_Row], view: View
) -> Iterator[StructureLine]:
    """Yield a line on what no row has: a key of the rows' form, or words that nothing else has."""
    heads = frozenset().union(*(table.heads for table in tables))
    keys = frozenset().union(*(row.keys for row in rows))
    left = [word for word, terms in _words(text) if terms & needed - heads]
    apart = needed - heads <= keys
    stems = (stem for word in left for stem in tokenize(word) or [word.lower()])
    unknown = len(rows) != 1 and not all(map(view.knows, stems))
    absent = len(left) == 1 and _is_key(left[0]) and not _is_said(left[0], view)
    documents = {table.document.name: table.document for table in tables}
    tabular = bool(tables) and all(map(_is_tables, documents.values()))
    if left and tabular and (apart or unknown or absent):
        yield {"line": f"No row of {', '.join(documents)} has {' '.join(left)}.", "citations": []}


def _is_tables(document: Document) -> bool:
    """Return whether most of a document is tables."""
    tables = sum(u.end - u.start for u in document.tree.units if u.kind == "table")
    return tables > _MOSTLY * len(document.text)


def _is_said(key: str, view: View) -> bool:
    """Return whether documents have a key."""
    texts = view.texts_of([*view.having([key])][:_MOST_READ])
    return any(map(whole(key).search, texts))
