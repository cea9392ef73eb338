"""An open index in a folder, memory-mapped or read piece by piece.

Nothing is parsed before its manifest and hashes agree. Code that answers a caller opens a
``Collection``, which gives no text without naming the caller. A test lists the modules that may use
this one.
"""

import sqlite3
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_array
from lexloop.core.errors import CorpusError, DataError
from lexloop.core.files import remedy, sha256_of, sync
from lexloop.core.types import Chunk, Hit, Triplet
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.document import Document
from lexloop.models.embedding import Codes, Embedder, Vectors
from lexloop.store.folder.dense import DenseIndex, Ranked
from lexloop.store.folder.generations import GENERATIONS, SharedLock
from lexloop.store.folder.lexical import LexicalIndex, searched_text
from lexloop.store.folder.texts import TextStore
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import REBUILD, Manifest
from lexloop.store.protocol import (
    Catalogue,
    Found,
    Marks,
    PreparedChunk,
    PreparedDocument,
    Statistics,
    Within,
)

_VIEWS, _DOCUMENTS, _STATED, _TERMS = 16, 64, 2048, 1 << 14
_AT_ONCE = 1000
_ATTEMPTS, _BETWEEN_S = 10, 0.02
_NORM_TOLERANCE = 0.01
_VECTORS_AT_ONCE = 50_000
Mask = NDArray[np.bool_]
MARKS = "marks.npy"


@dataclass(frozen=True)
class Layout:
    """The chunks of all documents, in the order that every part of the index shares.

    Args:
        names: Names of the documents, in the order in which they were added.
        owners: Place in ``names`` of each chunk's document; int32, ascending.
        starts: Offset of each chunk in its document; int32, ascending within one.
        supporting: 1 for each chunk that is not operative text, otherwise 0; int32.
    """

    FILE = "chunks.npy"

    names: Sequence[str]
    owners: NDArray[np.int32]
    starts: NDArray[np.int32]
    supporting: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owners)

    def id_of(self, position: int) -> str:
        """Return the id of the chunk at a position."""
        return f"{self.names[self.owners[position]]}#{self.starts[position]}"

    def position_of(self, chunk_id: str) -> int:
        """Return the position of a chunk; KeyError if there is none."""
        name, _, start = chunk_id.rpartition("#")
        if name in self.ordinals and start.isdecimal():
            first, end = self.span_of(self.ordinals[name])
            position = bisect_left(self.starts, int(start), first, end)
            if position < end and self.starts[position] == int(start):
                return position
        raise KeyError(chunk_id)

    def span_of(self, ordinal: int) -> tuple[int, int]:
        """Return the first position of a document's chunks, and the one after its last."""
        return int(self._firsts[ordinal]), int(self._firsts[ordinal + 1])

    @cached_property
    def ordinals(self) -> dict[str, int]:
        """The documents' places by their names."""
        return {name: ordinal for ordinal, name in enumerate(self.names)}

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        return np.searchsorted(self.owners, np.arange(len(self.names) + 1))

    def save(self, folder: Path) -> dict[str, str]:
        """Write the numbers, and return the SHA-256 of the file; the text store has the names."""
        rows = np.stack([self.owners, self.starts, self.supporting])
        return {self.FILE: save_array(folder / self.FILE, rows)}

    @classmethod
    def load(cls, folder: Path, names: Sequence[str]) -> Self:
        """Memory-map the files that ``save`` wrote."""
        stored = load_array(folder / cls.FILE, np.int32, dimensions=2)
        if len(stored) != 3:
            raise ValueError(f"{cls.FILE} has shape {stored.shape}")
        return cls(names, *stored)


@dataclass(frozen=True)
class StoredTriplets:
    """The triplets of a text store, as the knowledge graph reads them."""

    texts: TextStore
    layout: Layout

    def __len__(self) -> int:
        return len(self.texts)

    def fetch(self, numbers: Sequence[int]) -> list[Triplet]:
        """Return the triplets with these numbers, in the order asked for."""
        return self.texts.fetch(numbers)

    def numbers_of(self, chunk_ids: Sequence[str]) -> list[list[int]]:
        """Return the triplets' numbers of each chunk; empty for an unknown chunk."""
        places: list[int] = []
        for chunk_id in chunk_ids:
            try:
                places.append(self.layout.position_of(chunk_id))
            except KeyError:
                places.append(-1)
        by_place = self.texts.triplets_of(places)
        return [by_place[place] for place in places]


