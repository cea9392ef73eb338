"""Bulk encoding: many texts, in batches of nearly one length, into half precision."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import InputError
from lexloop.models.embedding import Progress

T = TypeVar("T")
_BLOCK_TEXTS = 16_384
_BLOCK_CHARS = 8_000_000


def blocks(texts: Sequence[str]) -> Iterator[range]:
    """Runs of texts small enough to hold what a tokenizer makes of them.

    Sorting by length within one loses nothing: a block has thousands of texts.
    """
    first = chars = 0
    for i, text in enumerate(texts):
        full = i - first == _BLOCK_TEXTS or chars + len(text) > _BLOCK_CHARS
        if full and i > first:
            yield range(first, i)
            first, chars = i, 0
        chars += len(text)
    if first < len(texts):
        yield range(first, len(texts))


def even_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Positions of texts of nearly one length, the longest first.

    On a processor padding costs more than a smaller batch does, and too little memory shows at
    once where the longest come first.

    Args:
        lengths: Tokens of each text, shape (n,).
        budget: The most tokens in a batch, padding included; one text may have more.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order):
            width = lengths[order[start]]
            full = width * (end - start + 1) > budget
            if not full and width <= 1.25 * lengths[order[end]] + 2:
                continue
        yield order[start:end]
        start = end


def encode_sorted(
    texts: Sequence[str],
    progress: Progress,
    *,
    tokens: Callable[[list[str]], list[list[int]]],
    run: Callable[[list[list[int]]], T],
    budget: int,
    workers: int,
) -> Iterator[tuple[NDArray[np.int64], T]]:
    """What ``run`` makes of all texts, batch by batch, with the texts' positions.

    Args:
        texts: In any order.
        progress: See ``Embedder.encode``.
        tokens: The token ids of each of some texts.
        run: Takes the token ids of some texts.
        budget: The most tokens in a batch.
        workers: Threads that call ``run``, each with a batch of its own.
    """
    done = 0
    pool = ThreadPoolExecutor(workers)
    try:
        for block in blocks(texts):
            ids = tokens([texts[i] for i in block])
            lengths = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
            batches = list(even_batches(lengths, budget))
            made = pool.map(run, ([ids[i] for i in batch] for batch in batches))
            for batch, rows in zip(batches, made, strict=True):
                done += len(batch)
                yield block.start + batch, rows
                progress(done, len(texts))
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupt waits for the batches under way alone


def usable_processors() -> int:
    """Processors that this process may run on, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def refuse_broken(texts: Sequence[str]) -> None:
    """Refuse what is not text: tokenizers and hosts take UTF-8 alone.

    Raises:
        InputError: A text has half of a surrogate pair.
    """
    for i, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"Text {i + 1} of {len(texts)} cannot be embedded: character {error.start} "
                f"is half of a surrogate pair (U+{ord(text[error.start]):04X}).",
                "Read its file as UTF-8 or remove the character.",
            ) from error
