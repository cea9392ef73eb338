"""Encoders in folders of sentence-transformers and of PyLate: opened here and nowhere else.

What a folder holds is never run: weights are safetensors, modules are those of the library. A
folder of PyLate, or one saved by the library's own late interaction, gives a vector for each token.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.files import sha256_of
from lexloop.core.packages import need_extra
from lexloop.core.running import heed_deadline
from lexloop.models.embedding import (
    CODED,
    Codes,
    Encoded,
    Halves,
    Progress,
    Spans,
    Vectors,
    coded,
    refuse_broken,
    without_bars,
)

MODULES, ABOUT = "modules.json", "config_sentence_transformers.json"
"""What of sentence-transformers says which modules there are, and what else is known of them."""
HASH_LENGTH = 12
_IDENTIFYING = frozenset({".json", ".safetensors", ".txt"})
_PICKLES = "pytorch_model*.bin"
"""The files that sentence-transformers would read instead of safetensors."""
_FAULTS = (OSError, ValueError, LookupError, TypeError, RuntimeError, ImportError, AttributeError)
_LATE = frozenset({"ColBERT", "MultiVectorEncoder"})
_AT_ONCE = 32
_ROOM = 8


def is_late(folder: Path) -> bool:
    """Return whether a folder's encoder gives token vectors only, and no vector of the whole text.

    Raises:
        DataError: The file that says so is not JSON.
    """
    about = _told(folder / ABOUT)
    return about.get("model_type") in _LATE or "query_prefix" in about


def asked_with(folder: Path) -> bool:
    """Return whether a folder names words to stand before questions or documents."""
    about = _told(folder / ABOUT)
    return any((about.get("prompts") or {}).values())


def open_encoder(name: str, device: str | None = None, late: bool | None = None) -> Any:
    """Load the model of a folder or hub id with sentence-transformers.

    A folder is read without a network.

    Args:
        name: The folder or id.
        device: ``cpu`` or ``cuda``, or None for the GPU if there is one.
        late: Whether it should give token vectors, or None to follow the folder. A model for
            sentence vectors gets a random projection of its tokens.

    Returns:
        A ``SentenceTransformer``, or a ``MultiVectorEncoder`` for token vectors.

    Raises:
        InputError: The extra ``torch`` is not installed.
        DataError: It is not such a model, or its weights are not safetensors.
    """
    need_extra(f"The embedder {name!r}", "torch", "sentence_transformers")
    from safetensors import SafetensorError

    folder = Path(name)
    if local := folder.is_dir():
        check_weights(folder)
    wanted = late or (late is None and local and is_late(folder))
    kind = "MultiVectorEncoder" if wanted else "SentenceTransformer"
    try:
        import sentence_transformers

        options = {"device": device, "model_kwargs": {"use_safetensors": True}}
        with without_bars():
            model = getattr(sentence_transformers, kind)(name, local_files_only=local, **options)
        return model.float() if model.device.type == "cpu" else model
    except (*_FAULTS, SafetensorError) as error:
        raise DataError(
            f"The embedder {name!r} cannot be loaded: {str(error).rstrip('.')}.",
            "Name a local folder or a hub id that this machine can reach, "
            "or set embedder='embedded'.",
        ) from error


def check_weights(folder: Path) -> None:
    """Refuse a folder some of whose weights could only be read as a pickle, or that has none.

    Raises:
        DataError: It is so.
    """
    why = "it holds no model.safetensors" if not any(folder.rglob("*.safetensors")) else ""
    for path in sorted(folder.rglob(_PICKLES)):
        if not any(path.parent.glob("*.safetensors")):
            name = path.relative_to(folder).as_posix()
            why = f"{name} is a pickle, which is never read; save it as safetensors"
    if why:
        raise DataError(
            f"The embedder {str(folder)!r} cannot be loaded: {why}.",
            "Name the folder of a sentence-transformers or PyLate model.",
        )


def folder_hash(folder: Path) -> str:
    """Return the SHA-256 over the names and contents of a folder's weights and settings."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _IDENTIFYING and path.is_file():
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}\n{sha256_of(path)}\n".encode())
    return digest.hexdigest()[:HASH_LENGTH]


def _told(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"{path} is no JSON: {error}.", "Copy the folder again.") from error
    return content if isinstance(content, dict) else {}