class Part(NamedTuple):
    """The indexes of the documents that one caller sees.

    Args:
        places: The position of each of their chunks among all.
        lexical: Over these chunks.
        dense: Index of their windows; None if there are too many, so that the whole index is
            searched.
    """

    places: NDArray[np.int64]
    lexical: LexicalIndex
    dense: DenseIndex | None

    def placed(self, ranked: Iterable[Ranked]) -> list[Ranked]:
        """Return results with positions among all chunks."""
        return [(self.places[positions], scores) for positions, scores in ranked]


@dataclass(frozen=True, eq=False)
class FolderStore:
    """An index on this machine; see ``Store``.

    Args:
        manifest: Describes how it was made.
        texts: The texts, read a few at a time.
        layout: The document and offset of each chunk.
        lexical: BM25 over the chunks.
        dense: Vectors of the chunks' windows.
        marks: Hashes of the windows' texts.
        load_graph: Opens the knowledge graph, which not every question needs.
        embedder: Made the vectors.
        tokens: Token vectors of the chunks' whole texts, if the index has them.
        release: Releases the lock on the files; None if everything is in memory.
        place: Path of the index, for messages.
    """

    manifest: Manifest
    texts: TextStore
    layout: Layout
    lexical: LexicalIndex
    dense: DenseIndex
    marks: Marks
    load_graph: Callable[[], KnowledgeGraph]
    embedder: Embedder
    tokens: TokenIndex | None = None
    release: Callable[[], None] | None = None
    place: str = "in memory"

    def __len__(self) -> int:
        return len(self.layout)

    def close(self) -> None:
        """See ``Store.close``."""
        self.texts.close()
        if self.release:
            self.release()

    def counts(self) -> dict[str, int]:
        """Return the numbers of documents, chunks, windows and triplets.

        Raises:
            ValueError: The parts disagree on the number of chunks or windows.
        """
        sizes = {len(self.layout), self.lexical.size, self.dense.size}
        if len(sizes) > 1:
            raise ValueError(f"its parts hold {sorted(sizes)} chunks")
        if self.marks.shape != (len(self.dense.owners), 2):
            raise ValueError(f"{MARKS} has shape {self.marks.shape}")
        return {
            "documents": len(self.layout.names),
            "chunks": len(self),
            "windows": len(self.dense.owners),
            "triplets": len(self.texts),
        }

    def save(self, folder: Path) -> dict[str, str]:
        """Write every part except the texts, which are on disk, and return the files' SHA-256."""
        texts = folder / TextStore.FILE
        sync(texts)
        return {
            **self.layout.save(folder),
            **self.lexical.save(folder),
            **self.dense.save(folder),
            MARKS: save_array(folder / MARKS, self.marks),
            **(self.tokens.save(folder) if self.tokens else {}),
            **self.load_graph().save(folder),
            TextStore.FILE: sha256_of(texts),
        }

    def verify(self) -> dict[str, int]:
        """See ``Store.verify``. The hashes guarantee that vectors belong to their texts.

        It reads everything for any caller, so a message gives a fault's place by numbers only,
        never a name, title or word of a document.
        """
        try:
            self.catalogue  # noqa: B018 - whether it can be read
            for check in (_database, _spans, _terms, _vectors, _graph):
                if problem := check(self):
                    raise DataError(f"The index {self.place} is inconsistent: {problem}.", REBUILD)
            return self.counts()
        except (CorpusError, KeyError, IndexError, ValueError, TypeError, sqlite3.Error) as error:
            problem = f"{type(error).__name__} while it was looked at"
            raise DataError(
                f"The index {self.place} is inconsistent: {problem}.", REBUILD
            ) from error

    # --- facts about the whole index

    @cached_property
    def catalogue(self) -> Catalogue:
        """See ``Store.catalogue``."""
        return self.texts.catalogue()

    @cached_property
    def _mask(self) -> Callable[[Within], Mask | None]:
        """A cached function from documents to a mask of their chunks; None for all."""

        @lru_cache(maxsize=_VIEWS)
        def mask(within: Within) -> Mask | None:
            if within is None:
                return None
            names = self.layout.names
            shown = np.fromiter(map(within.__contains__, names), np.bool_, count=len(names))
            return shown[self.layout.owners]

        return mask

    def statistics(self, terms: Sequence[str], within: Within) -> Statistics:
        """See ``Store.statistics``."""
        return Statistics(self._size(within), [self._frequency(term, within) for term in terms])

    @cached_property
    def _size(self) -> Callable[[Within], int]:
        def size(within: Within) -> int:
            mask = self._mask(within)
            return len(self) if mask is None else int(mask.sum())

        return lru_cache(maxsize=_VIEWS)(size)

    @cached_property
    def _frequency(self) -> Callable[[str, Within], int]:
        count = self.lexical.document_frequency
        return lru_cache(maxsize=_TERMS)(lambda term, within: count(term, self._mask(within)))

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """See ``Store.graph``."""
        return self.load_graph()

    # --- search

    def search(
        self,
        queries: Sequence[str],
        embed: Callable[[], Vectors],
        limit: int,
        within: Within,
        seen: Within,
    ) -> Found:
        """See ``Store.search``."""
        part, vectors = self._part(seen), embed()
        mask = None if within is seen else self._mask(within)
        allowed = mask if mask is None or seen is None else mask[part.places]
        by_words = [part.lexical.top(query, limit, allowed) for query in queries]
        if not len(vectors):
            near: list[Ranked] = []
        elif part.dense is None:
            near = self.dense.top(vectors, limit, self._mask(within))
        else:
            near = part.placed(part.dense.top(vectors, limit, allowed))
        return [self._hits(*ranked) for ranked in part.placed(by_words)], [
            self._hits(*ranked) for ranked in near
        ]

    @cached_property
    def _part(self) -> Callable[[Within], "Part"]:
        """A cached function from the documents that somebody sees to the indexes of these alone."""

        @lru_cache(maxsize=_VIEWS)
        def part(seen: Within) -> Part:
            mask = self._mask(seen)
            if mask is None:
                return Part(np.arange(len(self)), self.lexical, self.dense)
            return Part(np.flatnonzero(mask), self.lexical.part(mask), self.dense.part(mask))

        return part

    def _hits(self, positions: NDArray[np.int64], scores: NDArray[np.float32]) -> list[Hit]:
        layout = self.layout
        documents = [*map(layout.names.__getitem__, layout.owners[positions].tolist())]
        starts = layout.starts[positions].tolist()
        ids = [f"{name}#{start}" for name, start in zip(documents, starts, strict=True)]
        supporting = (layout.supporting[positions] > 0).tolist()
        return [*map(Hit, ids, documents, scores.tolist(), supporting)]

    def closeness(self, question: Codes, chunk_ids: Sequence[str]) -> Vectors:
        """See ``Store.closeness``."""
        if self.tokens is None:
            raise ValueError("no token vectors are stored")
        spans = [self.dense.span_of(self.layout.position_of(name)) for name in chunk_ids]
        return self.tokens.closeness(question, spans)

    def provisions(self, keys: Sequence[str], within: Within) -> list[tuple[str, int]]:
        """See ``Store.provisions``."""
        rows = self.texts.provisions(keys)
        return list(self._shown(((ordinal, place) for _, ordinal, place in rows), within))

    def defining(self, within: Within) -> Iterator[tuple[str, int]]:
        """See ``Store.defining``."""
        return self._shown(self.texts.defining(), within)

    def _shown(self, units: Iterable[tuple[int, int]], within: Within) -> Iterator[tuple[str, int]]:
        for ordinal, place in units:
            name = self.layout.names[ordinal]
            if within is None or name in within:
                yield name, place

    # --- texts

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """See ``Store.chunks``."""
        return self.texts.chunks([self.layout.position_of(name) for name in chunk_ids])

    def every_chunk(self, step: int = 1, within: Within = None) -> Iterator[Chunk]:
        """See ``Store.every_chunk``; chunks are read in batches."""
        mask, every = self._mask(within), np.arange(len(self))
        positions = (every if mask is None else every[mask])[::step]
        for first in range(0, len(positions), _AT_ONCE):
            yield from self.texts.chunks(positions[first : first + _AT_ONCE].tolist())

    def starts(self, name: str) -> NDArray[np.int32]:
        """See ``Store.starts``."""
        first, end = self.layout.span_of(self.layout.ordinals[name])
        return self.layout.starts[first:end]

    def statements(self, chunk_id: str) -> tuple[list[Statement], Vectors]:
        """See ``Store.statements``; many are cached."""
        position = self.layout.position_of(chunk_id)
        return self._statements(position), self.dense.windows_of(position)

    @cached_property
    def _statements(self) -> Callable[[int], list[Statement]]:
        return lru_cache(maxsize=_STATED)(self.texts.statements_of)

    def document(self, name: str) -> Document:
        """See ``Store.document``."""
        return self._document(self.layout.ordinals[name])

    @cached_property
    def _document(self) -> Callable[[int], Document]:
        return lru_cache(maxsize=_DOCUMENTS)(self.texts.document)

    def texts_of(self, names: Sequence[str]) -> Iterator[str]:
        """See ``Store.texts_of``."""
        return self.texts.texts_of([self.layout.ordinals[name] for name in names])

    def having(self, word: str, within: Within) -> list[str]:
        """See ``Store.having``."""
        owners = np.unique(self.layout.owners[self.lexical.having(word)])
        names = map(self.layout.names.__getitem__, owners.tolist())
        return [name for name in names if within is None or name in within]

    def made_of(self, name: str) -> PreparedDocument:
        """See ``Store.made_of``."""
        ordinal = self.layout.ordinals[name]
        file = self.catalogue.files[name]
        mark = self.manifest.fingerprints.get(file, "")
        chunks = [*self._made_of_chunks(*self.layout.span_of(ordinal))]
        return PreparedDocument(file, mark, self.texts.document(ordinal), chunks)

    def _made_of_chunks(self, first: int, end: int) -> Iterator[PreparedChunk]:
        texts, dense, tokens = self.texts, self.dense, self.tokens
        stated = texts.triplets_of(range(first, end))
        for position, chunk in enumerate(texts.chunks(range(first, end)), first):
            begin, stop = dense.span_of(position)
            yield PreparedChunk(
                chunk,
                texts.statements_of(position),
                texts.fetch(stated[position]),
                dense.vectors[begin:stop],
                self.marks[begin:stop],
                tokens.windows(begin, stop) if tokens else [],
            )


