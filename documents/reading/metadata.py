"""The metadata of documents: fields as users write them, and ``metadata.csv``.

Any doubt about who may see a document is an error.
"""

import csv
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any
from urllib.parse import urlsplit

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document, SkippedSource, with_containers
from lexloop.documents.reading.text import decode

_FIELDS = tuple(field.name for field in fields(Metadata))
NO_TEXT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_MEANT_AS_TAGS = frozenset({"tag", "access", "access_tag", "access_tags", "allowed_tags"})


@lru_cache(maxsize=1024)
def _field_name(name: str) -> str:
    """Return a field's name as the metadata spells it: lower case, with underscores."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def read_fields(values: Mapping[str, Any]) -> Metadata:
    """Return the metadata in ``values``; unknown fields are ignored.

    Raises:
        CorpusError: A field cannot be read, or the access tags are ambiguous.
    """
    record: dict[str, Any] = {}
    for name, value in values.items():
        field = _field_name(name)
        if field in _MEANT_AS_TAGS:
            raise CorpusError(f"{name} is not a field.", "Name the access tags `tags`.")
        if field not in _FIELDS:
            continue
        if field in record:
            raise CorpusError(f"{field} is given twice.", "Keep one of them.")
        record[field] = value
    metadata = Metadata.from_record(record)
    for name, value in metadata.as_record().items():
        if NO_TEXT.search(value if isinstance(value, str) else "".join(value)):
            raise CorpusError(f"{name} is {value!r}, which is not text.", "Write it on one line.")
    tags = record.get("tags")
    if tags not in (None, "", [], ()) and not metadata.tags:
        raise CorpusError(f"tags are {tags!r}, which names none.", "Write the tags or leave none.")
    host_of(metadata.url)
    return metadata


def host_of(url: str) -> str:
    """Return the host name of a web address; "" if there is none.

    Raises:
        CorpusError: The address is not a web address.
    """
    try:
        return urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError as error:
        raise CorpusError(f"url is {url!r}: {error}.", "Write it as in a browser.") from error


SIDECAR = "metadata.csv"
_MOST_REPORTED = 50
_LONGEST_NAME = 4096


@dataclass
class Sidecars:
    """The rows of every sidecar, and the documents whose row cannot be read.

    Args:
        rows: Fields by the name of a document or of the file that contains it.
        barred: By such a name, or a folder's, the reason why the document is held back.
    """

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    barred: dict[str, str] = field(default_factory=dict)

    def add(self, data: bytes, name: str, exists: Callable[[str], bool]) -> list[SkippedSource]:
        """Add one CSV file, and return the problems in it.

        The rows name files relative to the sidecar's folder; ``exists`` tells whether the corpus
        has a file. Rows of a sidecar deeper in the tree win over earlier ones, field by field.
        """
        folder = name[: -len(SIDECAR)]
        troubles: list[SkippedSource] = []
        named: set[str] = set()
        try:
            for line, columns, values in _table(data):
                try:
                    self._row(columns, values, folder, named, exists)
                except CorpusError as error:
                    troubles.append(SkippedSource(name, f"Line {line}: {error.what}"))
        except CorpusError as error:
            return [self.bar(name, error.what)]
        hidden = len(troubles) - _MOST_REPORTED
        more = [SkippedSource(name, f"{hidden} more lines cannot be read.")] if hidden > 0 else []
        return troubles[:_MOST_REPORTED] + more

    def bar(self, name: str, why: str) -> SkippedSource:
        """Bar every document below an unreadable sidecar, because one may be secret."""
        folder = name[: -len(SIDECAR)].rstrip("/")
        self.barred[normal(folder)] = f"{name} cannot be read, so who may see it is unknown."
        return SkippedSource(name, why)

    def _row(
        self,
        columns: list[str],
        values: list[str],
        folder: str,
        named: set[str],
        exists: Callable[[str], bool],
    ) -> None:
        cells = {column: value for column, value in zip(columns, values, strict=False) if column}
        target = normal(folder + _file(cells.pop("file", "")))
        try:
            if len(values) != len(columns):
                message = f"It has {len(values)} cells under {len(columns)} columns."
                raise CorpusError(message, "Correct it.")
            if target in named:
                raise CorpusError(f"file {target!r} has two rows.", "Keep one of them.")
            named.add(target)
            record = read_fields(cells).as_record()
        except CorpusError as error:
            why = error.what.rstrip(".")
            self.barred[target] = (
                f"Its row of metadata cannot be read, so who may see it is unknown ({why})."
            )
            raise
        self.rows[target] = {**self.rows.get(target, {}), **record}
        if not any(exists(name) for name in with_containers(target)):
            raise CorpusError(f"file: there is no {target!r}.", "Correct the name.")

    def applied(self, document: Document) -> Document | SkippedSource:
        """Return a document with its rows' metadata, or why it must not be shown."""
        if (why := self.bars(document.name)) is not None:
            return SkippedSource(document.name, why)
        rows = [self.rows[n] for n in with_containers(normal(document.name)) if n in self.rows]
        if not rows:
            return document
        record = document.metadata.as_record()
        for row in rows:
            record |= row
        try:
            metadata = Metadata.from_record(record)
        except CorpusError as error:
            return SkippedSource(document.name, f"Front matter and sidecar disagree: {error.what}")
        return replace(document, title=metadata.title or document.title, metadata=metadata)

    def bars(self, name: str) -> str | None:
        """Return why a file or document must not be shown; None if it may."""
        names = ("", *with_containers(normal(name)))
        return next((self.barred[name] for name in names if name in self.barred), None)

    def marks(self, names: Iterable[str]) -> dict[str, str]:
        """Return for each file a mark that changes with its documents' metadata."""
        applying: dict[str, list[Any]] = {name: [] for name in names}
        by_normal = {normal(name): name for name in applying}
        for target, entry in sorted([*self.rows.items(), *self.barred.items()], key=itemgetter(0)):
            for name in with_containers(target):
                if name in by_normal:
                    applying[by_normal[name]].append((target, entry))
        marks = {
            name: json.dumps([s, self.bars(name)], sort_keys=True) for name, s in applying.items()
        }
        return {name: hashlib.sha256(mark.encode()).hexdigest() for name, mark in marks.items()}


