"""Bulk encoding through torch, in bfloat16 where the processor multiplies it itself."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.models.bulk import refuse_broken
from lexloop.models.embedding import Halves, Progress
from lexloop.models.tokens import Codes, coded, projection

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


def encode_tokens_with_torch(
    model: Any, texts: Sequence[str], dimension: int, progress: Progress
) -> tuple[Halves, list[Codes]]:
    """The same by one pass, and for each text the codes of its tokens, special ones left out."""
    refuse_broken(texts)
    vectors = np.zeros((len(texts), dimension), dtype=np.float16)
    codes: list[Codes] = [np.zeros((0, 0), dtype=np.int8)] * len(texts)
    order = np.argsort([-len(text) for text in texts], kind="stable")
    import torch

    turned = torch.from_numpy(projection())
    with _precision():
        for start in range(0, len(texts), _AT_ONCE):
            part = order[start : start + _AT_ONCE]
            made = model.encode(
                [texts[i] for i in part],
                output_value=None,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            for i, one in zip(part.tolist(), made, strict=True):
                vectors[i] = one["sentence_embedding"].float().numpy()
                length = int(one["attention_mask"].sum())
                states = one["token_embeddings"][1 : length - 1].float()
                codes[i] = coded((states @ turned).float().numpy())
            progress(start + len(part), len(texts))
    return vectors, codes


def _precision() -> AbstractContextManager[Any]:
    if not has_bfloat16():
        return nullcontext()
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16)
