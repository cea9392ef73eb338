"""Indexes for tests: an embedder that takes no time, and all that an index holds as one value."""

import hashlib
from collections.abc import Callable, Collection, Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import UNKNOWN, Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk, Passage, Triplet
from lexloop.documents.document import Document, SkippedSource, versions
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.metadata import Sidecars, finished
from lexloop.documents.reading.source import Limits, Loaded, SourceFile, read_file
from lexloop.models.embedding import Embedder, Halves, Progress, Vectors
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.folder.store import FolderStore, open_folder
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools
from lexloop.store.view import Collection as Index
from lexloop.store.view import View
from lexloop.store.writer import build_collection

ANYBODY = Filters()
"""Sees what has no access tags, of any day."""


class Letters:
    """How often each letter occurs, with a record of what was embedded at index time."""

    def __init__(self, name: str = "letters", dimension: int = 27) -> None:
        self.name, self.dimension, self.window = name, dimension, 256
        self.embedded: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        rows = np.array(counts, dtype=np.float32).reshape(len(texts), 26)
        rows = np.concatenate([rows, np.ones((len(texts), 1), np.float32)], axis=1)
        rows = rows[:, -self.dimension :]
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        self.embedded += texts
        progress(len(texts), len(texts))
        return self.embed(list(texts)).astype(np.float16)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count_tokens(text) for text in texts]


def letter_tools(embedder: Embedder | None = None, **settings: Any) -> Tools:
    """The rules and the default chunker with an embedder that takes no time."""
    return tools_for(Settings(**settings), embedder or Letters())


def view_of(*documents: Document, embedder: Embedder | None = None, **settings: Any) -> View:
    """What anybody sees of an index of these documents."""
    return build_collection(documents, letter_tools(embedder, **settings)).seen_by(ANYBODY)


def passages_of(view: View) -> list[Passage]:
    """Every chunk of a view as a passage, in order."""
    chunks = enumerate(view.every_chunk(), 1)
    return [{**chunk, "n": n, "score": 1.0, "signals": {}} for n, chunk in chunks]


def sources(*folders: Path) -> list[IndexSource]:
    return [IndexSource(str(folder)) for folder in folders]


def everything_in(collection: Index) -> FolderStore:
    """What a collection holds and shows to nobody, for tests that compare indexes."""
    return collection._store


def content(index: Path | Index | FolderStore, embedder: Letters | None = None) -> dict[str, Any]:
    """Everything that an index holds and finds; two indexes with equal content are equal."""
    if isinstance(index, Index):
        return content(everything_in(index))
    if isinstance(index, Path):
        opened = open_folder(index, embedder or Letters())
        try:
            return content(opened)
        finally:
            opened.close()
    numbers = range(len(index.texts))
    graph = index.graph
    weights = index.lexical.weights
    names = index.layout.names
    known, _ = versions(names, index.catalogue.metadata, lambda _: True)
    return {
        "documents": {name: index.texts.text_of(place) for place, name in enumerate(names)},
        "metadata": {name: known.get(name, UNKNOWN).as_record() for name in names},
        "chunks": index.texts.chunks(range(len(index))),
        "triplets": index.texts.fetch(numbers),
        "terms": list(index.lexical.terms),
        "weights": [digest(a) for a in (weights.data, weights.indices, weights.indptr)],
        "vectors": digest(index.dense.vectors),
        "owners": digest(index.dense.owners),
        "entities": graph.entities,
        "walk": [
            path.triplets
            for path in graph.walk(dict.fromkeys(graph.entities[:5], 1.0), 2, limit=20)
        ],
        "skipped": sorted((item.name, item.reason) for item in index.texts.skipped()),
        "files": dict(index.manifest.fingerprints),
    }


def digest(array: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def read_here(
    parsed: list[str],
) -> Callable[[Sequence[SourceFile], Sidecars, Any], Generator[Loaded]]:
    """Reads files as the worker processes do, in this process; notes which are parsed."""

    def read(files: Sequence[SourceFile], sidecars: Sidecars, _: Any) -> Generator[Loaded]:
        for file in files:
            parsed.append(file.name)
            try:
                data = read_file(file.path, file.sha256, Limits())
                found = [*read_bytes(data, file.name, Limits())]
            except CorpusError as error:
                yield Loaded(
                    file, (), (SkippedSource(file.name, error.what, package=error.package),)
                )
                continue
            applied = [sidecars.applied(one) if isinstance(one, Document) else one for one in found]
            yield Loaded(
                file,
                tuple(finished(one) for one in applied if isinstance(one, Document)),
                tuple(one for one in applied if isinstance(one, SkippedSource)),
            )

    return read


def states(document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
    """One triplet a chunk: its first word opens it."""
    return [
        {
            "subject": chunk["text"].split()[0],
            "predicate": "opens",
            "object": f"“Größe” 法 \u2028 {chunk['start']}",
            "chunk_id": chunk["id"],
            "document": document.name,
            "section": chunk["section"],
            "page": chunk["page"],
            "start": chunk["start"],
            "end": chunk["end"],
            "quote": chunk["text"],
        }
        for chunk in chunks
    ]


def files_of(folder: Path) -> Collection[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def generations(index: Path) -> set[str]:
    """The names of the generations in an index's folder."""
    return {path.name for path in (index / GENERATIONS).iterdir()}
