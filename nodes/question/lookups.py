"""Answers that are looked up, not searched for: the parties of a document, and rows of tables."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from operator import itemgetter
from typing import NamedTuple

from lexloop.core.types import ParsedQuestion, Pointed, StructureLine
from lexloop.documents.chunks.statements import row_text
from lexloop.documents.structure.lines import cells
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.exceptions import EXCEPTING
from lexloop.documents.text.parties import Party, parties_of
from lexloop.documents.text.tokens import term_set, tokenize
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
"""Terms that ask for a party, or name the kind of document, beside what the party is called."""
_MOST_ASKED = 50


def parties_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the parties that a question asks for, each as its document names it.

    "Who are the parties?" asks for all, "Who is the Buyer?" for one. Return None if it asks
    for anything else, or if too many documents have such parties.
    """
    terms = term_set(question["inside"])
    if len(question["parts"]) != 1 or not terms or not _WHO.match(question["parts"][0]["text"]):
        return None
    found = {
        name: wanted
        for name in _having_parties(terms, view)
        if (wanted := _parties_of(name, terms, view))
    }
    if not 0 < len(found) <= MOST_DOCUMENTS:
        return None
    told = [
        line
        for name, parties in found.items()
        for line in _party_lines(name, parties, view, len(found))
    ]
    return {"units": [], "chunks": [], "told": told, "only": True}


def _having_parties(terms: frozenset[str], view: View) -> list[str]:
    """Return the documents whose parties may be meant: all of a few, else those that say so."""
    if len(view.documents) <= _MOST_ASKED:
        return [*view.documents]
    own = sorted(terms - _PARTY_TERMS)
    return [*view.having(own)][:_MOST_ASKED] if own else []


def _parties_of(name: str, terms: frozenset[str], view: View) -> list[Party]:
    """Return the parties of a document that all of a question's terms ask for."""
    parties = parties_of(view.text_of(name) or "")
    beside = _PARTY_TERMS | term_set(view.titles[name])
    if terms & _ALL and terms <= beside:
        return [*parties]
    return [one for one in parties if one.role and _is_role(one.role, terms, beside)]


def _is_role(role: str, terms: frozenset[str], beside: frozenset[str]) -> bool:
    own = term_set(role)
    return bool(own) and own <= terms and terms - own <= beside


def _party_lines(
    name: str, parties: list[Party], view: View, documents: int
) -> Iterator[StructureLine]:
    """Yield each party in the words in which its document names it."""
    tree, text = view.tree_of(name) or Tree(), view.text_of(name) or ""
    for one in parties:
        place = tree.at(one.start)
        label = tree.units[place].label if place >= 0 else ""
        said = " ".join(text[slice(*one.span)].split())
        line = f"In {name}: {said}" if documents > 1 else said
        yield {"line": line, "citations": [view.cited(name, *one.span, label)]}


_MOST_READ, _MOST_LIKELY, _MOST_ROWS, _SAMPLE = 20, 200, 5, 50
"""The most documents and likely rows that are read and rows that answer; the rows that show how
keys look."""
_MOSTLY = 0.5
"""The share of a document's text from which its tables are all that it says."""
_WRITTEN = re.compile(r"[^\W_]+(?:[.,/:\-][^\W_]+)*")
_PLAIN = re.compile(r"\d{1,3}|\d+[.,]\d+|(?:1[6-9]|20)\d\d")
"""A number that may count or measure something, or be a year."""
_COMPARES = re.compile(
    r"\b(?:above|after|before|below|between|over|since|than|under|until)\b", re.I
)
_OTHERS = re.compile(r"\b(?:besides|but|never|not|other|without)\b|n['’]t\b", re.I)
"""Words by which a question asks for what has not the key."""
_ROW_NUMBER = "Row"
"""The column of a sheet that numbers its rows."""


class _Table(NamedTuple):
    """A table: its document, the names of its columns, its rows, and the terms that head it."""

    document: str
    names: list[str]
    rows: list[int]
    heads: frozenset[str]


class _Row(NamedTuple):
    """A row, the columns whose cells a question has in full, and the terms of these cells."""

    table: _Table
    place: int
    columns: frozenset[int]
    held: frozenset[str]


