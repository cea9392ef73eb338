"""The page of all figures: a block each, between marks, and cells of these quoted elsewhere.

A block stands between ``<!-- figure: NAME -->`` and ``<!-- end -->``. Its first line says what
printed the rest, when, and at which commit. ``<!-- NAME | ROW | COLUMN -->VALUE<!-- -->`` quotes a
cell of a table of the block: of the first row with a cell ROW, what stands below COLUMN.
"""

import re
from pathlib import Path

from lexloop.core.files import write_text

_BLOCK = r"(<!-- figure: {} -->\n)(.*?)(<!-- end -->)"
_COMMIT = re.compile(r"^.*?, \d{4}-\d\d-\d\d, commit `([0-9a-f]{7,40})`", re.DOTALL)
_QUOTED = re.compile(r"<!-- ([\w-]+) \| ([^|>]+) \| ([^|>]+) -->(.*?)<!-- -->")


class Page:
    """A Markdown page with blocks of figures.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text(encoding="utf-8")

    def block(self, name: str) -> str:
        """Return what stands in a block, "" where nothing was measured yet.

        Raises:
            KeyError: The page has no such block.
        """
        found = re.search(_BLOCK.format(re.escape(name)), self._text, re.DOTALL)
        if found is None:
            raise KeyError(f"{self._path.name} has no block for the figure {name}")
        return found[2]

    def commit(self, name: str) -> str | None:
        """Return the commit at which a block was measured."""
        found = _COMMIT.match(self.block(name))
        return found and found[1]

    def put(self, name: str, content: str) -> None:
        """Write a block anew; the file is replaced at once."""
        self.block(name)
        put = re.compile(_BLOCK.format(re.escape(name)), re.DOTALL)
        self._text = put.sub(lambda found: f"{found[1]}{content.strip()}\n{found[3]}", self._text)
        write_text(self._path, self._text)

    def quoted(self) -> dict[tuple[str, str, str], str]:
        """Return the cells that are quoted: by block, row and column, as they stand here."""
        return {(name, row, column): v for name, row, column, v in _QUOTED.findall(self._text)}

    def quote(self, figures: "Page") -> None:
        """Write the cells that are quoted here as they stand in the blocks of a page."""

        def anew(found: re.Match[str]) -> str:
            name, row, column, before = found.groups()
            value = cell(figures.block(name), row, column) or before
            return f"<!-- {name} | {row} | {column} -->{value}<!-- -->"

        self._text = _QUOTED.sub(anew, self._text)
        write_text(self._path, self._text)


def cell(block: str, row: str, column: str) -> str | None:
    """Return a cell of the tables of a block; None where no table has it."""
    head: list[str] = []
    for line in block.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [part.strip().replace("\\", "") for part in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not head:
            head = cells
        elif row in cells and column in head:
            return cells[head.index(column)]
    return None