def _database(store: FolderStore) -> str:
    ((verdict,),) = store.texts.rows("PRAGMA integrity_check(1)")
    return "" if verdict == "ok" else f"SQLite reports {verdict}"


def _spans(store: FolderStore) -> str:
    """Return the first chunk or triplet that differs from its document's text; "" if none does."""
    layout, counted = store.layout, 0
    for ordinal in range(len(layout.names)):
        text, (first, end) = store.texts.text_of(ordinal), layout.span_of(ordinal)
        chunks = store.texts.chunks(range(first, end))
        for position, chunk in enumerate(chunks, first):
            placed = chunk["id"] == layout.id_of(position)
            if not placed or text[chunk["start"] : chunk["end"]] != chunk["text"]:
                return f"chunk {position} is not what document {ordinal} holds there"
        of_chunk = store.texts.triplets_of(range(first, end))
        numbers = [number for of_place in of_chunk.values() for number in of_place]
        for triplet in store.texts.fetch(numbers):
            if text[triplet["start"] : triplet["end"]] != triplet["quote"]:
                return f"a triplet quotes what its document, number {ordinal}, does not hold"
        counted += len(numbers)
    lost = len(store.texts) - counted
    return f"{lost} triplets belong to no chunk" if lost else ""


def _terms(store: FolderStore) -> str:
    """Return a problem unless lexical search has the chunks' terms and their weights."""
    lexical = store.lexical
    again = LexicalIndex.build(map(searched_text, store.every_chunk()))
    same = lexical.terms == again.terms and all(
        np.array_equal(*pair)
        for pair in (
            (lexical.counts, again.counts),
            (lexical.weights.indices, again.weights.indices),
            (lexical.weights.indptr, again.weights.indptr),
        )
    )
    # logarithms may be rounded differently on another processor
    if same and np.allclose(lexical.weights.data, again.weights.data, rtol=1e-5):
        return ""
    return "lexical search does not hold the terms of the chunks"