def is_sidecar(name: str) -> bool:
    """Return whether a file name, without its folder, is a sidecar's, in any case."""
    return name.lower() == SIDECAR


def finished(document: Document) -> Document:
    """Return a document with its host taken from its address, if no host is given."""
    metadata = document.metadata
    host = metadata.host or host_of(metadata.url)
    return replace(document, metadata=replace(metadata, host=host))


def _table(data: bytes) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield each row that is not blank: the line it ends on, the columns, and the cells.

    Raises:
        CorpusError: The file is not CSV, or its columns have no names.
    """
    text = decode(data)
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = [_field_name(column) for column in next(reader, [])]
        if "file" not in columns:
            raise CorpusError("It has no column `file`.", "Name the file of each row in `file`.")
        for column in filter(None, columns):
            if column not in (*_FIELDS, "file"):
                known = f"Use file, {', '.join(_FIELDS)}."
                raise CorpusError(f"Its column {column!r} is unknown.", known)
            if columns.count(column) > 1:
                raise CorpusError(f"It has two columns {column!r}.", "Keep one of them.")
        for values in reader:
            if any(value.strip() for value in values):
                yield reader.line_num, columns, values
    except csv.Error as error:
        message = f"Line {reader.line_num}: it is not CSV ({error})."
        raise CorpusError(message, "Save it as CSV.") from error


def _file(value: str) -> str:
    """Return the file of a row, relative to the sidecar's folder."""
    name = value.strip().replace("\\", "/").removeprefix("./")
    if not name:
        raise CorpusError("file is empty.", "Name the file.")
    if len(name) > _LONGEST_NAME:
        raise CorpusError(f"file {name[:40]!r}… has {len(name)} characters.", "Name a file.")
    if name.startswith("/") or ".." in name.split("/"):
        raise CorpusError(f"file {name!r} leads out of the folder.", "Name one of the folder.")
    return name


def normal(name: str) -> str:
    """Return a name in Unicode NFC, since file systems and tables differ in this."""
    return unicodedata.normalize("NFC", name)