def rows_asked(question: ParsedQuestion, view: View) -> Pointed | None:
    """Return the rows that a question asks for by their keys, or that no row has a key.

    Keys are whole cells, of one column or of several together. The question has to name another
    column, and nothing that is neither in the keys nor above the row. Return None if it asks
    otherwise.
    """
    asked = question["inside"]
    every = _terms(asked)
    if EXCEPTING.search(asked) or _OTHERS.search(asked):
        return None
    known = [
        word for word, terms in _words(asked) if terms and all(map(view.knows, tokenize(word)))
    ]
    documents = view.having(known)[:_MOST_READ] if known else ()
    tables = [table for name in documents for table in _tables(name, view)]
    tables = [table for table in tables if _named(table, every)]
    columns = _terms(" ".join(name for table in tables for name in table.names))
    needed = every - _only_asking(asked, columns)
    rows = [row for table in tables for row in _rows(table, every, view)]
    if _COMPARES.search(asked) and any(one[:1].isdigit() for row in rows for one in row.held):
        return None
    told = [_told(row, view) for row in _answering(rows, needed)]
    told = told or [*_missing(asked, needed, tables, rows, view)]
    return {"units": [], "chunks": [], "told": told, "only": True} if told else None


def _only_asking(asked: str, columns: frozenset[str]) -> frozenset[str]:
    """Return the terms of words of asking, but for those before a word that tells: "total fee".

    One with a capital in a sentence is a name: "in May".
    """
    asking, words = words_of_asking(asked), _words(f"{asked[:1].lower()}{asked[1:]}")
    tells = [bool(own) and (word not in asking or bool(own & columns)) for word, own in words]
    beside = zip(words, tells, [*tells[1:], False], strict=True)
    return frozenset().union(*(own for (_, own), *both in beside if not any(both)))


def _words(text: str) -> list[tuple[str, frozenset[str]]]:
    """Return the words of a text, each with its search terms; small words have none.

    What has a figure is a term as it is written. A small word with a capital in a sentence is a
    name: "in May".
    """
    found: list[tuple[str, frozenset[str]]] = []
    for number, word in enumerate(_WRITTEN.findall(text)):
        terms = [word.lower()] if any(map(str.isdigit, word)) else tokenize(word)
        named = number > 0 and word[0].isupper()
        found.append((word, frozenset(terms or [word.lower()] * named)))
    return found


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for _, terms in _words(text) for term in terms)


def _tables(name: str, view: View) -> Iterator[_Table]:
    """Yield the tables of a document whose columns have names."""
    tree, text = view.tree_of(name) or Tree(), view.text_of(name) or ""
    for place, unit in enumerate(tree.units):
        below = tree.children(place) if unit.kind == "table" else ()
        rows = [p for p in below if tree.units[p].kind == "row"]
        first = next((tree.units[p] for p in below if tree.units[p].kind == "columns"), None)
        if first is not None and rows:
            columns = cells(text[first.start : first.end])
            above = [tree.units[p].heading for p in (place, *tree.above(place))]
            heads = _terms(" ".join([*columns, *above, view.titles[name], name.replace("-", " ")]))
            yield _Table(name, columns, rows, heads)


def _named(table: _Table, terms: frozenset[str]) -> set[int]:
    """Return the columns that a question names."""
    return {at for at, name in enumerate(table.names) if _terms(name) & terms}


def _rows(table: _Table, asked: frozenset[str], view: View) -> Iterator[_Row]:
    """Yield the rows of a table with whole cells that are asked for, and another that is named."""
    tree, text = view.tree_of(table.document) or Tree(), view.text_of(table.document) or ""
    named = _named(table, asked)
    sample = [cells(text[tree.units[p].start : tree.units[p].end]) for p in table.rows[:_SAMPLE]]
    keys = {at for at, one in enumerate(zip_longest(*sample, fillvalue="")) if _are_keys(one)}
    for place in _likely(table, asked, tree, text):
        unit = tree.units[place]
        own = cells(text[unit.start : unit.end])[: len(table.names)]
        found: dict[int, frozenset[str]] = {}
        for at, cell in enumerate(own):
            terms = _terms(cell) or frozenset(filter(None, [cell.lower()]))
            whole = terms and terms <= asked and table.names[at] != _ROW_NUMBER
            if whole and (not cell.isdigit() or at in named or (at in keys and _is_key(cell))):
                found[at] = terms
        if found and any(own[at] for at in named - found.keys() if at < len(own)):
            yield _Row(table, place, frozenset(found), frozenset().union(*found.values()))


