"""What loading gives: documents, and what could not be read."""

from bisect import bisect_right
from dataclasses import dataclass, field

from lexloop.core.metadata import Metadata


@dataclass(frozen=True)
class Document:
    """Extracted text. Offsets are code points into ``text``, half-open.

    Args:
        name: Its path below the corpus folder, with forward slashes; a file that holds several
            documents gives each a name of its own below its own.
        title: Shown beside citations.
        text: The whole text; line ends are line feeds.
        metadata: Front matter or the sidecar's row.
        pages: Where each page begins, the first at 0; empty where the format has no pages.
        headings: Where the format itself marks headings: offset of the line, and the heading.
    """

    name: str
    title: str
    text: str
    metadata: Metadata = field(default_factory=Metadata)
    pages: tuple[int, ...] = ()
    headings: tuple[tuple[int, str], ...] = ()

    def page_at(self, offset: int) -> int | None:
        """The page, from 1, on which an offset lies; None where there are no pages."""
        return bisect_right(self.pages, offset) or None if self.pages else None


@dataclass(frozen=True)
class Skipped:
    """A file, or a part of one, that could not be read, and why."""

    name: str
    reason: str
