"""What test questions are made of: the statements of a corpus, each with its place."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lexloop.core.errors import CorpusError
from lexloop.core.types import Chunk
from lexloop.corpus.index.view import View
from lexloop.corpus.load.document import Document
from lexloop.corpus.triplets.frames import Unit, units
from lexloop.evaluation.case import Span

_NUMBERED = re.compile(
    r"(?:§|section|article|art\.|rule|regulation|clause|part|chapter|annex|schedule)++\s*+\S*\d|\d",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?:§+\s*)?(?:(?:section|article|art\.|rule|regulation|clause|part|chapter|annex|schedule)\s+)?"
    r"[\dA-Z][\w.\-]*(?:\(\w{1,4}\))*",
    re.IGNORECASE,
)


_CLAUSE_NUMBER = re.compile(r"^\d{1,3}(?:\.\d{1,3})+\.?\s+(?=[A-Z\"“‘'])")


@dataclass(frozen=True)
class Line:
    """A sentence or list item of a document.

    Args:
        document: The document's name.
        section: The section that it stands in, or nothing.
        unit: Its offsets, its words, and the clause that it hangs on.
    """

    document: str
    section: str
    unit: Unit

    @property
    def body(self) -> str:
        """The words without the number of a clause, "2.1"."""
        return _CLAUSE_NUMBER.sub("", self.unit.body)

    @property
    def place(self) -> str:
        """The section as a question names it, "§ 20-871"; empty where it has no number."""
        if not _NUMBERED.match(self.section):
            return ""
        found = _PLACE.match(self.section)
        named = found.group().rstrip(".") if found else ""
        return f"section {named}" if named[:1].isdigit() else named


@dataclass(frozen=True, eq=False)
class Material:
    """Documents as the makers of questions read them.

    Args:
        view: Those that may be asked about.

    Raises:
        CorpusError: There is no text among them.
    """

    view: View

    def __post_init__(self) -> None:
        if not self.chunks:
            raise CorpusError(
                "The corpus holds no text to ask about.", "Give a folder or index with documents."
            )

    @cached_property
    def chunks(self) -> list[Chunk]:
        """Every chunk of the documents, in order."""
        return list(self.view.every_chunk())

    @cached_property
    def lines(self) -> list[Line]:
        """Every statement, in order."""
        own: dict[str, list[Chunk]] = {name: [] for name in self.view.documents}
        for chunk in self.chunks:
            own[chunk["document"]].append(chunk)
        return [line for name, chunks in own.items() for line in self._of(name, chunks)]

    def _of(self, document: str, own: list[Chunk]) -> Iterator[Line]:
        starts = [chunk["start"] for chunk in own]
        text = self.text_of(document)
        for unit in units(Document(document, "", text).tree, text):
            place = bisect_right(starts, unit.start) - 1
            yield Line(document, own[place]["section"] if place >= 0 else "", unit)

    def text_of(self, document: str) -> str:
        """The whole text of a document."""
        return self.view.text_of(document) or ""

    def quote(self, span: Span) -> str:
        """What a span holds."""
        return self.text_of(span.document)[span.start : span.end]
