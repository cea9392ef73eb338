""".csv: a table of text whose cells are told apart by a sign, most often a comma."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import LineWriter, decode, whole_text
from lexloop_formats.sheet import MOST_CELLS, Row, write_sheet

_DELIMITERS = ",;\t|"
_SAMPLE, _FIRST = 1 << 16, 100
_LONGEST_CELL = 1 << 20


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read the one document of a table, as a sheet that has the name of the file.

    Raises:
        CorpusError: It is no text of one encoding, no table, or empty.
    """
    text = whole_text(decode(data))
    csv.field_size_limit(_LONGEST_CELL)
    rows: list[Row] = []
    filled, cut = 0, False
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
        for number, values in enumerate(reader, 1):
            cells = {column: value.strip() for column, value in enumerate(values) if value.strip()}
            filled += len(cells)
            if cut := filled > MOST_CELLS:
                break
            if cells:
                rows.append(Row(number, cells))
    except csv.Error as error:
        raise CorpusError(f"It is not CSV ({error}).", "Save it again as CSV.") from error
    if not rows:
        much = f"Its first row has more than {MOST_CELLS} filled cells."
        what = much if cut else "It holds no filled cells."
        raise CorpusError(what, "Save it again as a table.")
    lines, stem = LineWriter(), PurePosixPath(name).stem
    write_sheet(lines, stem, rows)
    written, headings = lines.finished()
    yield Document(name, stem, written, headings=headings)
    if cut:
        what = f"It was read up to row {rows[-1].number}: it has more than {MOST_CELLS} cells."
        yield SkippedSource(name, what)


def _delimiter(text: str) -> str:
    """Return the sign by which most of the first rows have an equal number of cells."""

    def alike(delimiter: str) -> int:
        rows = csv.reader(io.StringIO(text[:_SAMPLE], newline=""), delimiter=delimiter)
        widths = Counter(len(row) for row in islice(rows, _FIRST) if len(row) > 1)
        return max(widths.values(), default=0)

    return max(_DELIMITERS, key=alike)
