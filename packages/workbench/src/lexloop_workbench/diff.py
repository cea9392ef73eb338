"""Two versions of a document side by side: what is changed, moved, renumbered, new and gone.

A provision whose number changed only because another was inserted is renumbered, not changed. A
text that only refers to it by its new number ``follows``. One that still refers to it by its old
number is ``stale``.
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
    """A changed provision. ``old`` is None for new ones and ``new`` for removed ones."""

    kinds: list[Kind] = Field(
        description="`changed`: other words; `moved`: another place; `renumbered`: another number; "
        "`follows`: only its references changed, because what they name was renumbered."
    )
    old: Place | None
    new: Place | None
    parts: list[Part] = Field(description="Its words, if some of them changed.")


class Stale(BaseModel):
    """Words that still refer by a provision's old number."""

    at: Place
    said: str
    meant: str = Field(description="Label of what they referred to in the old version.")
    now: str = Field(description="Its label in the new version, or empty if it was removed.")


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
        """Return a document of a view by its name or the end of it. Raises like ``Source.of``."""
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
        documents, reasons = list[Document](), [skipped.reason for skipped in scanned.skipped]
        with closing(scanned.read([*scanned.fingerprints], silent)) as loaded_files:
            for loaded in loaded_files:
                documents += loaded.documents
                reasons += [skipped.reason for skipped in loaded.skipped]
        if not documents:
            reason = " ".join(reasons) or "It contains no text."
            raise CorpusError(f"{file} cannot be read: {reason}", "Give another file.")
        if len(documents) > 1:
            problem = f"{file} holds {len(documents)} documents."
            raise InputError(problem, "Name two of them, with the file as --corpus.")
        (document,) = documents
        return cls(Source.of_document(document, document.metadata.identifier), document.title)

    @property
    def tree(self) -> Tree:
        """The tree of the document."""
        return self.source.tree

    def place(self, unit: int, spans: Sequence[tuple[int, int]]) -> Place:
        """Return the place of some lines of a unit, or of no unit if it is -1."""
        text, start, end = self.source.text, spans[0][0], spans[-1][1]
        unit_found = self.tree.units[unit] if unit >= 0 else None
        return Place(
            document=self.source.name,
            title=self.title,
            section=unit_found.label if unit_found else "",
            heading=unit_found.heading if unit_found else "",
            kind=unit_found.kind if unit_found else "text",
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
        for version in (old, new):
            if len(version.source.text) > _MOST_CHARACTERS:
                raise InputError(
                    f"{version.source.name} has {len(version.source.text)} characters, more than "
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
        kinds: list[Kind] = []
        if a.key != b.key:
            kinds.append("follows" if self._follows(a, b) else "changed")
        if pair.moved:
            kinds.append("moved")
        if a.number != b.number and not self._counts_on(a, b):
            kinds.append("renumbered")
        return tuple(kinds)

    def _counts_on(self, a: Piece, b: Piece) -> bool:
        """Return whether a number is only another one as that above it is: 2.1 is 3.1 now."""
        up, there = _numbered_above(self.olds, a), _numbered_above(self.news, b)
        if min(up, there) < 0 or up not in self.pairs or self.pairs[up].new != there:
            return False
        rest = _behind(a.number, self.olds[up].number)
        return bool(rest) and rest == _behind(b.number, self.news[there].number)

    def _follows(self, a: Piece, b: Piece) -> bool:
        """Return whether two texts differ only in references, each to the same provision."""
        refs = find_references(narrowed(a.words)), find_references(narrowed(b.words))
        if not refs[0] or _without(a.words, refs[0]) != _without(b.words, refs[1]):
            return False
        return all(
            (before.steps, before.last) == (after.steps, after.last)
            or self._same(self.old.tree.find(before, a.unit), self.new.tree.find(after, b.unit))
            for before, after in zip(*refs, strict=True)
        )

    def _same(self, olds: Sequence[int], news: Sequence[int]) -> bool:
        return bool(olds) and [self.units.get(place) for place in olds] == list(news)

    @cached_property
    def units(self) -> dict[int, int]:
        """The new unit of every old one that begins in a line that both have."""
        pairs: dict[int, int] = {}
        for pair in self.pairs.values():
            a, b = self.olds[pair.old], self.news[pair.new]
            if _begins(self.old.tree, a) and _begins(self.new.tree, b):
                pairs[a.unit] = b.unit
        return pairs

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
        parts = [
            Part.model_validate(part) for part in differences(*self.words(self.pairs[lines[0]]))
        ]
        whole = "moved" in kinds
        old = a.unit if whole else _narrowest(self.old.tree, a, parts, "removed")
        new = b.unit if whole else _narrowest(self.new.tree, b, parts, "added")
        reworded = {"changed", "follows"} & {*kinds}
        return (there[0], 0), Change(
            kinds=kinds,
            old=self.old.place(old, _spans(self.olds, lines)),
            new=self.new.place(new, _spans(self.news, there)),
            parts=parts if reworded else [],
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
        """The line of the new version after which each old one stood, or -1."""
        lines: list[int] = []
        last = -1
        for i in range(len(self.olds)):
            pair = self.pairs.get(i)
            last = pair.new if pair and not pair.moved else last
            lines.append(last)
        return lines

    def _stale(self) -> Iterator[Stale]:
        """Yield references whose unchanged words now name another provision, or none."""
        if not any({"renumbered", "gone", "moved"} & {*kinds} for kinds in self.kinds):
            return
        for pair in self.pairs.values():
            a, b = self.olds[pair.old], self.news[pair.new]
            old, new = narrowed(a.words), narrowed(b.words)
            references = {
                (reference.steps, reference.last): reference for reference in find_references(new)
            }
            for reference in find_references(old):
                same = references.pop((reference.steps, reference.last), None)
                if same is None or any(elsewhere(old, reference)[:2]):
                    continue
                lost = self._lost(reference, a.unit, same, b.unit)
                if lost is not None:
                    at = self.new.place(b.unit, [(b.start, b.end)])
                    words = " ".join(new[same.start : same.end].split())
                    yield Stale(at=at, said=words, meant=lost[0], now=lost[1])

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
    """Return the nearest line above a line that has a number, or -1."""
    above = piece.above
    while above >= 0 and not pieces[above].number:
        above = pieces[above].above
    return above


def _behind(number: str, above: str) -> str:
    """Return what a number adds to the one above it: ".1" for 2.1 under 2, or "" if nothing."""
    own, up = (
        numbers[-1] if (numbers := _NUMBER.findall(text)) else "" for text in (number, above)
    )
    rest = own.removeprefix(up)
    return rest if up and rest != own and not rest[:1].isalnum() else ""


def _without(text: str, references: Iterable[Reference]) -> str:
    """Return a text without the numbers of its references."""
    pieces, at = [], 0
    for reference in references:
        pieces.append(text[at : reference.start])
        at = reference.end
    return "\0".join([*pieces, text[at:]])


def _narrowest(tree: Tree, piece: Piece, parts: Iterable[Part], op: str) -> int:
    """Return the unit with all words of a line that are in only one version."""
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
    lines_of, changed_of = Counter[int](), Counter[int]()
    for at, piece in enumerate(pieces):
        for unit in _within(tree, piece):
            lines_of[unit] += 1
            changed_of[unit] += at in among
    groups: dict[int, list[int]] = {}
    for at in lines:
        whole = [unit for unit in _within(tree, pieces[at]) if lines_of[unit] == changed_of[unit]]
        if whole:
            groups.setdefault(whole[-1], []).append(at)
        else:
            yield pieces[at].unit, [at]
    yield from groups.items()


def _within(tree: Tree, piece: Piece) -> list[int]:
    """Return the unit of a line and those around it, the outermost last."""
    return [piece.unit, *tree.above(piece.unit)] if piece.unit >= 0 else []
