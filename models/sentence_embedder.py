"""Embedding models of sentence-transformers, and bulk encoding through torch.

Bulk encoding is in bfloat16 where the processor multiplies it itself.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.deadline import heed_deadline
from lexloop.core.errors import DataError
from lexloop.core.files import sha256_of
from lexloop.models.embedding import (
    Codes,
    Halves,
    Progress,
    Vectors,
    coded,
    projection,
    refuse_broken,
)

_IDENTIFYING = frozenset({".json", ".safetensors", ".txt"})
_ID_LENGTH = 12
_AT_ONCE, _BULK_AT_ONCE = 16, 256
_CPU_INFO = Path("/proc/cpuinfo")
_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})


class SentenceTransformerEmbedder:
    """A sentence-transformers model from a local folder or hub id.

    Its name holds a hash of the folder's weights and settings, or the hub's commit, so that an
    index made with other weights of the same name is told apart.

    Args:
        model: The folder or id.

    Raises:
        DataError: It cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            with without_bars():
                options = {"use_safetensors": True}
                self._model: Any = SentenceTransformer(model, model_kwargs=options)
            renamed = hasattr(self._model, "get_embedding_dimension")  # the old name warns there
            name = "get_embedding_dimension" if renamed else "get_sentence_embedding_dimension"
            dimension: int | None = getattr(self._model, name)()
            if dimension is None:
                raise ValueError("it does not say how many dimensions its vectors have")
            self.name = f"sentence-transformers:{_identity(model, self._model)}"
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"The embedder {model!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set embedder='embedded'.",
            ) from error
        self.dimension = int(dimension)
        self.window = int(self._model.max_seq_length or 512)

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``."""
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            heed_deadline("while texts were embedded")
            part = slice(start, start + _AT_ONCE)
            vectors[part] = _encoded(self._model, texts[part], convert_to_numpy=True)
        return vectors

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``."""
        return encode_with_torch(self._model, texts, self.dimension, progress)[0]

    def count_tokens(self, text: str) -> int:
        """Return the tokens that the model's tokenizer counts."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text by the model's tokenizer."""
        refuse_broken(texts)
        if not texts:
            return []
        encoded = self._model.tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def encode_with_torch(
    model: Any, texts: Sequence[str], dimension: int, progress: Progress, tokens: bool = False
) -> tuple[Halves, list[Codes]]:
    """Return the vectors of all texts by a sentence-transformers model.

    Args:
        model: The ``SentenceTransformer``; it batches, and sorts each part by length in tokens.
        texts: In any order.
        dimension: Of the vectors.
        progress: See ``Embedder.encode``.
        tokens: Whether the tokens' codes are made by the same pass; the model is a MiniLM then.

    Returns:
        Vectors of shape (len(texts), dimension), and the codes of each text's tokens, special ones
        left out, or none.

    Raises:
        InputError: A text is not valid Unicode.
    """
    import torch

    refuse_broken(texts)
    vectors = np.zeros((len(texts), dimension), dtype=np.float16)
    codes: list[Codes] = [np.zeros((0, 0), dtype=np.int8)] * (len(texts) if tokens else 0)
    turned = torch.from_numpy(projection())
    # the longest first: too little memory shows at once
    order = np.argsort([-len(text) for text in texts], kind="stable")
    bfloat16 = torch.autocast("cpu", dtype=torch.bfloat16)
    precision: AbstractContextManager[Any] = bfloat16 if has_bfloat16() else nullcontext()
    with precision:
        for start in range(0, len(texts), _BULK_AT_ONCE):
            part = order[start : start + _BULK_AT_ONCE]
            held = [texts[int(i)] for i in part]
            if not tokens:
                vectors[part] = _encoded(model, held, convert_to_numpy=True)
            else:
                for i, one in zip(part, _encoded(model, held, output_value=None), strict=True):
                    vectors[i] = one["sentence_embedding"].float().numpy()
                    length = int(one["attention_mask"].sum())
                    states = one["token_embeddings"][1 : length - 1].float()
                    codes[i] = coded((states @ turned).float().numpy())
            progress(start + len(part), len(texts))
    return vectors, codes


def _encoded(model: Any, texts: list[str], **options: Any) -> Any:
    return model.encode(texts, normalize_embeddings=True, show_progress_bar=False, **options)


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


def _identity(model: str, loaded: Any) -> str:
    """Return the model's name with the hash or commit of its weights, without its folder's path."""
    folder = Path(model)
    if folder.is_dir():
        return f"{folder.resolve().name}@{_folder_hash(folder)}"
    config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    if not isinstance(commit, str):
        raise ValueError("the hub does not say of which commit its weights are")
    return f"{model}@{commit[:_ID_LENGTH]}"


def _folder_hash(folder: Path) -> str:
    """Return the SHA-256 over names and contents of the weights and the settings beside them."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _IDENTIFYING and path.is_file():
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}\n{sha256_of(path)}\n".encode())
    return digest.hexdigest()[:_ID_LENGTH]