def _vectors(store: FolderStore) -> str:
    dense = store.dense
    bare = np.setdiff1d(np.arange(dense.size), dense.owners)
    if len(bare):
        return f"chunk {bare[0]} has no vector"
    for begin in range(0, len(dense.owners), _VECTORS_AT_ONCE):
        rows = np.asarray(dense.vectors[begin : begin + _VECTORS_AT_ONCE], dtype=np.float32)
        norms = np.linalg.norm(rows, axis=1)
        if not np.all(np.abs(norms - 1) < _NORM_TOLERANCE):
            return f"a vector between {begin} and {begin + len(rows)} has not length 1"
    return ""


def _graph(store: FolderStore) -> str:
    """Return a problem if the graph is not the one that the triplets make."""
    stored = store.load_graph()
    again = KnowledgeGraph.build(StoredTriplets(store.texts, store.layout))
    same = len(stored) == len(again) and stored.entities == again.entities
    return "" if same else "the knowledge graph is not that of the triplets"


def open_folder(index: Path, embedder: Embedder, *, any_stemmer: bool = False) -> FolderStore:
    """Open and lock the generation that the manifest names, until the store is closed.

    Args:
        index: The folder.
        embedder: The one that the index was built with.
        any_stemmer: Whether an index with another stemmer's search terms may be opened, because
            nothing will be searched.

    Raises:
        OutdatedIndexError: Another stemmer made its search terms.
        DataError: The index is damaged, has another format, or was built with another embedder.
    """
    for _ in range(_ATTEMPTS):
        manifest = Manifest.read(index)
        if not any_stemmer:
            manifest.check_current(index)
        manifest.check_embedder(index, embedder.name, embedder.dimension)
        folder = index / GENERATIONS / manifest.generation
        try:
            lease = SharedLock(folder)
        except OSError as error:
            if not _replaced(index, manifest):
                message = f"The index {index} lacks {folder}: {error}."
                raise DataError(message, remedy(error, REBUILD)) from error
            time.sleep(_BETWEEN_S)  # a writer published meanwhile
            continue
        try:
            return load_folder(manifest, folder, embedder, lease.release)
        except BaseException as error:
            lease.release()
            if isinstance(error, DataError) and _replaced(index, manifest):
                continue  # left by an interrupted removal
            raise
    raise DataError(f"The index {index} was replaced again and again while read.", "Try again.")


