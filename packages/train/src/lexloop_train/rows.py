"""Files of rows, as CSV: read whole, each row checked before anything is done."""

import csv
from pathlib import Path

from pydantic import ValidationError

from lexloop.core.errors import InputError
from lexloop.core.jsonl import Line, problems


def read_csv(path: Path, shape: type[Line]) -> list[Line]:
    """Return the rows of a UTF-8 CSV file with a header line; further columns are left alone.

    Raises:
        InputError: The file cannot be read, or a row is malformed, which the message names by line
            and field.
    """
    names = ", ".join(shape.model_fields)
    hint = f"Give a UTF-8 CSV file with the columns {names}."
    rows_read: list[Line] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for row in reader:
                given = {name: text for name, text in row.items() if name and text is not None}
                try:
                    rows_read.append(shape.model_validate(given))
                except ValidationError as error:
                    what = f"line {reader.line_num}, {problems(error)[0]}"
                    raise InputError(f"{path}, {what}.", hint) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint) from error
    return rows_read