def tokens_of(model: Any, texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text by the tokenizer of a sentence-transformers model."""
    refuse_broken(texts)
    if not texts:
        return []
    encoded = model.tokenizer(list(texts), add_special_tokens=False, verbose=False)
    return [len(ids) for ids in encoded["input_ids"]]


class LateEncoder:
    """A late interaction model of a folder, of PyLate for one: a vector for each token.

    Its tokens' vectors are stored as those of the embedded model are; a text's own vector is their
    mean, which finds candidates, and MaxSim of the tokens tells among them. Words that the folder
    sets before questions and documents are set there.

    Args:
        folder: As PyLate or sentence-transformers saves it.
        name: By which an index knows it.

    Raises:
        DataError: It cannot be loaded, or its vectors are longer than is stored.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._model = open_encoder(str(folder), late=True)
        self.name = name
        self.dimension = int(self._model.get_embedding_dimension())
        if self.dimension > CODED or not self._model.tokenizer.is_fast:
            raise DataError(
                f"The embedder {str(folder)!r} gives {self.dimension} numbers a token, or has no "
                "fast tokenizer.",
                f"Name a late interaction model of at most {CODED} numbers with a tokenizer.json.",
            )
        self._before = {task: self._model.prompts.get(task) or "" for task in ("query", "document")}
        longest = self._model[0].document_length or self._model.max_seq_length or 512
        self.window = max(int(longest) - self.count_tokens(self._before["document"]), _ROOM)

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``; each is read as a question."""
        refuse_broken(texts)
        made = [rows for rows, _ in self._read(texts, "query")]
        return _means(made, self.dimension)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``; each is read as a document."""
        return self.encode_tokens(texts, [()] * len(texts), progress).vectors

    def token_codes(self, text: str) -> Codes:
        """See ``TokenEmbedder.token_codes``; what the model adds to a question counts too."""
        refuse_broken([text])
        [(rows, _)] = self._read([text], "query")
        return _coded(rows)

    def encode_tokens(
        self, texts: Sequence[str], parts: Sequence[Sequence[Spans]], progress: Progress
    ) -> Encoded:
        """See ``TokenEmbedder.encode_tokens``."""
        refuse_broken(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        codes: list[Codes] = [np.zeros((0, CODED), dtype=np.int8)] * len(texts)
        statements: list[Halves] = [np.zeros((0, self.dimension), dtype=np.float16)] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for first in range(0, len(order), _AT_ONCE):
            part = order[first : first + _AT_ONCE]
            for i, (rows, places) in zip(
                part, self._read([texts[i] for i in part], "document"), strict=True
            ):
                vectors[i] = _means([rows], self.dimension)[0]
                codes[i] = _coded(rows)
                held = [rows[_inside(places, spans)] for spans in parts[i]]
                statements[i] = _means(held, self.dimension).astype(np.float16)
            progress(first + len(part), len(texts))
        return Encoded(vectors, codes, statements)

    def count_tokens(self, text: str) -> int:
        """Return the tokens that the model's tokenizer counts."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text by the model's tokenizer."""
        return tokens_of(self._model, texts)

    def _read(self, texts: Sequence[str], task: str) -> list[tuple[Vectors, Any]]:
        """For each text the vectors of the tokens that count, and where in it these stand."""
        import torch

        made: list[tuple[Vectors, Any]] = []
        before, device = self._before[task], self._model.device
        for first in range(0, len(texts), _AT_ONCE):
            heed_deadline("while texts were embedded")
            part = list(texts[first : first + _AT_ONCE])
            fed = self._model.preprocess(part, prompt=before or None, task=task)
            held = {k: v.to(device) if torch.is_tensor(v) else v for k, v in fed.items()}
            with torch.inference_mode():
                out = self._model(held, task=task)
            states = out["token_embeddings"].float().cpu().numpy()
            counted = out["attention_mask"].bool().cpu().numpy()
            places = self._places([before + text for text in part], counted.shape[1], len(before))
            made += [
                (rows[kept], where[kept])
                for rows, kept, where in zip(states, counted, places, strict=True)
            ]
        return made

    def _places(self, texts: list[str], width: int, before: int) -> Any:
        """Return the spans of tokens in texts without their prefix, shape (n, width, 2)."""
        options = {"truncation": True, "max_length": width, "return_offsets_mapping": True}
        offsets = self._model.tokenizer(texts, verbose=False, **options)["offset_mapping"]
        places = np.zeros((len(texts), width, 2), dtype=np.int64)
        for row, pairs in zip(places, offsets, strict=True):
            row[: len(pairs)] = pairs
        return np.maximum(places - before, 0)


def _inside(places: Any, spans: Spans) -> Any:
    """Which tokens stand in one of the spans."""
    starts, ends = places[:, 0], places[:, 1]
    return np.any([(starts < end) & (ends > start) for start, end in spans], axis=0)


def _means(rows: Sequence[Vectors], dimension: int) -> Vectors:
    """Return the normalised mean of each text's tokens, or zeros if it has none."""
    made = np.zeros((len(rows), dimension), dtype=np.float32)
    for place, tokens in enumerate(rows):
        if len(tokens):
            made[place] = tokens.sum(axis=0)
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    means: Vectors = made / np.maximum(lengths, 1e-9)
    return means


def _coded(rows: Vectors) -> Codes:
    """Return the codes of tokens; zeros behind vectors that are shorter change no cosine."""
    return coded(np.pad(rows, ((0, 0), (0, CODED - rows.shape[1]))))
