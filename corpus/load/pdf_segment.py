"""Runs of text on a page of a PDF, and where each of their characters stands."""

from array import array
from dataclasses import dataclass, field, replace

SAME_LINE = 0.5
"""The share of its height that what stands on one line has in common."""


@dataclass(slots=True)
class Segment:
    """Text that stands on one line without a wide gap, in points from the lower left corner.

    Args:
        page: Its page, from 0.
        text: Words with single blanks between; ``HYPHEN`` at the end where a word was broken.
        edges: Where each character begins, and where the last ends.
        bottom: Of its line, descenders included.
        top: Of its line, ascenders included.
        size: Of its font, as it shows.
        bold: Whether it is bold from its first to its last character.
        hang: Where the words behind its list marker begin; the beginning where it has none.
    """

    page: int
    text: str
    edges: "array[float]"
    bottom: float
    top: float
    size: float
    bold: bool
    hang: float

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.edges[0]

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.edges[-1]

    def level_with(self, other: "Segment") -> bool:
        """Whether both stand on the same line."""
        shared = min(self.top, other.top) - max(self.bottom, other.bottom)
        return shared > SAME_LINE * min(self.top - self.bottom, other.top - other.bottom)

    def parted(self, at: int) -> tuple["Segment", "Segment"]:
        """What stands in front of the word that begins at an index of the text, and the rest."""
        return (
            replace(self, text=self.text[: at - 1], edges=self.edges[:at]),
            replace(self, text=self.text[at:], edges=self.edges[at:], hang=self.edges[at]),
        )

    def followed_by(self, other: "Segment") -> "Segment":
        """Both as one, with a blank between."""
        return Segment(
            self.page,
            f"{self.text} {other.text}",
            self.edges + other.edges,
            min(self.bottom, other.bottom),
            max(self.top, other.top),
            other.size if len(other.text) > len(self.text) else self.size,
            self.bold and other.bold,
            other.left,
        )


@dataclass(slots=True)
class Sheet:
    """A page as it shows.

    Args:
        height: In points.
        segments: In the order in which the file draws them.
        rules: How high the lines and edges of boxes that it draws stand.
        shows: Whether it shows anything at all.
    """

    height: float
    segments: list[Segment]
    rules: list[float] = field(default_factory=list)
    shows: bool = True
