"""From a corpus setting to an open collection: the sample, a source folder, or an index."""

import hashlib
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.core.types import Chunk, Degradation, Triplet
from lexloop.corpus.chunk.provisions import chunk_document
from lexloop.corpus.index.collection import Collection, searched_text
from lexloop.corpus.index.dense import DenseIndex, window_texts
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.index.store import MANIFEST, is_index, made_by, read_index, write_index
from lexloop.corpus.load.document import Document, Skipped
from lexloop.corpus.load.folder import load_documents, source_files
from lexloop.models.embedding import Embedder

Extractor = Callable[[list[Chunk]], list[Triplet]]
Progress = Callable[[str, int, int], None]
RULES = "rules"
"""Identifies the rule-based extractor in an index's key."""
_BATCH = 128


def silent(stage: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""


def build_collection(
    documents: list[Document],
    embedder: Embedder,
    extract: Extractor,
    progress: Progress = silent,
) -> Collection:
    """Chunk, embed and relate ``documents``.

    Args:
        documents: At least one, as ``load_documents`` gives them.
        embedder: Makes the vectors.
        extract: Makes the triplets of one document's chunks.
        progress: Called with a stage's name, the chunks done and the chunks in all.
    """
    by_document = [chunk_document(document) for document in documents]
    triplets: list[Triplet] = []
    for number, group in enumerate(by_document, 1):
        progress("relating", number, len(by_document))
        triplets += extract(group)
    chunks = [chunk for group in by_document for chunk in group if chunk["text"].strip()]
    return index_chunks(documents, chunks, triplets, embedder, progress)


def index_chunks(
    documents: list[Document],
    chunks: list[Chunk],
    triplets: list[Triplet],
    embedder: Embedder,
    progress: Progress = silent,
) -> Collection:
    """Index chunks that are cut already, none of them blank; ``build_collection`` says the rest."""
    return Collection(
        documents={document.name: document for document in documents},
        chunks=chunks,
        lexical=LexicalIndex.build([searched_text(chunk) for chunk in chunks]),
        dense=_embed(chunks, embedder, progress),
        triplets=triplets,
        embedder=embedder,
    )


def _embed(chunks: list[Chunk], embedder: Embedder, progress: Progress) -> DenseIndex:
    windows = [
        (i, text) for i, chunk in enumerate(chunks) for text in window_texts(chunk, embedder)
    ]
    parts = []
    for start in range(0, len(windows), _BATCH):
        parts.append(embedder.embed([text for _, text in windows[start : start + _BATCH]]))
        progress("embedding", min(start + _BATCH, len(windows)), len(windows))
    owners = np.array([i for i, _ in windows], dtype=np.int32)
    return DenseIndex.from_vectors(np.concatenate(parts), owners, len(chunks))


def open_corpus(
    corpus: str,
    embedder: Embedder,
    extract: Extractor,
    extractor: str,
    progress: Progress = silent,
) -> tuple[Collection, list[Degradation]]:
    """Open an index, or index a source folder into the cache on first use.

    Args:
        corpus: ``sample``, a source folder, or an index folder.
        embedder: Embeds questions, and chunks where there is no index yet.
        extract: Makes triplets where there is no index yet.
        extractor: Identifies ``extract`` in the cache's key.
        progress: As for ``build_collection``.

    Returns:
        The collection, and what had to be left out.

    Raises:
        CorpusError: The folder is missing, empty or unreadable.
        DataError: The index is damaged or was built with another embedder.
    """
    folder = _corpus_folder(corpus)
    if is_index(folder):
        return read_index(folder, embedder), []
    documents, skipped = load_documents(folder)
    degraded = [_left_out(item) for item in skipped]
    cached = _kept_index(index_key(documents, embedder, extractor))
    if is_index(cached):
        try:
            return read_index(cached, embedder), degraded
        except DataError as error:
            degraded.append(_cache_trouble("a cached index", "a fresh one", error))
    collection = build_collection(documents, embedder, extract, progress)
    try:
        write_index(collection, cached, replace=True)
    except CorpusError as error:
        # two first questions at once: whoever publishes first wins, and both have a collection
        if not is_index(cached):
            degraded.append(_cache_trouble("an index kept for next time", "memory only", error))
    return collection, degraded


def _corpus_folder(corpus: str) -> Path:
    if corpus == SAMPLE_CORPUS:
        return sample_folder()
    try:
        return Path(corpus).expanduser()
    except RuntimeError as error:
        raise CorpusError(
            f"The corpus {corpus} has no home: {error}", "Write out its path."
        ) from error


def sample_folder() -> Path:
    """Where the bundled digest of NYC Local Law 144 lies."""
    return Path(str(resources.files("lexloop.data"))) / "ll144"


def cache_folder() -> Path:
    """Where indexes of source folders are kept; ``LEXLOOP_CACHE`` overrides it."""
    from platformdirs import user_cache_path

    return Path(os.environ.get("LEXLOOP_CACHE") or user_cache_path("lexloop")) / "indexes"


def shipped_indexes() -> Path:
    """Where the index of the sample corpus lies that comes with the package."""
    return Path(str(resources.files("lexloop.data"))) / "index"


def _kept_index(key: str) -> Path:
    shipped = shipped_indexes() / key
    return shipped if is_index(shipped) else cache_folder() / key


def index_key(documents: list[Document], embedder: Embedder, extractor: str) -> str:
    """What an index of these documents is kept under: it changes with anything it is made of."""
    digest = hashlib.sha256()
    for part in (made_by(), embedder.name, extractor):
        digest.update(part.encode() + b"\0")
    for document in documents:
        digest.update(document.name.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(hashlib.sha256(document.text.encode()).digest())
    return digest.hexdigest()[:32]


def _left_out(item: Skipped) -> Degradation:
    return {"node": "index", "wanted": item.name, "used": "nothing of it", "reason": item.reason}


def _cache_trouble(wanted: str, used: str, error: CorpusError | DataError) -> Degradation:
    return {"node": "index", "wanted": wanted, "used": used, "reason": error.what}


def corpus_stamp(corpus: str) -> str:
    """A cheap mark that changes when a corpus does: names, sizes and times of its files.

    Raises:
        CorpusError: The folder is missing, empty or cannot be listed.
    """
    folder = _corpus_folder(corpus)
    files = [folder / MANIFEST] if is_index(folder) else source_files(folder)
    digest = hashlib.sha256()
    for path in files:
        try:
            found = path.stat()
            mark = f"{found.st_size}|{found.st_mtime_ns}"
        except OSError as error:  # opening the corpus says what is wrong with the file
            mark = type(error).__name__
        digest.update(f"{path}|{mark}\n".encode(errors="replace"))
    return digest.hexdigest()
