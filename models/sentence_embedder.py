"""An embedding model of sentence-transformers, from a folder or a hub id."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.deadline import heed_deadline
from lexloop.core.errors import DataError
from lexloop.models.bars import without_bars
from lexloop.models.bfloat16 import encode_with_torch
from lexloop.models.bulk import refuse_broken
from lexloop.models.embedding import Halves, Progress, Vectors

_IDENTIFYING = frozenset({".json", ".safetensors", ".txt"})
_ID_LENGTH = 12
_AT_ONCE = 16


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
        """Unit vectors of shape (len(texts), dimension).

        Raises:
            InputError: A text is not valid Unicode.
            DeadlineExceeded: The question that is being answered has run out of time.
        """
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            heed_deadline("while texts were embedded")
            vectors[start : start + _AT_ONCE] = self._model.encode(
                texts[start : start + _AT_ONCE],
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; under bfloat16 where the processor has it."""
        return encode_with_torch(self._model, texts, self.dimension, progress)

    def count_tokens(self, text: str) -> int:
        """Tokens as the model's tokenizer counts them."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model's tokenizer counts them."""
        refuse_broken(texts)
        if not texts:
            return []
        encoded = self._model.tokenizer(list(texts), add_special_tokens=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def _identity(model: str, loaded: Any) -> str:
    """The model's name and what its weights are, without the folders above it."""
    folder = Path(model)
    if folder.is_dir():
        return f"{folder.resolve().name}@{_folder_hash(folder)}"
    config = getattr(getattr(loaded[0], "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    if not isinstance(commit, str):
        raise ValueError("the hub does not say of which commit its weights are")
    return f"{model}@{commit[:_ID_LENGTH]}"


def _folder_hash(folder: Path) -> str:
    """SHA-256 over names and contents of the weights and of the settings beside them."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _IDENTIFYING and path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\n{content}\n".encode())
    return digest.hexdigest()[:_ID_LENGTH]