def _likely(table: _Table, asked: frozenset[str], tree: Tree, text: str) -> list[int]:
    """Return the rows that may have most of some terms, the likeliest first."""
    # a stem ends in "i" where the word may end in "y"
    stems = (re.escape(term[:-1] if term.endswith("i") else term) for term in sorted(asked))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(f'({stem})' for stem in stems)})", re.IGNORECASE)
    starts = [tree.units[place].start for place in table.rows]
    found: dict[int, set[int | None]] = defaultdict(set)
    for match in pattern.finditer(text, starts[0], tree.units[table.rows[-1]].end):
        found[table.rows[bisect_right(starts, match.start()) - 1]].add(match.lastindex)
    ranked = sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
    return [*map(itemgetter(0), ranked[:_MOST_LIKELY])]


def _is_key(written: str) -> bool:
    return any(map(str.isdigit, written)) and _PLAIN.fullmatch(written) is None


def _form(written: str) -> str:
    """Return what keys of one kind share: "P-17" and "P-204" have the form "a-0"."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", written))


def _are_keys(column: Sequence[str]) -> bool:
    """Return whether the cells of a column all differ and have one form, with figures."""
    filled = [*filter(None, column)]
    forms = set(map(_form, filled))
    return 1 < len(filled) == len(set(filled)) and len(forms) == 1 and "0" in forms.pop()


def _answering(rows: Sequence[_Row], needed: frozenset[str]) -> list[_Row]:
    """Return the rows whose keys are all that is asked for, those of the most columns."""
    groups: dict[tuple[str, frozenset[int]], list[_Row]] = defaultdict(list)
    for row in rows:
        groups[row.table.document, row.columns].append(row)
    best: dict[int, list[_Row]] = defaultdict(list)
    for (_, columns), group in groups.items():
        most = [row for row in group if not any(row.held < other.held for other in group)]
        held = frozenset().union(*(row.held | row.table.heads for row in most))
        best[len(columns)] += most if needed <= held else []
    found = next((best[count] for count in sorted(best, reverse=True) if best[count]), [])
    return found if len(found) <= _MOST_ROWS else []


def _told(row: _Row, view: View) -> StructureLine:
    """Return a row, each cell with the name of its column."""
    document = row.table.document
    tree, text = view.tree_of(document) or Tree(), view.text_of(document) or ""
    unit = tree.units[row.place]
    line = text[unit.start : unit.end].strip()
    begin = text.index(line, unit.start)
    cited = view.cited(document, begin, begin + len(line), unit.label)
    return {"line": row_text(line, row.table.names), "citations": [cited]}


def _missing(
    asked: str, needed: frozenset[str], tables: Sequence[_Table], rows: Sequence[_Row], view: View
) -> Iterator[StructureLine]:
    """Yield what no row has: a key of the form of others, or words that nothing else says."""
    heads = frozenset().union(*(table.heads for table in tables))
    held = frozenset().union(*(row.held for row in rows))
    left = [word for word, terms in _words(asked) if terms & needed - heads]
    apart = needed - heads <= held
    stems = (stem for word in left for stem in tokenize(word) or [word.lower()])
    unknown = len(rows) != 1 and not all(map(view.knows, stems))
    key = len(left) == 1 and _is_key(left[0]) and not _is_said(left[0], view)
    documents = list(dict.fromkeys(table.document for table in tables))
    tabular = bool(tables) and all(_is_tables(name, view) for name in documents)
    if left and tabular and (apart or unknown or key):
        yield {"line": f"No row of {', '.join(documents)} has {' '.join(left)}.", "citations": []}


def _is_tables(name: str, view: View) -> bool:
    """Return whether the tables of a document are most of it."""
    tree, text = view.tree_of(name) or Tree(), view.text_of(name) or ""
    tables = sum(unit.end - unit.start for unit in tree.units if unit.kind == "table")
    return tables > _MOSTLY * len(text)


def _is_said(key: str, view: View) -> bool:
    """Return whether documents have a key."""
    whole = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)
    return any(whole.search(text) for text in view.texts_of([*view.having([key])][:_MOST_READ]))
