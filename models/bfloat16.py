"""Bulk encoding through torch, in bfloat16 where the processor multiplies it itself."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.models.bulk import refuse_broken
from lexloop.models.embedding import Halves, Progress

_CPU_INFO = Path("/proc/cpuinfo")
_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})
_AT_ONCE = 256


@lru_cache(maxsize=1)
def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 itself; where it is emulated it is slower.

    Torch knows too, but importing it takes seconds. Systems that list no flags count as without.
    """
    try:
        lines = _CPU_INFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not _FLAGS.isdisjoint(flags.split())


def encode_with_torch(
    model: Any, texts: Sequence[str], dimension: int, progress: Progress
) -> Halves:
    """The vectors of all texts by a sentence-transformers model.

    Args:
        model: The ``SentenceTransformer``; it batches, and sorts each part by length in tokens.
        texts: In any order.
        dimension: Of the vectors.
        progress: See ``Embedder.encode``.

    Returns:
        Shape (len(texts), dimension), in the order of the texts.

    Raises:
        InputError: A text is not valid Unicode.
    """
    refuse_broken(texts)
    vectors = np.zeros((len(texts), dimension), dtype=np.float16)
    # the longest first: too little memory shows at once
    order = np.argsort([-len(text) for text in texts], kind="stable")
    with _precision():
        for start in range(0, len(texts), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            vectors[part] = model.encode(
                [texts[i] for i in part],
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            progress(start + len(part), len(texts))
    return vectors


def _precision() -> AbstractContextManager[Any]:
    if not has_bfloat16():
        return nullcontext()
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16)
