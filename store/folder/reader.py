"""Opening of an index: nothing is parsed before its manifest and hashes agree."""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lexloop.core.errors import DataError
from lexloop.core.files import remedy
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.models.embedding import Embedder
from lexloop.store.collection import Collection
from lexloop.store.folder.contents import IndexContents, Layout, StoredTriplets
from lexloop.store.folder.dense import DenseIndex
from lexloop.store.folder.generations import GENERATIONS, SharedLock
from lexloop.store.folder.lexical import LexicalIndex, searched_text
from lexloop.store.folder.texts import TextStore
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.manifest import REBUILD, Manifest

_ATTEMPTS, _BETWEEN_S = 10, 0.02


def open_index(index: Path, embedder: Embedder) -> Collection:
    """Open an index for its readers, as ``open_contents``, which names the errors."""
    contents = open_contents(index, embedder)
    return Collection(contents, contents.texts.skipped())


def open_contents(index: Path, embedder: Embedder, *, restem: bool = False) -> IndexContents:
    """Open the generation that the manifest names, and hold it until it is closed.

    Args:
        index: The folder.
        embedder: Must be the one the index was built with.
        restem: Whether to make the search terms anew, in memory, where another stemmer made them.

    Raises:
        OutdatedIndexError: It is of an earlier format, or another stemmer made its search terms.
        DataError: It is damaged, of a newer format, or was built with another embedder.
    """
    for _ in range(_ATTEMPTS):
        manifest = Manifest.read(index)
        if not (restem and manifest.current_format):
            manifest.check_current(index)
        manifest.check_embedder(index, embedder.name, embedder.dimension)
        folder = index / GENERATIONS / manifest.generation
        try:
            lease = SharedLock(folder)
        except OSError as error:
            if not _replaced(index, manifest):
                what = f"The index {index} lacks {folder}: {error}."
                raise DataError(what, remedy(error, REBUILD)) from error
            time.sleep(_BETWEEN_S)  # a writer published meanwhile
            continue
        try:
            manifest.check_files(folder)
            return _load(manifest, folder, embedder, lease.release)
        except BaseException as error:
            lease.release()
            if isinstance(error, DataError) and _replaced(index, manifest):
                continue  # the rest of a generation whose sweeping was cut short
            raise
    raise DataError(f"The index {index} was replaced again and again while read.", "Try again.")


def _replaced(index: Path, manifest: Manifest) -> bool:
    return Manifest.read(index).generation != manifest.generation


def open_unpublished(manifest: Manifest, folder: Path, embedder: Embedder) -> IndexContents:
    """Open a generation that its writer alone knows, as every reader will.

    Raises:
        DataError: A file is missing, or is not what the manifest vouches for.
    """
    manifest.check_files(folder)
    return _load(manifest, folder, embedder, release=None)


def _load(
    manifest: Manifest, folder: Path, embedder: Embedder, release: Callable[[], None] | None
) -> IndexContents:
    texts: TextStore | None = None
    try:
        texts = TextStore.open(folder / TextStore.FILE)
        layout = Layout.load(folder, texts.names())
        triplets = StoredTriplets(texts, layout)
        dense = DenseIndex.load(folder)
        tokens = TokenIndex.load(folder, len(dense.owners)) if manifest.recipe.tokens else None
        contents = IndexContents(
            texts=texts,
            layout=layout,
            lexical=LexicalIndex.load(folder),
            dense=dense,
            tokens=tokens,
            load_graph=lambda: KnowledgeGraph.load(folder, triplets),
            embedder=embedder,
            windows=manifest.recipe.windows,
            release=release,
        )
        found = contents.counts()
        if found != dict(manifest.counts):
            raise ValueError(f"the manifest counts {dict(manifest.counts)}, the files hold {found}")
        if not manifest.current:
            contents = replace(
                contents,
                lexical=LexicalIndex.build(map(searched_text, contents.every_chunk())),
                load_graph=lambda: KnowledgeGraph.build(triplets),
            )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, sqlite3.Error) as error:
        if texts is not None:
            texts.close()
        raise DataError(
            f"The index {folder} cannot be read: {error}.", remedy(error, REBUILD)
        ) from error
    return contents