def _replaced(index: Path, manifest: Manifest) -> bool:
    return Manifest.read(index).generation != manifest.generation


def load_folder(
    manifest: Manifest,
    folder: Path,
    embedder: Embedder,
    release: Callable[[], None] | None = None,
) -> FolderStore:
    """Open the files of a generation, as every reader does.

    Args:
        manifest: Contains the hashes of the files.
        folder: Folder of the files; without ``release`` the caller is their writer.
        embedder: Made the vectors.
        release: Releases the lock on the files.

    Raises:
        DataError: A file is missing, or differs from the manifest.
    """
    manifest.check_files(folder)
    texts: TextStore | None = None
    try:
        texts = TextStore.open(folder / TextStore.FILE)
        layout = Layout.load(folder, texts.names())
        triplets = StoredTriplets(texts, layout)
        dense = DenseIndex.load(folder)
        tokens = TokenIndex.load(folder, len(dense.owners)) if manifest.recipe.tokens else None
        store = FolderStore(
            manifest=manifest,
            texts=texts,
            layout=layout,
            lexical=LexicalIndex.load(folder),
            dense=dense,
            marks=load_array(folder / MARKS, np.uint64, dimensions=2),
            tokens=tokens,
            load_graph=lambda: KnowledgeGraph.load(folder, triplets),
            embedder=embedder,
            release=release,
            place=str(folder.parents[1]),
        )
        counts = store.counts()
        if counts != dict(manifest.counts):
            raise ValueError(
                f"the manifest counts {dict(manifest.counts)}, the files hold {counts}"
            )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, sqlite3.Error) as error:
        if texts is not None:
            texts.close()
        raise DataError(
            f"The index {folder} cannot be read: {error}.", remedy(error, REBUILD)
        ) from error
    return store
