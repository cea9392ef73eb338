"""An index on disk: one folder with a manifest that vouches for every file by its SHA-256.

A folder is written aside and published by one rename, so a reader sees a whole index or none.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.dense import DenseIndex
from lexloop.corpus.index.lexical import LexicalIndex
from lexloop.corpus.load.document import Document
from lexloop.models.embedding import Embedder

FORMAT = 1
MANIFEST = "manifest.json"
_FILES = ("documents.jsonl", "chunks.jsonl", "triplets.jsonl", "lexical.npz", "vectors.faiss",
          "owners.npy")  # fmt: skip
_READ_ATTEMPTS, _BETWEEN_READS_S = 5, 0.02  # a writer needs far less between its two renames
_REBUILD = "Build the index again with `lexloop index`."


@lru_cache(maxsize=1)
def made_by() -> str:
    """The version of the indexing code: a hash of this room's sources.

    Chunks, statements and vectors of an index belong together only as long as the code that cuts
    texts stays the same; a number raised by hand would one day be forgotten.
    """
    digest = hashlib.sha256()
    room = Path(__file__).parent.parent
    for path in sorted(room.rglob("*.py")):
        digest.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def is_index(folder: Path) -> bool:
    """Whether ``folder`` is an index rather than a folder of sources."""
    # unlike Path.is_file this answers for a folder that may not be searched as well
    return os.path.isfile(folder / MANIFEST)


def write_index(collection: Collection, out: Path, *, replace: bool = False) -> None:
    """Publish ``collection`` as the folder ``out``.

    Args:
        collection: What to write.
        out: The folder; it must not exist, or must be an index when ``replace`` is set.
        replace: Whether an index already at ``out`` may be replaced.

    Raises:
        CorpusError: ``out`` is something else than an index, or cannot be written.
    """
    if os.path.lexists(out) and not (replace and is_index(out)):
        raise CorpusError(
            f"{out} already exists" + ("." if is_index(out) else " and is no index."),
            "Choose another folder, or pass --force to replace an index.",
        )
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise CorpusError(f"{out} cannot be written: {error}.", "Choose another folder.") from error
    try:
        _write_files(collection, aside)
        _publish(aside, out)
    except OSError as error:
        raise CorpusError(
            f"The index {out} cannot be written: {error}.", "Check permissions and free space."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _publish(aside: Path, out: Path) -> None:
    """Rename into place; an index already there is moved aside first and removed after."""
    aside.chmod(0o755)
    if not out.exists():
        os.replace(aside, out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    try:
        os.replace(out, old)
    except OSError:
        old.rmdir()
        raise
    try:
        os.replace(aside, out)
    except OSError:
        if not out.exists():  # else another writer published meanwhile
            os.replace(old, out)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _write_files(collection: Collection, folder: Path) -> None:
    documents = collection.documents.values()
    _write_jsonl(
        folder / "documents.jsonl",
        [{"name": d.name, "title": d.title, "text": d.text} for d in documents],
    )
    without_text = [{k: v for k, v in c.items() if k != "text"} for c in collection.chunks]
    _write_jsonl(folder / "chunks.jsonl", without_text)
    _write_jsonl(folder / "triplets.jsonl", collection.triplets)
    collection.lexical.save(folder / "lexical.npz")
    collection.dense.save(folder / "vectors.faiss", folder / "owners.npy")
    manifest = {
        "format": FORMAT,
        "made_by": made_by(),
        "embedder": collection.embedder.name,
        "dimension": collection.embedder.dimension,
        "documents": len(collection.documents),
        "chunks": len(collection.chunks),
        "triplets": len(collection.triplets),
        "sha256": {name: _sha256(folder / name) for name in _FILES},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    for name in (*_FILES, MANIFEST):
        with (folder / name).open("rb") as file:
            os.fsync(file.fileno())


def read_index(folder: Path, embedder: Embedder) -> Collection:
    """Open an index; nothing is parsed before its manifest and hashes agree.

    An index that is replaced meanwhile is opened again, so that no two of them are ever mixed.

    Raises:
        DataError: The index is damaged, of another format, or was built with another embedder.
    """
    trouble = DataError(f"The index {folder} was replaced while it was read.", "Try again.")
    for _ in range(_READ_ATTEMPTS):
        before = _identity(folder)
        try:
            collection = _read(folder, embedder)
        except DataError as error:
            if before is not None and before == _identity(folder):
                raise
            trouble = error
            time.sleep(_BETWEEN_READS_S)
        else:
            if before == _identity(folder):
                return collection
    raise trouble


def _identity(folder: Path) -> tuple[int, int, int] | None:
    """Tells the folder from another one renamed to its place; None while there is none."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _read(folder: Path, embedder: Embedder) -> Collection:
    manifest = _checked_manifest(folder, embedder)
    try:
        documents = {row["name"]: Document(**row) for row in _read_jsonl(folder / _FILES[0])}
        chunks: list[Chunk] = []
        for row in _read_jsonl(folder / "chunks.jsonl"):
            text = documents[row["document"]].text[row["start"] : row["end"]]
            chunks.append({**row, "text": text})  # type: ignore[typeddict-item]  # JSON is untyped
        triplets: list[Triplet] = _read_jsonl(folder / "triplets.jsonl")
        counts = {"documents": len(documents), "chunks": len(chunks), "triplets": len(triplets)}
        if counts != {name: manifest.get(name) for name in counts}:
            raise ValueError(f"{MANIFEST} does not count what the files hold, {counts}")
        return Collection(
            documents=documents,
            chunks=chunks,
            lexical=LexicalIndex.load(folder / "lexical.npz"),
            dense=DenseIndex.load(folder / "vectors.faiss", folder / "owners.npy", len(chunks)),
            triplets=triplets,
            embedder=embedder,
        )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise DataError(
            f"The index {folder} (format {manifest['format']}) cannot be read: {error}.", _REBUILD
        ) from error


def _checked_manifest(folder: Path, embedder: Embedder) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        found, hashes = manifest["format"], dict(manifest["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / MANIFEST} cannot be read: {error}.", _REBUILD) from error
    if found != FORMAT:
        raise DataError(f"The index {folder} has format {found}, this is {FORMAT}.", _REBUILD)
    if manifest.get("made_by") != made_by():
        raise DataError(
            f"The index {folder} was made by version {manifest.get('made_by')} of the indexing "
            f"code; this is {made_by()}.",
            _REBUILD,
        )
    wanted = (embedder.name, embedder.dimension)
    if (manifest.get("embedder"), manifest.get("dimension")) != wanted:
        raise DataError(
            f"The index {folder} was built with {manifest.get('embedder')} "
            f"({manifest.get('dimension')} dimensions); the settings ask for {embedder.name} "
            f"({embedder.dimension} dimensions).",
            "Set the same embedder, or build the index again.",
        )
    for name in _FILES:
        try:
            digest = _sha256(folder / name)
        except OSError as error:
            raise DataError(f"The index {folder} lacks {name}: {error}.", _REBUILD) from error
        if digest != hashes.get(name):
            raise DataError(f"{folder / name} is damaged: its SHA-256 is {digest}.", _REBUILD)
    return manifest


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_jsonl(path: Path, rows: Iterable[Any]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _read_jsonl(path: Path) -> list[Any]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
