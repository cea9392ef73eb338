"""The sections of a document that are about others than a question names: permit P-171, not P-170.

Sections of one form lie beside each other, each with a number, a day or a name that others lack.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from lexloop.core.types import PointedUnit
from lexloop.documents.structure.references import find_references, loose_numbers
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.quantities import dates
from lexloop.documents.text.tokens import STOP_WORDS
from lexloop.nodes.question.heads import IDENTIFIER, of_one_form, whole
from lexloop.nodes.question.pointing import unit_at
from lexloop.store.view import View

_DIVIDE = frozenset(("part", "annex", "provision"))
_MOST_DOCUMENTS, _MOST_CHARS = 8, 500_000
"""The most documents that are looked at, and the longest."""
_LONG = 3
"""The fewest letters of a name, and digits of a number without letters."""


class _Name(NamedTuple):
    """What tells sections apart, as a question writes it.

    ``has`` finds it in a text, and ``like`` another of its form.
    """

    written: str
    has: Callable[[str], bool]
    like: Callable[[str], bool]


def other_sections(question: str, view: View) -> tuple[list[PointedUnit], list[str]]:
    """Return the sections that lack what a question names, and have another of its form instead.

    Of a number that is one of its form; else their headings, too, are of one form. Behind them
    stands what the question names.
    """
    if len(view.documents) > _MOST_DOCUMENTS:
        return [], []
    written: dict[str, None] = {}
    found: list[PointedUnit] = []
    for document in view.documents:
        tree, text = view.tree_of(document), view.text_of(document) or ""
        if tree is None or len(text) > _MOST_CHARS:
            continue
        names = [name for name in _names(question, text) if name.has(text)]
        groups = (tree.children(place) for place in range(-1, len(tree.units)))
        for group in groups if names else ():
            if others := [*_others(document, tree, text, group, names)]:
                found += others
                written |= dict.fromkeys(name.written for name in names)
    return found, [*written]


def _others(
    document: str, tree: Tree, text: str, group: Sequence[int], names: Sequence[_Name]
) -> Iterator[PointedUnit]:
    """Yield those of some siblings that are about others."""
    sections = [p for p in group if tree.units[p].kind in _DIVIDE]
    said = {p: text[tree.units[p].start : tree.units[p].end] for p in sections}
    meant = {p for p in sections if any(name.has(said[p]) for name in names)}
    heads = [tree.units[p].heading for p in meant]
    for place in sections if meant else ():
        unit = tree.units[place]
        alike = any(head and of_one_form(head, unit.heading) for head in heads)
        if place not in meant and any(name.like(said[place]) or alike for name in names):
            yield unit_at(document, tree, place)


def _names(question: str, text: str) -> Iterator[_Name]:
    """Yield the numbers, days and names of a question that may tell sections of a text apart."""
    references = [*find_references(question), *loose_numbers(question)]
    taken = [range(one.start, one.end) for one in references]
    days = dates(question)
    if days:
        yield _Name("", lambda said: days <= dates(said), lambda _: False)
    for found in IDENTIFIER.finditer(question):
        written = found["id"]
        named = not written.isdigit() or len(written) > _LONG
        if named and not days and not any(found.start("id") in span for span in taken):
            yield _Name(written, _has(written), partial(_has_form_of, written))
    for word in dict.fromkeys(re.findall(rf"[^\W\d_]{{{_LONG},}}", question)):
        if word.lower() not in STOP_WORDS and _is_name(word, text):
            yield _Name(word, _has(word), lambda _: False)


def _is_name(word: str, text: str) -> bool:
    """Return whether a text writes a word, and always with a capital."""
    written = {found[0][0] for found in re.finditer(rf"\b{re.escape(word)}\b", text, re.I)}
    return bool(written) and all(map(str.isupper, written))


def _has(written: str) -> Callable[[str], bool]:
    return lambda said: whole(written).search(said) is not None


def _has_form_of(written: str, said: str) -> bool:
    """Return whether a text has a number with the same letters: "P-171" for "P-170"."""
    form = _form(written)
    return form != "0" and any(_form(found["id"]) == form for found in IDENTIFIER.finditer(said))


def _form(written: str) -> str:
    return re.sub(r"\d+", "0", written.lower())
