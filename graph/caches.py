"""Forgetting of a document in caches: indexes that have it, and all that models wrote."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from lexloop.core.errors import LexloopError
from lexloop.core.files import cache_folder, is_index
from lexloop.core.text_cache import TextCache, replies_path
from lexloop.graph.extractors import extractions_path
from lexloop.store.folder.forgetting import cached_indexes, held_in
from lexloop.store.folder.generations import drop
from lexloop.store.forgetting import Forgotten, Removal, Target, sources_in

FORGETS = 40


def forget(removal: Removal, done: Forgotten) -> None:
    """Drop everything that can be made again from another document or from none."""
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


def _holds(index: Path, target: Target) -> bool:
    """Return whether a cached index has the document, or cannot say that it has not."""
    try:
        contents = held_in(index, target)
    except (LexloopError, sqlite3.Error, OSError, ValueError, KeyError):
        return sources_in(index) is None or target.may_hold(str(index))
    return bool(contents.documents or contents.files)
