"""A prepared file as bytes, which travel and are kept: an npz archive of arrays and JSON."""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import DataError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.workers import from_frame, to_frame
from lexloop.documents.structure.statements import Statement
from lexloop.models.embedding import CODED
from lexloop.store.protocol import PreparedChunk, PreparedDocument, PreparedFile

_Arrays = tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]
"""Of a chunk: vectors, marks, and the codes of each window."""


def pack(made: PreparedFile) -> bytes:
    """Return a prepared file as bytes."""
    chunks = [held for one in made.documents for held in one.chunks]
    codes = [code for held in chunks for code in held.codes]
    said = {
        "name": made.name,
        "skipped": [astuple(item) for item in made.skipped],
        "documents": [_document_record(one) for one in made.documents],
        "windows": [[len(held.vectors), len(held.marks), len(held.codes)] for held in chunks],
        "tokens": [len(code) for code in codes],
    }
    text = json.dumps(said, allow_nan=False, separators=(",", ":")).encode()
    width = chunks[0].vectors.shape[1] if chunks else 0
    arrays = {
        "said": np.frombuffer(text, dtype=np.uint8),
        "vectors": _joined([held.vectors for held in chunks], np.zeros((0, width), np.float16)),
        "marks": _joined([held.marks for held in chunks], np.zeros((0, 2), "<u8")),
        "codes": _joined(codes, np.zeros((0, CODED), np.int8)),
    }
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> PreparedFile:
    """Return what ``pack`` was given.

    Raises:
        DataError: The bytes are cut off or damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in ("said", "vectors", "marks", "codes")}
        said = json.loads(arrays.pop("said").tobytes())
        skipped = tuple(SkippedSource(*item) for item in said["skipped"])
        chunks = _chunk_arrays(said, arrays)
        documents = tuple(_document_of(record, chunks) for record in said["documents"])
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DataError(
            f"A prepared file of {len(data)} bytes cannot be read: {error}.",
            "Run the command again.",
        ) from error
    return PreparedFile(said["name"], documents, skipped)


def _joined(parts: list[Any], none: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([none, *parts])


def _document_record(made: PreparedDocument) -> dict[str, Any]:
    chunks = [
        [held.chunk, [astuple(one) for one in held.statements], held.triplets]
        for held in made.chunks
    ]
    frame = to_frame(made.document)["document"]
    return {"file": made.file, "mark": made.fingerprint, "document": frame, "chunks": chunks}


def _document_of(
    record: dict[str, Any], arrays: Iterator[tuple[Any, Any, Any]]
) -> PreparedDocument:
    document = from_frame(record)
    if not isinstance(document, Document):
        raise TypeError(f"{record['document']!r:.80} is no document")
    chunks = [
        PreparedChunk(chunk, [_statement_of(one) for one in held], stated, *next(arrays))
        for chunk, held, stated in record["chunks"]
    ]
    return PreparedDocument(record["file"], record["mark"], document, chunks)


def _statement_of(values: list[Any]) -> Statement:
    start, end, leads, *rest = values
    return Statement(start, end, tuple((first, last) for first, last in leads), *rest)


def _chunk_arrays(said: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Iterator[_Arrays]:
    """Yield the vectors, marks and codes of each chunk in order."""
    lengths = iter(said["tokens"])
    at = dict.fromkeys(arrays, 0)

    def taken(name: str, count: int) -> NDArray[Any]:
        first = at[name]
        at[name] = first + count
        return arrays[name][first : first + count]

    for vectors, marks, codes in said["windows"]:
        own = [taken("codes", next(lengths)) for _ in range(codes)]
        yield taken("vectors", vectors), taken("marks", marks), own
