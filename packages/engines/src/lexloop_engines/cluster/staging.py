"""What came of the files, as bytes that travel and are kept until the index is published.

A prepared file is an npz archive of arrays and JSON. Each lies in a file of its own, which is
written whole or not at all, so that a driver which is killed goes on where it was.
"""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lexloop.core.errors import DataError, IndexWriteError
from lexloop.core.files import write_bytes
from lexloop.documents.chunks.statements import statements_in, statements_text
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.workers import from_frame, to_frame
from lexloop.models.embedding import CODED
from lexloop.store.manifest import FORMAT, Recipe
from lexloop.store.protocol import MARK, PreparedChunk, PreparedDocument, PreparedFile
from lexloop_engines.engine.writing import Tally

T = TypeVar("T")


class Written(NamedTuple):
    """What came of a file that was written into an engine.

    Args:
        tally: Of its documents.
        skipped: What of it could not be read.
    """

    tally: Tally
    skipped: tuple[SkippedSource, ...]


def pack(made: PreparedFile) -> bytes:
    """Return a prepared file as bytes."""
    chunks = [held for one in made.documents for held in one.chunks]
    codes = [code for held in chunks for code in held.codes]
    said = {
        "name": made.name,
        "skipped": [astuple(item) for item in made.skipped],
        "documents": [_document_record(one) for one in made.documents],
        "vectors": [len(held.vectors) for held in chunks],
        "marks": [len(held.marks) for held in chunks],
        "codes": [len(code) for code in codes],
        "coded": [len(held.codes) for held in chunks],
    }
    text = json.dumps(said, allow_nan=False, separators=(",", ":")).encode()
    width = chunks[0].vectors.shape[1] if chunks else 0
    file = io.BytesIO()
    np.savez(
        file,
        allow_pickle=False,
        said=np.frombuffer(text, dtype=np.uint8),
        vectors=np.concatenate([np.zeros((0, width), np.float16), *(c.vectors for c in chunks)]),
        marks=np.concatenate([np.zeros((0, 2), MARK), *(held.marks for held in chunks)]),
        codes=np.concatenate([np.zeros((0, CODED), np.int8), *codes]),
    )
    return file.getvalue()


def unpack(data: bytes) -> PreparedFile:
    """Return what ``pack`` was given.

    Raises:
        DataError: The bytes are cut off or damaged.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            said = json.loads(file["said"].tobytes())
            vectors, marks, codes = (
                iter(np.split(file[name], np.cumsum(said[name])[:-1]))
                for name in ("vectors", "marks", "codes")
            )
        parts = zip(vectors, marks, (list(islice(codes, n)) for n in said["coded"]), strict=False)
        documents = tuple(_document_of(record, parts) for record in said["documents"])
        skipped = tuple(SkippedSource(*item) for item in said["skipped"])
        return PreparedFile(said["name"], documents, skipped)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise _damaged(data, error) from error


def _document_record(made: PreparedDocument) -> dict[str, Any]:
    chunks = [[held.chunk, statements_text(held.statements), held.triplets] for held in made.chunks]
    frame = to_frame(made.document)["document"]
    return {"file": made.file, "mark": made.fingerprint, "document": frame, "chunks": chunks}


def _document_of(record: dict[str, Any], parts: Iterator[tuple[Any, ...]]) -> PreparedDocument:
    document = from_frame(record)
    if not isinstance(document, Document):
        raise TypeError(f"{record['document']!r:.80} is no document")
    chunks = [
        PreparedChunk(chunk, statements_in(said), stated, *next(parts))
        for chunk, said, stated in record["chunks"]
    ]
    return PreparedDocument(record["file"], record["mark"], document, chunks)


def pack_written(written: Written) -> bytes:
    """Return what came of a file as bytes."""
    skipped = [astuple(one) for one in written.skipped]
    return json.dumps([written.tally.as_record(), skipped]).encode()


def unpack_written(data: bytes) -> Written:
    """Return what ``pack_written`` was given.

    Raises:
        DataError: The bytes are cut off or damaged.
    """
    try:
        tally, skipped = json.loads(data)
        return Written(Tally.from_record(tally), tuple(SkippedSource(*one) for one in skipped))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(data, error) from error


def _damaged(data: bytes, error: Exception) -> DataError:
    return DataError(
        f"What came of a file, {len(data)} bytes, cannot be read: {error}.",
        "Run the command again.",
    )


class Staging:
    """A folder of prepared files, made when the first is kept.

    Args:
        folder: Nothing else lies in it.
        recipe: That they are made by; those of another are not found.
        generation: Of the index in an engine that they are written into.
    """

    def __init__(self, folder: Path, recipe: Recipe, generation: str = "") -> None:
        self._folder = folder
        self._made = json.dumps([FORMAT, vars(recipe), generation], sort_keys=True)

    def keep(self, name: str, fingerprint: str, packed: bytes) -> None:
        """Keep what was made of a file, packed.

        Raises:
            IndexWriteError: The disk is full, or the folder cannot be written.
        """
        path = self._path(name, fingerprint)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, packed)
        except OSError as error:
            raise IndexWriteError(
                f"What is prepared of {name} cannot be kept in {path.parent}: {error}.",
                "Make room, then run the command again: it goes on from here.",
            ) from error

    def holds(self, name: str, fingerprint: str) -> bool:
        """Return whether a file is kept."""
        return self._path(name, fingerprint).is_file()

    def take(self, name: str, fingerprint: str, unpack: Callable[[bytes], T]) -> T | None:
        """Return a file that is kept; None where there is none or it is damaged."""
        try:
            return unpack(self._path(name, fingerprint).read_bytes())
        except (OSError, DataError):  # it is made again
            return None

    def clear(self) -> None:
        """Remove all that is kept."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, name: str, fingerprint: str) -> Path:
        said = "\0".join((self._made, name, fingerprint))
        digest = hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / digest[:2] / f"{digest}.kept"
