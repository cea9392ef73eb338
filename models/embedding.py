"""The protocols of embedding models, and their shared functions.

Token vectors are stored small: 128 dimensions of MiniLM's 384, one byte each. The projection is
fixed, so that parts of an index can be updated. It was fitted to the words of the model's
vocabulary and not to any text, so that it suits all laws alike.

Bulk encoding with torch uses bfloat16 if the processor supports it.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import InputError

Vectors = NDArray[np.float32]
Embed = Callable[[list[str]], Vectors]
"""From texts to their unit vectors, shape (texts, dimension)."""
Halves = NDArray[np.float16]
Codes = NDArray[np.int8]
"""Tokens' vectors, shape (tokens, CODED); each row has a length of its own."""
CODED = 128
"""Bytes of a token."""
PROJECTION = Path("tokens", "projection.npy")
_MOST = 127.0
_BULK_AT_ONCE = 256
_CHARS_PER_TOKEN = 4
_CPU_INFO = Path("/proc/cpuinfo")
_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})
Progress = Callable[[int, int], None]
"""Called with the texts done and all the texts there are; the first never falls."""


class Embedder(Protocol):
    """An embedding model that gives unit vectors of texts.

    ``name`` identifies model and weights and is recorded in every index built with it; ``window``
    is the most tokens one text may have.
    """

    name: str
    dimension: int
    window: int

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors, shape (len(texts), dimension). Texts that are too long are cut.

        Use it for a few texts, such as a question, with the least delay.

        Raises:
            InputError: A text is not valid Unicode.
            ModelError: The model's host returned no vectors.
            DeadlineExceeded: The current question has run out of time.
        """
        ...

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """Return vectors in half precision, for many texts at the highest rate.

        Their cosine with the vectors of ``embed`` is at least 0.999, unless the model treats
        questions and documents differently; then the texts are treated as documents. The same texts
        on the same machine give the same vectors. Memory holds only the result and one batch.

        Args:
            texts: The texts, in any order; they are sorted by length inside.
            progress: Called after each batch. The last call reports that all texts are done.

        Returns:
            Vectors of shape (len(texts), dimension), in the order of the texts.

        Raises:
            InputError: A text is not valid Unicode.
            ModelError: The model's host returned no vectors.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Return the tokens of ``text`` as this model counts them, without special ones."""
        ...

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return ``count_tokens`` of each text, faster than one by one."""
        ...


Spans = tuple[tuple[int, int], ...]
"""Non-empty, half-open spans of a text, in characters."""


class Encoded(NamedTuple):
    """Texts as their tokens were read, each with the whole text around it.

    Args:
        vectors: As ``encode`` makes them.
        codes: Of each text's tokens, without special ones.
        parts: For each text the unit vectors of parts of it, shape (parts, dimension): the mean of
            the tokens that stand there.
    """

    vectors: Halves
    codes: list[Codes]
    parts: list[Halves]


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives the vectors of a text's tokens, without special ones."""

    def token_codes(self, text: str) -> Codes:
        """Return the token codes of one text, a question."""
        ...

    def encode_tokens(
        self, texts: Sequence[str], parts: Sequence[Sequence[Spans]], progress: Progress
    ) -> Encoded:
        """Return texts with their tokens and some of their parts, by one pass.

        Args:
            texts: As for ``encode``; none longer than the window.
            parts: Of each text, those that are to have a vector.
            progress: As for ``encode``.
        """
        ...


def coded(projected: Vectors) -> Codes:
    """Return the codes of tokens' projected states, shape (tokens, CODED)."""
    longest = np.abs(projected).max(axis=1, keepdims=True, initial=1e-9)
    codes: Codes = np.rint(projected * (_MOST / longest)).astype(np.int8)
    return codes


def unit_rows(codes: Codes) -> Vectors:
    """Return the unit vectors that codes stand for, shape (tokens, CODED); zeros stay zeros."""
    rows = codes.astype(np.float32)
    rows /= lengths_of(rows)[:, np.newaxis]
    return rows


def lengths_of(rows: Vectors) -> Vectors:
    """Return the lengths of codes as numbers, shape (tokens,); 1 for zeros."""
    lengths: Vectors = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1.0)
    return lengths


@lru_cache(maxsize=1)
def projection() -> Vectors:
    """Return the matrix that token states are multiplied with, shape (384, CODED)."""
    file = resources.files("lexloop.data") / PROJECTION.as_posix()
    with file.open("rb") as opened:
        stored: NDArray[Any] = np.lib.format.read_array(opened, allow_pickle=False)
    return stored.astype(np.float32)


