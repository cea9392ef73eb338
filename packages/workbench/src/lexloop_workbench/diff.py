"""Two versions of a document side by side: what is changed, moved, renumbered, new and gone.

A provision that only counts otherwise because another was put in before it is renumbered and not
changed; a text that only refers to it by its new number ``follows``; one that refers to it by its
old number still is ``stale``.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from pydantic import BaseModel, Field

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.folding import narrowed
from lexloop.core.types import At
from lexloop.documents.document import Document
from lexloop.documents.reading.workers import silent
from lexloop.documents.structure.references import Reference, elsewhere, find_references
from lexloop.documents.structure.tree import Tree
from lexloop.store.manifest import IndexSource
from lexloop.store.provisions import Source
from lexloop.store.scan import scan
from lexloop_workbench.matching import Pair, Piece, aligned
from lexloop_workbench.versions import differences

if TYPE_CHECKING:
    from lexloop.store.view import View

Kind = Literal["changed", "moved", "renumbered", "follows", "new", "gone"]
_MOST_CHARACTERS = 10_000_000
_NUMBER = re.compile(r"(?<![\w.\-–:])[\w.\-–:]*\w")


class Place(BaseModel):
    """A provision, or some lines of one; ``quote`` is its text, with its number."""

    document: str
    title: str
    section: str = Field(description="Its label; empty for what lies in no provision.")
    heading: str
    kind: str
    page: int | None
    at: At = At()
    start: int
    end: int
    quote: str


class Part(BaseModel):
    """Words that both versions have, or one of them."""

    op: Literal["same", "added", "removed"]
    text: str


class Change(BaseModel):
    """What became of a provision; what is new has no ``old``, and what is gone no ``new``."""

    kinds: list[Kind] = Field(
        description="`changed`: other words; `moved`: it stands elsewhere; `renumbered`: it has "
        "another number; `follows`: only its references changed, as what they name was renumbered."
    )
    old: Place | None
    new: Place | None
    parts: list[Part] = Field(description="Its words, where some of them changed.")


class Stale(BaseModel):
    """Words that still refer by the number that a provision had."""

    at: Place
    said: str
    meant: str = Field(description="The label of what they referred to in the old version.")
    now: str = Field(description="Its label in the new version; empty where it is gone.")


class Diff(BaseModel):
    """Two versions of a document, and every provision that is not the same in both."""

    old: str
    new: str
    counts: dict[Kind, int]
    unchanged: int = Field(description="Lines that are the same in both, numbers included.")
    changes: list[Change]
    stale: list[Stale]


class Version(NamedTuple):
    """A version of a document. ``title`` is shown with its name."""

    source: Source
    title: str

    @classmethod
    def of(cls, view: "View", said: str) -> Self:
        """Return the document of a view that is meant; raises as ``Source.of``."""
        source = Source.of(view, said)
        return cls(source, view.titles[source.name])

    @classmethod
    def read(cls, file: str | Path) -> Self:
        """Read the one document of a file.

        Raises:
            CorpusError: It cannot be read.
            InputError: It is a folder, or holds no or several documents.
        """
        if os.path.isdir(file):
            raise InputError(
                f"{file} is a folder.", "Name a file, or the folder as --corpus with names in it."
            )
        scanned = scan([IndexSource(str(file))])
        found, reasons = list[Document](), [one.reason for one in scanned.skipped]
        with closing(scanned.read([*scanned.fingerprints], silent)) as each:
            for loaded in each:
                found += loaded.documents
                reasons += [one.reason for one in loaded.skipped]
        if not found:
            said = " ".join(reasons) or "It holds no text."
            raise CorpusError(f"{file} cannot be read: {said}", "Give another file.")
        if len(found) > 1:
            what = f"{file} holds {len(found)} documents."
            raise InputError(what, "Name two of them, with the file as --corpus.")
        (one,) = found
        return cls(Source.of_document(one, one.metadata.identifier), one.title)

    @property
    def tree(self) -> Tree:
        """The tree of the document."""
        return self.source.tree

    def place(self, unit: int, spans: Sequence[tuple[int, int]]) -> Place:
        """Return the place of some lines of a unit; -1 for what lies in none."""
        text, start, end = self.source.text, spans[0][0], spans[-1][1]
        held = self.tree.units[unit] if unit >= 0 else None
        return Place(
            document=self.source.name,
            title=self.title,
            section=held.label if held else "",
            heading=held.heading if held else "",
            kind=held.kind if held else "text",
            **self.source.where(start, end),
            start=start,
            end=end,
            quote="\n".join(text[first:last] for first, last in spans),
        )


class Comparison:
    """Two versions, their lines, and which of these are the same ones.

    Args:
        old: The earlier version.
        new: The later one.

    Raises:
        InputError: They are too long.
    """

    def __init__(self, old: Version, new: Version) -> None:
        for one in (old, new):
            if len(one.source.text) > _MOST_CHARACTERS:
                raise InputError(
                    f"{one.source.name} has {len(one.source.text)} characters, more than "
                    f"{_MOST_CHARACTERS}.",
                    "Compare a part of it.",
                )
        self.old, self.new = old, new
        self.olds, self.news, pairs = aligned(old.source, new.source)
        self.pairs = {pair.old: pair for pair in pairs}
        self.back = {pair.new: pair for pair in self.pairs.values()}

    @cached_property
    def ends(self) -> list[int]:
        """The end of each line of the old version."""
        return [piece.end for piece in self.olds]

    def words(self, pair: Pair) -> tuple[str, str]:
        """Return the text of a line in both versions, with its number."""
        a, b = self.olds[pair.old], self.news[pair.new]
        return self.old.source.text[a.start : a.end], self.new.source.text[b.start : b.end]

    @cached_property
    def kinds(self) -> list[tuple[Kind, ...]]:
        """The kinds of change of each line of the old version; empty if it is unchanged."""
        return [self._kinds(i) for i in range(len(self.olds))]

    def _kinds(self, i: int) -> tuple[Kind, ...]:
        pair = self.pairs.get(i)
        if pair is None:
            return ("gone",)
        a, b = self.olds[i], self.news[pair.new]
        found: list[Kind] = []
        if a.key != b.key:
            found.append("follows" if self._follows(a, b) else "changed")
        if pair.moved:
            found.append("moved")
        if a.number != b.number and not self._counts_on(a, b):
            found.append("renumbered")
        return tuple(found)

    def _counts_on(self, a: Piece, b: Piece) -> bool:
        """Return whether a number is only another one as that above it is: 2.1 is 3.1 now."""
        up, there = _numbered_above(self.olds, a), _numbered_above(self.news, b)
        if min(up, there) < 0 or up not in self.pairs or self.pairs[up].new != there:
            return False
        rest = _behind(a.number, self.olds[up].number)
        return bool(rest) and rest == _behind(b.number, self.news[there].number)

    def _follows(self, a: Piece, b: Piece) -> bool:
        """Return whether two texts differ in references alone, each to the same provision."""
        refs = find_references(narrowed(a.words)), find_references(narrowed(b.words))
        if not refs[0] or _without(a.words, refs[0]) != _without(b.words, refs[1]):
            return False
        return all(
            (one.steps, one.last) == (other.steps, other.last)
            or self._same(self.old.tree.find(one, a.unit), self.new.tree.find(other, b.unit))
            for one, other in zip(*refs, strict=True)
        )

    def _same(self, olds: Sequence[int], news: Sequence[int]) -> bool:
        return bool(olds) and [self.units.get(place) for place in olds] == list(news)

    @cached_property
    def units(self) -> dict[int, int]:
        """The new unit of every old one that begins in a line that both have."""
        found: dict[int, int] = {}
        for pair in self.pairs.values():
            a, b = self.olds[pair.old], self.news[pair.new]
            if _begins(self.old.tree, a) and _begins(self.new.tree, b):
                found[a.unit] = b.unit
        return found

    def record(self) -> Diff:
        """Return every provision that is not the same in both, in the order of the new version."""
        changes = [change for _, change in sorted(self._rows(), key=lambda row: row[0])]
        return Diff(
            old=self.old.source.name,
            new=self.new.source.name,
            counts=dict(Counter(kind for change in changes for kind in change.kinds)),
            unchanged=sum(not kinds for kinds in self.kinds),
            changes=changes,
            stale=list(self._stale()),
        )

    def _rows(self) -> Iterator[tuple[tuple[int, int], Change]]:
        """Yield changes, each with its place in order."""
        gone = [i for i in range(len(self.olds)) if i not in self.pairs]
        for unit, lines in _grouped(self.old.tree, self.olds, gone):
            old = self.old.place(unit, _spans(self.olds, lines))
            yield (self.after[lines[0]], 1), Change(kinds=["gone"], old=old, new=None, parts=[])
        fresh = [j for j in range(len(self.news)) if j not in self.back]
        for unit, lines in _grouped(self.new.tree, self.news, fresh):
            new = self.new.place(unit, _spans(self.news, lines))
            yield (lines[0], 0), Change(kinds=["new"], old=None, new=new, parts=[])
        moved = dict(self._moved())
        for i, kinds in enumerate(self.kinds):
            own = [kind for kind in kinds if kind not in ("gone", "moved")]
            if i in moved:
                yield self._row(moved[i], list(kinds))
            elif own:
                yield self._row([i], own)

    def _row(self, lines: Sequence[int], kinds: list[Kind]) -> tuple[tuple[int, int], Change]:
        """Return what became of lines of the old version; the first one's words are compared."""
        there = [self.pairs[i].new for i in lines if i in self.pairs]
        a, b = self.olds[lines[0]], self.news[there[0]]
        parts = [Part.model_validate(one) for one in differences(*self.words(self.pairs[lines[0]]))]
        whole = "moved" in kinds
        old = a.unit if whole else _narrowest(self.old.tree, a, parts, "removed")
        new = b.unit if whole else _narrowest(self.new.tree, b, parts, "added")
        said = {"changed", "follows"} & {*kinds}
        return (there[0], 0), Change(
            kinds=kinds,
            old=self.old.place(old, _spans(self.olds, lines)),
            new=self.new.place(new, _spans(self.news, there)),
            parts=parts if said else [],
        )

    def _moved(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the first line of each unit that was moved whole, and all its lines."""
        moved = [i for i, kinds in enumerate(self.kinds) if "moved" in kinds]
        runs: list[list[int]] = []
        for i in moved:
            last = runs[-1][-1] if runs else -2
            joined = i == last + 1 and self.pairs[i].new == self.pairs[last].new + 1
            if joined:
                runs[-1].append(i)
            else:
                runs.append([i])
        for run in runs:
            for _, lines in _grouped(self.old.tree, self.olds, run):
                yield lines[0], lines

    @cached_property
    def after(self) -> list[int]:
        """Behind which line of the new version each old one stood; -1 for none."""
        found: list[int] = []
        last = -1
        for i in range(len(self.olds)):
            pair = self.pairs.get(i)
            last = pair.new if pair and not pair.moved else last
            found.append(last)
        return found

    def _stale(self) -> Iterator[Stale]:
        """Yield references whose words stayed and now name another provision, or none."""
        if not any({"renumbered", "gone", "moved"} & {*kinds} for kinds in self.kinds):
            return
        for pair in self.pairs.values():
            a, b = self.olds[pair.old], self.news[pair.new]
            old, new = narrowed(a.words), narrowed(b.words)
            said = {(one.steps, one.last): one for one in find_references(new)}
            for reference in find_references(old):
                same = said.pop((reference.steps, reference.last), None)
                if same is None or any(elsewhere(old, reference)[:2]):
                    continue
                found = self._lost(reference, a.unit, same, b.unit)
                if found is not None:
                    at = self.new.place(b.unit, [(b.start, b.end)])
                    words = " ".join(new[same.start : same.end].split())
                    yield Stale(at=at, said=words, meant=found[0], now=found[1])

    def _lost(self, old: Reference, a: int, new: Reference, b: int) -> tuple[str, str] | None:
        """Return the labels of a reference's old and new targets, if they differ."""
        meant, means = self.old.tree.find(old, a), self.new.tree.find(new, b)
        if len(meant) != 1 or meant[0] not in self._headed:
            return None
        there = self.units.get(meant[0])
        if means[:1] == [there]:
            return None
        label = self.old.tree.units[meant[0]].label
        return label, "" if there is None else self.new.tree.units[there].label

    @cached_property
    def _headed(self) -> set[int]:
        return {piece.unit for piece in self.olds if _begins(self.old.tree, piece)}


def _begins(tree: Tree, piece: Piece) -> bool:
    return piece.unit >= 0 and piece.start <= tree.units[piece.unit].start < piece.end


def _numbered_above(pieces: Sequence[Piece], piece: Piece) -> int:
    """Return the nearest line above one that has a number; -1 for none."""
    above = piece.above
    while above >= 0 and not pieces[above].number:
        above = pieces[above].above
    return above


def _behind(number: str, above: str) -> str:
    """Return what a number adds to the one above it: ".1" for 2.1 under 2, or "" if nothing."""
    own, up = (found[-1] if (found := _NUMBER.findall(one)) else "" for one in (number, above))
    rest = own.removeprefix(up)
    return rest if up and rest != own and not rest[:1].isalnum() else ""


def _without(text: str, references: Iterable[Reference]) -> str:
    """Return a text without the numbers of its references."""
    found, at = [], 0
    for one in references:
        found.append(text[at : one.start])
        at = one.end
    return "\0".join([*found, text[at:]])


def _narrowest(tree: Tree, piece: Piece, parts: Iterable[Part], op: str) -> int:
    """Return the unit that holds all words of a line that are in one version alone."""
    spans: list[tuple[int, int]] = []
    at = piece.start
    for part in parts:
        if part.op not in ("same", op):
            continue
        if part.op == op:
            spans.append((at, at + len(part.text.rstrip())))
        at += len(part.text)
    around = tree.around(spans[0][0], spans[-1][1]) if spans else -1
    return around if around in tree.below(piece.unit) else piece.unit


def _spans(pieces: Sequence[Piece], lines: Sequence[int]) -> list[tuple[int, int]]:
    return [(pieces[at].start, pieces[at].end) for at in lines]


def _grouped(
    tree: Tree, pieces: Sequence[Piece], lines: Sequence[int]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the outermost units all of whose lines are among some, and the other lines by one."""
    among = set(lines)
    every, held = Counter[int](), Counter[int]()
    for at, piece in enumerate(pieces):
        for unit in _within(tree, piece):
            every[unit] += 1
            held[unit] += at in among
    groups: dict[int, list[int]] = {}
    for at in lines:
        whole = [unit for unit in _within(tree, pieces[at]) if every[unit] == held[unit]]
        if whole:
            groups.setdefault(whole[-1], []).append(at)
        else:
            yield pieces[at].unit, [at]
    yield from groups.items()


def _within(tree: Tree, piece: Piece) -> list[int]:
    """Return the unit of a line and those around it, the outermost last."""
    return [piece.unit, *tree.above(piece.unit)] if piece.unit >= 0 else []
