"""Forgetting of a document on this machine: indexes, and caches."""

import json
import shutil
import sqlite3
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from lexloop.core.errors import LexloopError
from lexloop.core.files import cache_folder, is_index
from lexloop.core.metadata import Metadata
from lexloop.core.text_cache import TextCache, extractions_path, replies_path
from lexloop.store.folder.generations import GENERATIONS, STAGING, drop, still_read, writing
from lexloop.store.folder.texts import TextStore
from lexloop.store.forgetting import Forgotten, Held, Removal, Target
from lexloop.store.manifest import Manifest, sources_in
from lexloop.store.writer import remove_documents

FORGETS = 50
FOLDERS = "[!.]*/"
"""A pattern for the folders in a folder, without hidden ones."""
_PATIENCE_S, _POLL_S = 30.0, 0.2
"""How long a run waits for the readers of an index; a server checks every 20 s for a new one."""


def held(removal: Removal) -> list[Held]:
    """Return what the indexes hold of the document; unreadable ones are ignored."""
    holdings: list[Held] = []
    for index in [*removal.indexes, *cached_indexes()]:
        with suppress(LexloopError, sqlite3.Error):
            if removal.target.may_hold(str(index.absolute())) and is_index(index):
                holdings.append(held_in(index, removal.target))
    return holdings


def forget(removal: Removal, done: Forgotten) -> None:
    """Remove what can be made again: cached indexes with the document, and all texts by models."""
    for file, kind in ((replies_path(), "replies"), (extractions_path(), "extractions")):
        with done.trying(file):
            if file.exists():
                with closing(TextCache(file, kind)) as texts:
                    if gone := texts.empty():
                        done.touch("cache", file, f"emptied of {gone} {kind} of models")
    for index in cached_indexes():
        with done.trying(index):
            if is_index(index) and _holds(index, removal.target):
                drop(index)
                done.touch("cache", index, "removed; it is rebuilt when needed")
    if (graphs := cache_folder().parent / "graphs").is_dir():
        with done.trying(graphs):
            shutil.rmtree(graphs)
            done.touch("cache", graphs, "removed: copies of an engine's relations")


def delete(removal: Removal, done: Forgotten) -> None:
    """Rewrite the indexes that somebody made without the document."""
    for index in filter(is_index, removal.indexes):
        with done.trying(index):
            _take_out(index, removal, done)


def settle(removal: Removal, done: Forgotten) -> None:
    """Remove what was replaced, once no reader uses it."""
    until = time.monotonic() + _PATIENCE_S
    for index in [*filter(is_index, removal.indexes), *cached_indexes()]:
        if not is_index(index) or removal.target.may_hold(str(index)):
            with done.trying(index):
                tidy(index, until, done)


def cached_indexes() -> list[Path]:
    """Return the folders of all cached indexes, of any format."""
    return [
        index
        for place in (cache_folder(), cache_folder().parent / "engines")
        for index in sorted(place.glob(FOLDERS))
    ]


def held_in(index: Path, target: Target) -> Held:
    """Return what an index of this format holds of a document.

    Raises:
        DataError: The index cannot be read.
    """
    manifest = Manifest.read(index)
    file = index / GENERATIONS / manifest.generation / TextStore.FILE
    with closing(TextStore.open(file)) as texts:
        return Held.of(
            {
                name: Metadata.from_record(json.loads(record))
                for name, record in texts.rows("SELECT name, metadata FROM documents")
            },
            partial(target.is_of, str(index.absolute())),
            lambda name: texts.rows("SELECT text FROM documents WHERE name = ?", [name])[0][0],
            manifest.fingerprints,
        )


def _holds(index: Path, target: Target) -> bool:
    """Return whether a cached index has the document, or may have it."""
    try:
        contents = held_in(index, target)
    except (LexloopError, sqlite3.Error, OSError, ValueError, KeyError):
        return sources_in(index) is None or target.may_hold(str(index))
    return bool(contents.documents or contents.files)


def _take_out(index: Path, removal: Removal, done: Forgotten) -> None:
    """Rewrite an index without the document, or remove it if it has no other."""
    contents = held_in(index, removal.target)
    names = [*contents.documents, *contents.files]
    if names and not contents.others:
        drop(index)
        done.touch("index", index, "removed: nothing else is in it")
    elif names:
        tools = removal.tools_of(Manifest.read(index).settings)
        remove_documents(
            index,
            names,
            tools,
            progress=removal.progress,
            keep_out=bool(removal.target.files()),
        )
        done.touch("index", index, f"rewritten without {', '.join(contents.documents or names)}")


def tidy(index: Path, until: float, done: Forgotten) -> None:
    """Remove files of an index that no reader uses, and report those still in use."""
    while index.is_dir() and ((readers := still_read(index)) or (index / STAGING).is_dir()):
        with writing(index):
            shutil.rmtree(index / STAGING, ignore_errors=True)
        if not (readers := still_read(index)):
            return
        if time.monotonic() > until:
            done.leave(
                index,
                f"Generation {readers[0]} is being read. End its reader, then run this again.",
            )
            return
        time.sleep(_POLL_S)
