"""A line that opens a part or a provision."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """A line, or two, that open a part or a provision.

    Args:
        style: The keyword, the style of its number, or nothing.
        number: As it is written; empty where there is none.
        level: The level that the format gives it; 0 where it gives none.
        body: Where the text of the provision begins in the line, if it goes on behind the heading.
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
        """True where the number is all that tells its rank."""
        return self.style[:1] == "1" or (self.style[:1] in "AI" and not self.level)
