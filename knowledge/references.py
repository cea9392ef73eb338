"""References in a statement: to provisions of its document, of others, and to other acts."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from lexloop.documents.structure.references import (
    ACTS,
    COMPOUND,
    KIND,
    Reference,
    Step,
    elsewhere,
    find_references,
)
from lexloop.documents.structure.tree import Tree
from lexloop.knowledge.names import PHRASE_CHARS

_THIS = re.compile(r"\b[Tt]his ([A-Z][a-z]+)")
_READ, _TITLE = 1_000_000, 400
_MOST = 60
"""References read per statement; a line with more of them is a table of contents."""


class Target(NamedTuple):
    """The target of a reference.

    Args:
        start: Where they begin in the text that refers.
        end: Where they end.
        name: The label of a provision of the same document, or how another is called.
        own: Whether it is a provision of the same document.
    """

    start: int
    end: int
    name: str
    own: bool


class References:
    """A resolver of the references in the statements of one document."""

    def __init__(self, tree: Tree, text: str, title: str) -> None:
        self._tree = tree
        first = text.lstrip()[:_TITLE].partition("\n")[0]
        self._heading = f"{title}\n{first}".lower()
        self._own = {*_THIS.findall(text[:_READ]), *re.findall(r"[A-Z][a-z]+", title)}

    def of(self, body: str, place: int) -> list[Target]:
        """Return the targets of a statement in its order, a range as all that it holds.

        "paragraph 1" starts at the place of the unit that it stands in.
        """
        acts = [
            m for m in islice(ACTS.finditer(body), _MOST) if m.group().lower() not in self._heading
        ]
        found = [Target(m.start(), m.end(), _line(m.group()), own=False) for m in acts]
        taken = [m.span() for m in ACTS.finditer(body)] if acts else []
        for reference in find_references(body):
            if not any(start <= reference.start < end for start, end in taken):
                found += self._targets(body, reference, place)
        return sorted(found[:_MOST], key=lambda target: target.start)

    def _targets(self, body: str, reference: Reference, place: int) -> Iterator[Target]:
        act, code, start, end = elsewhere(body, reference)
        foreign = bool(code) or bool(act and act.split()[0] not in self._own)
        said = _line(body[reference.start : reference.end])
        if not foreign or COMPOUND.search(said):
            found = self._tree.find(reference, place)
            for label in dict.fromkeys(self._tree.units[p].label for p in found):
                yield Target(reference.start, reference.end, label, own=True)
            if found:
                return
        kind = KIND.search(said)
        if not reference.steps[0].key or not (kind or code):
            return  # "paragraph 2" of nothing named
        whole = _named(said, reference.steps, kind.group() if kind else "")
        if start < reference.start:
            whole = f"{code} {whole}"
        yield Target(start, end, _line(whole + body[reference.end : end]), own=False)


def _named(said: str, steps: tuple[Step, ...], kind: str) -> str:
    """Return a reference to one number, in the singular: of "Rules 3.2 and 3.4" the second."""
    if not re.search(r",|\s(?:and|or|to)\s", said):
        return re.sub(r"^§+\s*", "§ ", KIND.sub(lambda m: _singular(m.group()), said, count=1))
    number = steps[0].number
    written = re.search(re.escape(number), said, re.IGNORECASE)
    subs = "".join(f"({step.number})" for step in steps[1:])
    return f"{_singular(kind)} {written.group() if written else number}{subs}"


def _singular(word: str) -> str:
    return {"annexes": "annex", "Annexes": "Annex"}.get(word, word.rstrip("s"))


def _line(text: str) -> str:
    return " ".join(text.split())[:PHRASE_CHARS].rstrip()
