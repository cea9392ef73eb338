"""Headings: the lines that open a part or a provision."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """One or two lines that open a part or a provision.

    Args:
        style: Keyword, or style of the number, or "".
        number: Number as written; "" if there is none.
        level: Heading level given by the format; 0 if none.
        body: Where the text of the provision begins in the line, if it follows the heading there.
        title: The number of following lines that belong to the heading.
        value: The place of its number in its sequence.
    """

    style: str
    number: str
    text: str
    level: int = 0
    body: int | None = None
    title: int = 0
    value: float = 0.0

    @property
    def sole(self) -> bool:
        """True if only the number shows the rank."""
        return self.style[:1] == "1" or (self.style[:1] in "AI" and not self.level)