def blocks(sizes: Iterable[int], most: int, most_size: int) -> Iterator[range]:
    """Yield ranges of at most ``most`` texts of at most ``most_size`` together, or of one text."""
    first = end = total = 0
    for size in sizes:
        if end > first and (end - first == most or total + size > most_size):
            yield range(first, end)
            first, total = end, 0
        total += size
        end += 1
    if end > first:
        yield range(first, end)


def usable_processors() -> int:
    """Return the number of processors that this process may run on.

    It can be fewer than the machine has.
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usable_threads() -> int:
    """Return the number of processors that this process should use.

    ``OMP_NUM_THREADS`` lowers it if others share the machine, as tasks of Ray do.
    """
    variable = os.environ.get("OMP_NUM_THREADS", "")
    most = int(variable) if variable.isascii() and variable.isdecimal() else 0
    return min(most or usable_processors(), usable_processors())


def refuse_broken(texts: Sequence[str]) -> None:
    """Check that texts are valid Unicode: tokenizers and hosts take UTF-8 alone.

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


def encode_with_torch(
    model: Any, texts: Sequence[str], dimension: int, progress: Progress
) -> Halves:
    """Return the vectors of all texts by a sentence-transformers model.

    Args:
        model: The ``SentenceTransformer``; it batches, and sorts each part by length in tokens.
        texts: In any order.
        dimension: Of the vectors.
        progress: See ``Embedder.encode``.

    Returns:
        Vectors of shape (len(texts), dimension).

    Raises:
        InputError: A text is not valid Unicode.
    """
    import torch

    refuse_broken(texts)
    vectors = np.zeros((len(texts), dimension), dtype=np.float16)
    # the longest first: too little memory shows at once
    order = np.argsort([-len(text) for text in texts], kind="stable")
    bfloat16 = torch.autocast("cpu", dtype=torch.bfloat16)
    precision: AbstractContextManager[Any] = bfloat16 if has_bfloat16() else nullcontext()
    with precision:
        for start in range(0, len(texts), _BULK_AT_ONCE):
            part = order[start : start + _BULK_AT_ONCE]
            held = [texts[int(i)] for i in part]
            vectors[part] = encoded(model, held, convert_to_numpy=True)
            progress(start + len(part), len(texts))
    return vectors


def encoded(model: Any, texts: list[str], asked: bool = False, **options: Any) -> Any:
    """Return what a sentence-transformers model makes of texts, as unit vectors.

    ``asked`` says that they are questions, for a model that sets words before these or before
    documents.
    """
    encode = getattr(model, "encode_query" if asked else "encode_document", model.encode)
    return encode(texts, normalize_embeddings=True, show_progress_bar=False, **options)


@lru_cache(maxsize=1)
def has_bfloat16() -> bool:
    """Return whether the processor multiplies bfloat16 itself; emulated it is slower.

    Torch knows too, but importing it takes seconds. Systems that list no flags count as without.
    """
    try:
        lines = _CPU_INFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not _FLAGS.isdisjoint(flags.split())


@contextmanager
def without_bars() -> Iterator[None]:
    """Switch off the progress bars of transformers and of the hub's downloads inside.

    They would stand among the answers. If they are off already they stay so.
    """
    from transformers.utils import logging

    bars: Any = logging  # two of its functions have no types
    if not bars.is_progress_bar_enabled():
        yield
        return
    bars.disable_progress_bar()
    try:
        yield
    finally:
        bars.enable_progress_bar()


class CountsByLength:
    """The token counts of an embedder whose tokenizer is not here: four characters a token."""

    def count_tokens(self, text: str) -> int:
        """Return the estimate for a text."""
        return len(text) // _CHARS_PER_TOKEN + 1

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the estimate for each text."""
        return [self.count_tokens(text) for text in texts]


def unit_vectors(rows: Any, count: int, dimension: int) -> Vectors | None:
    """Return what a model gave for ``count`` texts as unit vectors, or None if it is no such thing.

    Args:
        rows: What the model gave.
        count: How many vectors there should be.
        dimension: The length of each; 0 if it is not known yet.
    """
    try:
        vectors = np.array(rows, dtype=np.float32)
    except (ValueError, TypeError):
        return None
    right = vectors.ndim == 2 and len(vectors) == count and vectors.shape[1] > 0
    if not (right and dimension in (0, vectors.shape[1]) and np.isfinite(vectors).all()):
        return None
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit
