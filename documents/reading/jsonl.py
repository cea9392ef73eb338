""".jsonl: one document per line, with its metadata beside its text."""

import codecs
import io
import json
from collections.abc import Iterator
from typing import Any

from lexloop.core.errors import CorpusError
from lexloop.documents.document import (
    Document,
    FileRun,
    SkippedSource,
    encode_file_runs,
)
from lexloop.documents.reading.metadata import NO_TEXT, read_fields
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.text import decode, whole_text
from lexloop.documents.reading.title import chosen_title, own_title

_MOST_REPORTED = 50
_LONGEST_NAME = 500


def read(data: bytes, name: str, limits: Limits) -> Iterator[Document | SkippedSource]:
    """Read a document from each line; problems are reported with their line and field."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = decode(data).encode()
    copies: dict[str, int] = {}
    blank: list[int] = []
    bad = 0
    lines = enumerate(map(bytes.strip, io.BytesIO(data.removeprefix(codecs.BOM_UTF8))), 1)
    for number, line in ((number, line) for number, line in lines if line):
        try:
            row = _row(line)
            key = _key(row, number)
            if key in copies:
                raise CorpusError(
                    f"id {key!r} is that of line {copies[key]}.", "Number them again."
                )
            copies[key] = number
            if isinstance(row.get("text"), str) and not row["text"].strip():
                blank.append(number)
            else:
                yield _document(row, key, name, number)
        except CorpusError as error:
            bad += 1
            if bad <= _MOST_REPORTED:
                yield SkippedSource(name, f"Line {number}: {error.what}")
    if bad > _MOST_REPORTED:
        yield SkippedSource(name, f"{bad - _MOST_REPORTED} more lines cannot be read.")
    if blank:
        shown = ", ".join(map(str, blank[:5]))
        rest = f" and {len(blank) - 5} more" if len(blank) > 5 else ""
        message = f"{len(blank)} lines contain no text: {shown}{rest}."
        yield SkippedSource(name, message if len(blank) > 1 else f"Line {shown} contains no text.")
    if not copies and not bad:
        raise CorpusError("It contains no line with a document.", "Remove it or fill it.")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise CorpusError("A field occurs in it twice.", "Keep one of them.")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats)


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = _DECODER.decode(line.decode())
    except UnicodeDecodeError as error:
        raise CorpusError(f"It is not UTF-8 (byte {error.start}).", "Convert it.") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"It is not JSON ({error}).", "Write one object a line.") from error
    if not isinstance(row, dict):
        raise CorpusError("It is not a JSON object.", "Write one object a line.")
    return row


def _key(row: dict[str, Any], number: int) -> str:
    """Return the name of a row: its ``name``, its ``id``, or its line."""
    for field in ("name", "id"):
        value = row.get(field)
        if value is None or value == "":
            continue
        key = str(value).strip()
        if not isinstance(value, (str, int)) or not key or len(key) > _LONGEST_NAME:
            message = f"{field} is {str(value)[:50]!r}, which is not a short text."
            raise CorpusError(message, "Give a short text or number.")
        if NO_TEXT.search(key):
            raise CorpusError(f"{field} is {key!r}, which is not text.", "Give a short text.")
        return key
    return f"line {number}"


def _document(row: dict[str, Any], key: str, name: str, line: int) -> Document:
    if not isinstance(row.get("text"), str):
        raise CorpusError("text is missing or no text.", "Give each line a `text`.")
    try:
        text = whole_text(row["text"])
    except CorpusError as error:
        raise CorpusError(f"text: {error.what}", error.hint) from error
    metadata = read_fields(row)
    places = encode_file_runs([FileRun(0, -1, len(text), line)])
    title = metadata.title or chosen_title("", own_title(text), text, key)
    return Document(f"{name}/{key}", title, text, metadata, places=places)
