"""Opening of the collection that a corpus setting names: the sample, a folder or file, an index."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from lexloop.core.errors import (
    CorpusError,
    DataError,
    IndexWriteError,
    OutdatedIndexError,
    SettingsError,
)
from lexloop.core.files import MANIFEST, cache_folder, is_index, publish_folder
from lexloop.core.settings import SAMPLE_CORPUS, Settings, shaping
from lexloop.core.types import Degradation
from lexloop.documents.chunks.chunkers import chunker_for, chunker_name
from lexloop.documents.reading.folder import source_files
from lexloop.documents.reading.workers import Progress, silent
from lexloop.knowledge.relations import extract_document
from lexloop.models.embedding import CODED, Embedder, TokenEmbedder
from lexloop.store.address import is_address
from lexloop.store.engines import engines_for
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import FORMAT, IndexSource, Manifest, Recipe
from lexloop.store.preparing import Extractor, Tools
from lexloop.store.protocol import Store
from lexloop.store.scan import scan
from lexloop.store.view import Collection, View
from lexloop.store.writer import index_in_memory, write_index

RULES = "rules"
"""Identifies the rule-based extractor in a recipe."""
_DEFAULTS = shaping(Settings().flat())
_NOT_HELD = frozenset({"model.name", "index.embedder"})
"""Settings that do not shape an index, or that its vectors identify."""


def tools_for(
    settings: Settings,
    embedder: Embedder,
    extract: Extractor = extract_document,
    extractor: str = RULES,
) -> Tools:
    """Return the tools that the settings index with; ``extractor`` identifies ``extract``.

    Raises:
        SettingsError: The chunker's pattern cannot be used.
    """
    recipe = Recipe(
        embedder=embedder.name,
        dimension=embedder.dimension,
        chunker=chunker_name(settings.chunking),
        extractor=extractor,
        windows=settings.index.windows,
        dense_index=settings.index.dense,
        tokens=CODED if settings.index.token_vectors and isinstance(embedder, TokenEmbedder) else 0,
    )
    chosen = shaping(settings.flat())
    return Tools(recipe, chosen, embedder, chunker_for(settings.chunking, embedder), extract)


def open_corpus(
    corpus: str, tools: Tools, progress: Progress = silent
) -> tuple[Collection, list[Degradation]]:
    """Open an index; a source folder is first indexed into the cache, or brought up to date there.

    Args:
        corpus: ``sample``, a source folder, one source file, an index folder, or the address of an
            index in an engine.
        tools: Embed questions, and index new files.
        progress: Called with a stage's name, the number done and the total.

    Returns:
        The collection, and the faults of the cache; ``left_out`` returns what a caller
        may know of documents that could not be read.

    Raises:
        CorpusError: The folder is missing, empty or unreadable.
        SettingsError: The tools are set otherwise than an index was made, and not by default.
        OutdatedIndexError: The index has to be brought up by ``lexloop index update``.
        DataError: The index is damaged or was built with another embedder.
        EngineError: The engine that holds it failed.
    """
    if manifest_at(corpus) is not None:
        refuse_other(corpus, {n: v for n, v in tools.settings.items() if v != _DEFAULTS.get(n)})
        return open_stored(corpus, tools.embedder), []
    folder = _corpus_folder(corpus)
    sources = [IndexSource(str(folder.absolute()))]
    shipped = shipped_indexes() / index_key(None, tools.recipe)
    cached = cache_folder() / index_key(folder, tools.recipe)
    troubles: dict[Path, Degradation] = {}
    for place in (shipped, cached):
        try:
            if current := _up_to_date(place, sources, tools):
                return current, [*troubles.values()]
        except OutdatedIndexError:  # updated below: a cache must not keep a stemmer's terms
            if place == shipped:
                with suppress(OSError):
                    publish_folder(cached, partial(shutil.copytree, shipped, dirs_exist_ok=True))
        except DataError as error:
            troubles[place] = _cache_trouble("a cached index", "a fresh one", error, place)
    degraded = [*troubles.values()]
    try:
        write_index(cached, sources, tools, progress=progress, fresh=cached in troubles)
        return open_index(cached, tools.embedder), degraded
    except (IndexWriteError, DataError) as error:
        wanted = "an index kept for next time"
        trouble = _cache_trouble(wanted, "memory only", error, cached)
        trouble["reason"] += " LEXLOOP_CACHE names another folder for it."
        degraded.append(trouble)
        return index_in_memory(sources, tools, progress), degraded


def open_store(index: Path | str, embedder: Embedder) -> Store:
    """Open an index by its folder or by its address in an engine.

    Raises:
        LexloopError: The index cannot be read, or was built with another embedder.
    """
    if isinstance(index, str) and is_address(index):
        return engines_for(index).open_engine(index, embedder)
    return open_folder(_corpus_folder(str(index)), embedder)


def open_stored(index: str, embedder: Embedder) -> Collection:
    """Open an existing index for its readers; raises like ``open_store``."""
    return Collection(open_store(index, embedder))


def verify_index(index: Path | str, embedder: Embedder) -> dict[str, int]:
    """Check an index, and return its counts; see ``Store.verify``.

    Raises:
        LexloopError: The index cannot be read, or its parts do not agree.
    """
    with closing(open_store(index, embedder)) as store:
        return store.verify()


def open_index(index: Path, embedder: Embedder) -> Collection:
    """Open an index in a folder for its readers, with what could not be read.

    Raises:
        DataError: See ``open_folder``.
    """
    store = open_folder(index, embedder)
    return Collection(store, store.catalogue.skipped)


def sources_of(corpus: str) -> Sequence[IndexSource]:
    """Return the sources of a corpus; the paths are empty if an index was copied without them.

    Raises:
        CorpusError: The corpus cannot be named so.
        DataError: The corpus is an index with a damaged manifest.
    """
    manifest = manifest_at(corpus)
    return manifest.sources if manifest else [IndexSource(str(_corpus_folder(corpus).absolute()))]


def manifest_at(corpus: str) -> Manifest | None:
    """Return the manifest of an index in a folder or an engine; None if the corpus is not an index.

    Raises:
        CorpusError: The name of the corpus is invalid, or an engine has no such index.
        DataError: The manifest is damaged.
        EngineError: The engine failed.
    """
    if is_address(corpus):
        return engines_for(corpus).manifest_of(corpus)
    folder = _corpus_folder(corpus)
    return Manifest.read(folder) if is_index(folder) else None


def refuse_other(corpus: str, wanted: Mapping[str, Any]) -> None:
    """Check that settings agree with those of an index; a folder accepts any.

    Raises:
        SettingsError: The corpus is an index and was made with other settings.
        DataError: Its manifest is damaged.
    """
    chosen = {n: v for n, v in wanted.items() if n not in _NOT_HELD}
    index = manifest_at(corpus) if chosen else None
    if index is None:
        return
    settings = index.settings
    for name, value in chosen.items():
        if settings.get(name, value) != value:
            anew = f"index anew by `lexloop index update {corpus} --set {name}={value}`"
            if is_address(corpus):
                anew = f"push an index there that is made with {name}={value}"
            raise SettingsError(
                f"The index {corpus} was made with {name}={settings[name]}, not {value}.",
                f"Leave {name} out, or {anew}.",
            )


def _up_to_date(index: Path, sources: Sequence[IndexSource], tools: Tools) -> Collection | None:
    """Return the collection of an existing index if it matches its sources, or None."""
    if not is_index(index):
        return None
    now = scan(sources)
    if not now.difference(Manifest.read(index).fingerprints).nothing:
        return None
    contents = open_folder(index, tools.embedder)
    if contents.texts.readable_since():
        contents.close()
        return None
    return Collection(contents, [*contents.texts.skipped(*now.fingerprints), *now.skipped])


def _corpus_folder(corpus: str) -> Path:
    if corpus == SAMPLE_CORPUS:
        return sample_folder()
    if "\0" in corpus:
        raise CorpusError(
            f"The corpus {corpus} cannot be listed: there is a NUL in its name.", "Write its path."
        )
    try:
        return Path(corpus).expanduser()
    except RuntimeError as error:
        raise CorpusError(
            f"The corpus {corpus} has no home: {error}", "Write out its path."
        ) from error


def sample_folder() -> Path:
    """Return the folder of the bundled digest of NYC Local Law 144."""
    return Path(str(resources.files("lexloop.data"))) / "ll144"


def shipped_indexes() -> Path:
    """Return the folder of the sample's index that comes with the package."""
    return Path(str(resources.files("lexloop.data"))) / "index"


