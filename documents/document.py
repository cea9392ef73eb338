"""The document: text with its pages, headings, metadata and tree, and the places of its words.

A ``Document`` is the result of reading a file; ``SkippedSource`` is what could not be read.
"""

import re
import sys
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import repeat
from operator import mul, sub
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import UNKNOWN, Metadata

if TYPE_CHECKING:
    from lexloop.documents.structure.tree import Hung, Tree

_SECOND_DAY = date.min + timedelta(days=1)
_TENTHS = 10
"""Places are stored in tenths of a point."""
_FIELDS = 7
_HUNDREDTHS, _WRITTEN = 100, -1
"""The confidence of a recognised run is stored in hundredths; -1 means text that was not recognised
but written in the file.
"""
_WIDEST = (1 << 15) - 1
_LEVEL = 1
_NOTE = re.compile(r"\[[^\]\s]{1,9}\] ")
"""How a footnote begins, as ``LineWriter`` writes it."""


@dataclass(frozen=True)
class Document:
    """The extracted text of a document; offsets are code points into ``text``, half-open.

    Args:
        name: Path below the corpus folder, with forward slashes. If a file contains several
            documents, each has a name below the file's.
        title: Title shown with citations.
        text: The full text; lines end with line feeds.
        metadata: Front matter or the sidecar's row.
        pages: Offset of each page, the first 0; empty if the format has no pages.
        headings: The headings that the format itself marks: offset of the line, and level from 1.
        places: Positions of the characters: on pages, packed by ``encode_runs``, or in a text file,
            packed by ``encode_file_runs``. Empty if unknown.
        notes: Footnotes that the format marks: offset of the mark, and start and end of the text.
            The tree contains them too.
    """

    name: str
    title: str
    text: str
    metadata: Metadata = field(default_factory=Metadata)
    pages: tuple[int, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()
    places: bytes = b""
    notes: "tuple[Hung, ...]" = ()

    @cached_property
    def tree(self) -> "Tree":
        """The tree of parts, provisions, paragraphs, points and tables."""
        # imported late: workers that read files do not need it, and must start fast
        from lexloop.documents.structure.parse import parse

        return parse(self.text, self.headings, bool(self.pages), self.notes)

    def with_tree(self, tree: "Tree") -> Self:
        """Return the document with this tree, so that it is not parsed again."""
        copied = replace(self)
        vars(copied)["tree"] = tree
        return copied

    def file_runs(self, start: int, end: int) -> "list[FileRun]":
        """Return the runs that overlap a span; empty if the file is not a text file.

        Raises:
            CorpusError: The map of places is damaged.
        """
        if self.pages or not self.places:
            return []
        begins, ends = self._runs[:, 0], self._runs[:, 0] + self._runs[:, 2]
        return [FileRun(*run) for run in self._runs[(begins < end) & (ends > start)].tolist()]

    @cached_property
    def _runs(self) -> Any:
        import numpy as np  # imported late: workers only write maps

        try:
            packed = np.frombuffer(zlib.decompress(self.places), "<i4")
            return packed.reshape(-1, len(FileRun._fields))
        except (zlib.error, ValueError) as error:
            raise CorpusError(f"A map of places is damaged: {error}.", "Index again.") from error

    @cached_property
    def paragraphs(self) -> list[int]:
        """The offset of each paragraph that a word processor would count.

        Blank lines, table rows and footnotes are not counted.
        """
        tables = [(unit.start, unit.end) for unit in self.tree.units if unit.kind == "table"]
        starts, at = list[int](), 0
        for line in self.text.split("\n"):
            while tables and tables[0][1] <= at:
                del tables[0]
            within = bool(tables) and tables[0][0] <= at
            if line.strip() and not within and not _NOTE.match(line):
                starts.append(at)
            at += len(line) + 1
        return starts

    def page_at(self, offset: int) -> int | None:
        """Return the page number of an offset, from 1; None if there are no pages."""
        return bisect_right(self.pages, offset) or None if self.pages else None


@dataclass(frozen=True)
class SkippedSource:
    """A file, or a part of one, that could not be read, with the reason.

    Args:
        name: Name of the file or part.
        reason: The reason, as a sentence.
        indexed: Whether the file was read nevertheless, so that this is only a warning.
        package: Short name of a package of Lexloop that was missing, such as "formats"; else "".
    """

    name: str
    reason: str
    indexed: bool = False
    package: str = ""


def mark_partly_read(
    skipped: Iterable[SkippedSource], documents: Collection[str]
) -> list[SkippedSource]:
    """Return the skipped sources, with ``indexed`` set for those that gave a document.

    Only a part of such a file or archive is missing.
    """
    read = {name for document in documents for name in with_containers(document)}
    return [replace(item, indexed=item.indexed or item.name in read) for item in skipped]


def with_containers(name: str) -> Iterator[str]:
    """Return a document's name and the names of the files that contain it, outermost first."""
    parts = name.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


class Box(NamedTuple):
    """A rectangle on a page, from 1, in points from the lower left corner of the page as it shows.

    Edges are ``x0`` (left), ``y0`` (bottom), ``x1`` (right) and ``y1`` (top).
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class FileRun(NamedTuple):
    """A run of characters: its offset in the text and its offset in the file.

    ``line`` is the line of the file of the first character, from 1; line ends in the run are line
    ends of the file. ``at`` is -1 if the text is all on this line and encoded, as in JSON.
    """

    start: int
    at: int
    length: int
    line: int = 1


class CharacterRun(NamedTuple):
    """Characters on one line of a page, measured like ``Box``.

    ``start`` is the offset of the first character in the document's text; ``edges`` are the left
    edges of the characters and the right edge of the last. ``sure`` is the confidence of recognised
    text, from 0 to 1; None if the text was not recognised but written in the file.
    """

    start: int
    page: int
    bottom: float
    top: float
    edges: Sequence[float]
    sure: float | None = None


def encode_runs(runs: Sequence[CharacterRun]) -> bytes:
    """Pack runs, which are sorted by offset; return b"" if there are none."""
    if not runs:
        return b""
    table, steps = array("i", [len(runs)]), array("h")
    for run in runs:
        edges = list(map(int, map(mul, run.edges, repeat(_TENTHS))))
        place = (run.page, int(run.bottom * _TENTHS), int(run.top * _TENTHS))
        sure = _WRITTEN if run.sure is None else round(run.sure * _HUNDREDTHS)
        table.extend((run.start, *place, edges[0], sure, len(edges) - 1))
        widths = list(map(sub, edges[1:], edges))
        if min(widths) < -_WIDEST or max(widths) > _WIDEST:
            widths = [max(-_WIDEST, min(_WIDEST, width)) for width in widths]
        steps.extend(widths)
    if sys.byteorder == "big":  # stored data is little-endian
        table.byteswap()
        steps.byteswap()
    return zlib.compress(table.tobytes() + steps.tobytes(), _LEVEL)


def encode_file_runs(runs: Sequence[FileRun]) -> bytes:
    """Pack runs, which are sorted by offset; return b"" if there are none."""
    table = array("i", [value for run in runs for value in run])
    if sys.byteorder == "big":  # stored data is little-endian
        table.byteswap()
    return zlib.compress(table.tobytes(), _LEVEL) if runs else b""


def span_in_file(document: Document, start: int, end: int) -> tuple[int, int] | None:
    """Return the start and end, in its text file, of a span of the document's text.

    The result reaches from the first to the last word of the span that has a place in the file.
    Offsets are code points of the decoded file. Return None if no word has one, or if the file is
    not a text file.

    Raises:
        CorpusError: The document's map of places is damaged.
    """
    touched = document.file_runs(start, end)
    if not touched or touched[0].at < 0:
        return None
    first, last = touched[0], touched[-1]
    return (
        first.at + max(0, start - first.start),
        last.at + min(last.length, end - last.start),
    )


def line_in_file(document: Document, start: int, end: int) -> int | None:
    """Return the line of the file on which a span begins, from 1.

    Return None if the file is not a text file, or if nothing of the span is in it.

    Raises:
        CorpusError: The document's map of places is damaged.
    """
    touched = document.file_runs(start, end)
    if not touched:
        return None
    first = touched[0]
    breaks = document.text.count("\n", first.start, start) if first.at >= 0 else 0
    return first.line + breaks


def boxes_of(document: Document, start: int, end: int) -> list[Box]:
    """Return the places of a span on its pages, one box for each line.

    The list is empty if the format has no pages.

    Raises:
        CorpusError: The document's map of boxes is damaged.
    """
    import numpy as np  # imported late: workers only write maps

    boxes: list[Box] = []
    for (first, page, bottom, top, left, _, length), widths in _runs_in(document, start, end):
        begin, stop = max(start - first, 0), min(end - first, length)
        steps = np.cumsum([left, *widths])
        x0, x1 = sorted((int(steps[begin]), int(steps[stop])))
        boxes.append(Box(page, *(bound / _TENTHS for bound in (x0, bottom, x1, top))))
    return boxes


def confidence_of(document: Document, start: int, end: int) -> float | None:
    """Return the lowest confidence of the recognised text in a span, from 0 to 1.

    Return None if none of the text was recognised from a picture.

    Raises:
        CorpusError: The document's map of boxes is damaged.
    """
    sure = [run[-2] for run, _ in _runs_in(document, start, end) if run[-2] != _WRITTEN]
    return min(sure) / _HUNDREDTHS if sure else None


def _runs_in(document: Document, start: int, end: int) -> Iterator[tuple[list[int], Any]]:
    """Yield the stored runs that a span touches, each with the widths of its characters."""
    import numpy as np

    if not (document.pages and document.places):
        return
    try:
        data = zlib.decompress(document.places)
        count = int(np.frombuffer(data, "<i4", 1)[0])
        table = np.frombuffer(data, "<i4", _FIELDS * count, 4).reshape(count, _FIELDS)
        widths = np.frombuffer(data, "<i2", -1, table.nbytes + 4)
    except (zlib.error, ValueError) as error:
        raise CorpusError(f"A map of boxes is damaged: {error}.", "Index again.") from error
    places = [0, *np.cumsum(table[:, -1]).tolist()]
    if places[-1] != len(widths):
        raise CorpusError("A map of boxes is damaged: it is too short.", "Index again.")
    first = max(0, int(np.searchsorted(table[:, 0], start, "right")) - 1)
    for number, run in enumerate(table[first:].tolist(), first):
        if run[0] >= end:
            break
        if max(start - run[0], 0) < min(end - run[0], run[-1]):
            yield run, widths[places[number] : places[number + 1]]


def versions(
    names: Sequence[str], known: Mapping[str, Metadata], granted: Callable[[Metadata], bool]
) -> tuple[dict[str, Metadata], list[SkippedSource]]:
    """Return the metadata of the visible documents, as if the others did not exist.

    Args:
        names: All documents, in order.
        known: The metadata of each that has some, as loaded.
        granted: Whether a document with this metadata may be seen.

    Returns:
        The metadata that is known, with each document ending where its next version begins; and
        each ``supersedes`` that cannot be followed.
    """
    visible = {name: metadata for name, metadata in known.items() if granted(metadata)}
    if not any(metadata.supersedes for metadata in visible.values()):
        return visible, []
    hidden = known.keys() - visible.keys()
    shown = (name for name in names if name not in hidden)
    return end_superseded({name: visible.get(name, UNKNOWN) for name in shown})


def end_superseded(
    documents: Mapping[str, Metadata],
) -> tuple[dict[str, Metadata], list[SkippedSource]]:
    """End each superseded document on the day before its replacement begins.

    A document with an end of its own keeps it. If several replace one, the first counts. Pass the
    metadata as they were loaded, never an earlier result: a version is in force again if its
    replacement is removed.

    Returns:
        The same names with the days filled in, and each ``supersedes`` that cannot be followed,
        listed under the name of the document that has it, which stays in force itself.
    """
    ended = dict(documents)
    troubles: list[SkippedSource] = []
    for name, metadata in documents.items():
        if not metadata.supersedes:
            continue
        older = older_version(name, metadata, documents)
        why = _trouble(name, metadata, older, documents)
        if why is not None:
            troubles.append(SkippedSource(name, why, indexed=True))
        elif older is not None and documents[older].in_force_to is None:
            assert metadata.in_force_from is not None
            last = max(metadata.in_force_from, _SECOND_DAY) - timedelta(days=1)
            known = ended[older].in_force_to
            ended[older] = replace(ended[older], in_force_to=min(known or last, last))
    return ended, troubles


def older_version(name: str, metadata: Metadata, documents: Container[str]) -> str | None:
    """Return the name of the document that another supersedes; None if it is missing.

    ``supersedes`` is a name relative to the folder of the document, or a full name.
    """
    beside = (PurePosixPath(name).parent / metadata.supersedes).as_posix()
    named = (beside, metadata.supersedes) if metadata.supersedes else ()
    return next((candidate for candidate in named if candidate in documents), None)


def _trouble(
    name: str, metadata: Metadata, older: str | None, documents: Mapping[str, Metadata]
) -> str | None:
    """Return why a document cannot end an older one; None if it can."""
    claim = f"It supersedes {metadata.supersedes!r}"
    if older is None:
        return f"{claim}, which is not among the documents; it is in force itself."
    if older == name:
        return f"{claim}, which is itself."
    if metadata.in_force_from is None:
        return f"{claim} but does not say from when (in_force_from)."
    began, end = documents[older].in_force_from, documents[older].in_force_to
    if end is None and began is not None and metadata.in_force_from <= began:
        return f"{claim} from {metadata.in_force_from}, but that begins on {began}."
    return None
