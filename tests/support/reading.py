"""Files of any format as they are read from their bytes."""

from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits


def read_parts(
    name: str, data: str | bytes, limits: Limits | None = None
) -> tuple[list[Document], list[str]]:
    """Return the documents of a file, and why other parts of it were left out."""
    written = data.encode() if isinstance(data, str) else data
    found = list(read_bytes(written, name, limits or Limits()))
    documents = [one for one in found if isinstance(one, Document)]
    return documents, [one.reason for one in found if isinstance(one, SkippedSource)]


def read_one(
    name: str, data: str | bytes, limits: Limits | None = None
) -> tuple[Document, list[str]]:
    """Return the one document of a file, and why other parts of it were left out."""
    ((document,), reasons) = read_parts(name, data, limits)
    return document, reasons


def read_document(name: str, data: str | bytes, limits: Limits | None = None) -> Document:
    """Return the one document of a file of which nothing is left out."""
    document, reasons = read_one(name, data, limits)
    assert reasons == []
    return document