def index_key(folder: Path | None, recipe: Recipe) -> str:
    """Return the name of a folder's cached index; None stands for the shipped sample.

    The name contains the format, so versions of Lexloop do not share a cached index.
    """
    place = os.fsencode(folder.resolve()) if folder else b""
    made = json.dumps([FORMAT, vars(recipe)], sort_keys=True)
    return hashlib.sha256(place + b"\0" + made.encode()).hexdigest()[:32]


def left_out(view: View) -> list[Degradation]:
    """Return what a caller learns of files that could not be read, or only in part."""
    return [
        {
            "node": "index",
            "wanted": item.name,
            "used": "the rest of it" if item.indexed else "nothing of it",
            "reason": item.reason,
        }
        for item in view.access.unread()
    ]


def _cache_trouble(
    wanted: str, used: str, error: CorpusError | DataError, place: Path
) -> Degradation:
    """Return the warning about the cache, without its path: the caller may use a server."""
    reason = error.what.replace(f"{place.parent}{os.sep}", "")
    if isinstance(error, IndexWriteError) and isinstance(error.__cause__, OSError):
        why = error.__cause__.strerror or type(error.__cause__).__name__
        reason = f"It cannot be written: {why}."  # the system may name any folder above
    return {"node": "index", "wanted": wanted, "used": used, "reason": reason}


def corpus_stamp(corpus: str) -> str:
    """Return a cheap mark that changes with the names, sizes and times of a corpus's files.

    Raises:
        CorpusError: The folder is missing, empty or cannot be listed.
    """
    if is_address(corpus):
        return engines_for(corpus).stamp_of(corpus)
    folder = _corpus_folder(corpus)
    files = [folder / MANIFEST] if is_index(folder) else source_files(folder)
    digest = hashlib.sha256()
    for path in files:
        try:
            status = path.stat()
            mark = f"{status.st_size}|{status.st_mtime_ns}"
        except OSError as error:  # opening the corpus reports the problem
            mark = type(error).__name__
        digest.update(f"{path}|{mark}\n".encode(errors="replace"))
    return digest.hexdigest()
