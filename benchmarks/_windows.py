"""Vectors of real texts for benchmarks of engines: passages and their sentences, embedded once."""

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from _mixture import _digest, read_passages
from numpy.typing import NDArray
from platformdirs import user_cache_path

from lexloop.documents.text.tokens import sentence_spans
from lexloop.models.minilm import load_shipped

_FEWEST_WORDS = 4

Floats = NDArray[np.float32]


def windows_of(passages: Path) -> list[str]:
    """The distinct texts that an index embeds: each passage, then each of its sentences."""
    found: dict[str, None] = {}
    for passage in read_passages(passages):
        found.setdefault(passage)
        for start, end in sentence_spans(passage):
            if passage.count(" ", start, end) + 1 >= _FEWEST_WORDS:
                found.setdefault(passage[start:end])
    return list(found)


def vectors_of(texts: Sequence[str]) -> Floats:
    """Unit vectors by the embedder that ships, shape (texts, 384), kept below the cache.

    The rate of the embedding is printed where it was needed.
    """
    embedder = load_shipped()
    cache = cache_folder()
    path = cache / f"{_digest([embedder.name, *texts])}.npy"
    if not path.is_file():
        begin = time.monotonic()
        made = embedder.encode(texts, _silent)
        print(f"{len(texts) / (time.monotonic() - begin):.0f} texts a second", file=sys.stderr)
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache, delete=False) as file:
            np.save(file, made, allow_pickle=False)
        os.replace(file.name, path)
    stored: Floats = np.load(path, allow_pickle=False).astype(np.float32)
    return stored / np.linalg.norm(stored, axis=1, keepdims=True)


def cache_folder() -> Path:
    """Where benchmarks keep what they made: below $LEXLOOP_CACHE, or with the user's caches."""
    return Path(os.environ.get("LEXLOOP_CACHE") or user_cache_path("lexloop")) / "benchmarks"


def _silent(done: int, total: int) -> None:
    """Tell nobody."""
