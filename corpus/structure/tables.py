"""Rows of tables as they stand in a text."""

import re

_RULER = re.compile(r"[\s|:+=_-]+$")
_CAPTION = re.compile(
    r"(?:Table|TABLE)\s+(?P<number>[\dA-Z][\w.\-–]{0,14})(?=[\s:–—]|$)[\s:–—]*(?P<heading>.*)$"
)
_GAP = re.compile(r"\t+|\s{3,}")


def cells(row: str) -> list[str]:
    """The cells of a row, blanks around them left out."""
    parts = row.strip().strip("|").split("|") if "|" in row else _GAP.split(row.strip())
    return [part.strip() for part in parts]


def is_ruler(row: str) -> bool:
    """Whether a row only draws a line, as Markdown's second row does."""
    return _RULER.match(row) is not None


def caption(line: str) -> tuple[str, str] | None:
    """Number and heading of a line such as ``Table 2 Fines``; None where it is no caption."""
    found = _CAPTION.match(line)
    return (
        (found["number"].rstrip("."), found["heading"].strip())
        if found and len(line) <= 250
        else None
    )
