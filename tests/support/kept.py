"""An index that is kept in its folder on this machine or in an engine, and read from there."""

import csv
from collections.abc import Sequence
from pathlib import Path

from indexes import letter_tools, sources

from lexloop.documents.document import Document
from lexloop.documents.reading.metadata import SIDECAR
from lexloop.models.embedding import Embedder
from lexloop.store.address import FLOAT, Storage, VectorKind
from lexloop.store.folder.store import open_folder
from lexloop.store.view import Collection
from lexloop.store.writer import write_index

_COLUMNS = ("title", "tags", "kind", "jurisdiction", "host", "in_force_from", "supersedes")


def keep(place: str, index: Path, embedder: Embedder, vectors: VectorKind = FLOAT) -> Collection:
    """Keep an index instead of the one kept before, and open it.

    Args:
        place: An address in an engine; "" for the index's own folder.
        index: The folder.
        embedder: Made its vectors.
        vectors: How coarsely an engine keeps them.
    """
    if not place:
        return Collection(open_folder(index, embedder))
    from lexloop_engines.engine.moving import push_index
    from lexloop_engines.engine.store import open_engine

    push_index(index, place, embedder, storage=Storage(vectors))
    return Collection(open_engine(place, embedder))


def write_documents(folder: Path, documents: Sequence[Document]) -> None:
    """Make the folder hold these documents and no others, with their metadata."""
    for old in folder.rglob("*.txt"):
        old.unlink()
    rows = []
    for document in documents:
        file = folder / document.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document.text, "utf-8")
        known = {**document.metadata.as_record(), "title": document.title}
        known["tags"] = ", ".join(document.metadata.tags)
        rows.append([document.name, *(known.get(column, "") for column in _COLUMNS)])
    with (folder / SIDECAR).open("w", encoding="utf-8", newline="") as table:
        csv.writer(table).writerows([("file", *_COLUMNS), *rows])


def index_documents(folder: Path, documents: Sequence[Document]) -> Path:
    """Bring an index of some documents up to date, or make it; it lies in ``folder``."""
    source = folder / "source"
    source.mkdir(exist_ok=True)
    write_documents(source, documents)
    write_index(folder / "index", sources(source), letter_tools())
    return folder / "index"
