"""Corpora of any size for benchmarks: a file's own passages, then chunks mixed from them.

A mixed chunk is made of sentences of several passages, as many words long as some passage is. Its
vector is that of the passage its first sentence comes from, jittered: what is measured is how fast
vectors are searched, and a million of them need not be embedded for that.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from _shared import read_rows
from numpy.typing import NDArray

from lexloop.core.arrays import load_array, save_array
from lexloop.core.files import publish_folder
from lexloop.documents.text.tokens import sentence_spans
from lexloop.models.minilm import load_minilm

_SEED = 20240917
_JITTER = 0.02
"""Standard deviation in each of 384 components: a jittered vector's cosine to its own is 0.93."""
_SENTENCE_WORDS = range(4, 61)
_CHUNK_WORDS = 130  # what a mixed chunk may have at most: it fits the embedder's window
_QUESTION_WORDS = range(14, 36)  # 15 terms in the median, as people's questions on laws have
_OPENINGS = (
    "When does it hold that",
    "Who has to make sure that",
    "What do the rules say about the case that",
    "Which requirements apply where",
)
_BLOCK = 50_000

Half = NDArray[np.float16]


@dataclass(frozen=True)
class Chunks:
    """What every contestant indexes.

    Args:
        texts: One a chunk.
        vectors: Unit vectors of the texts, shape (chunks, 384).
    """

    texts: list[str]
    vectors: Half

    @classmethod
    def load(cls, folder: Path) -> "Chunks":
        """What ``mixed`` wrote; the vectors stay on disk until they are read."""
        with (folder / "texts.jsonl").open(encoding="utf-8") as file:
            texts = [json.loads(line) for line in file]
        return cls(texts, np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False))


def read_passages(path: Path) -> list[str]:
    """The texts of a JSON Lines file's passages that are not empty."""
    texts = (row["text"].strip() for row in read_rows(path))
    return [text for text in texts if text]


def questions_from(passages: Sequence[str], count: int) -> list[str]:
    """Questions in the passages' own words: sentences of theirs behind an opening."""
    draw = random.Random(_SEED)
    sentences = [text for text, _ in _sentences(passages, _QUESTION_WORDS) if text[0].isalpha()]
    chosen = draw.sample(sentences, count)
    return [f"{draw.choice(_OPENINGS)} {text.rstrip('.;:, ')}?" for text in chosen]


def mixed(passages: Sequence[str], size: int, cache: Path) -> Path:
    """The folder of a corpus of ``size`` chunks, made unless it is there.

    Args:
        passages: Their own texts come first, as far as ``size`` goes.
        size: Number of chunks.
        cache: Where corpora are kept between runs.
    """

    def fill(folder: Path) -> None:
        chosen = [*islice(mixed_texts(passages), size)]
        with (folder / "texts.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for _, text in chosen)
        origins = np.array([origin for origin, _ in chosen])
        save_array(folder / "vectors.npy", _jittered(_vectors(passages, cache), origins))

    key = f"{_digest([Path(__file__).read_text(encoding='utf-8'), *passages])}-{size}"
    return publish_folder(cache / key, fill)


def mixed_texts(passages: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The passages, then mixed chunks without end; each with the passage its vector is of."""
    yield from enumerate(passages)
    draw = random.Random(_SEED + 1)
    sentences = _sentences(passages, _SENTENCE_WORDS)
    lengths = [min(len(text.split()), _CHUNK_WORDS) for text in passages]
    seen = set(passages)
    while True:
        wanted = draw.choice(lengths)
        text, origin = draw.choice(sentences)
        while (words := text.count(" ") + 1) < wanted:
            text = f"{text} {draw.choice(sentences)[0]}"
        if words <= _CHUNK_WORDS + _SENTENCE_WORDS.stop and text not in seen:
            seen.add(text)
            yield origin, text


def _sentences(passages: Sequence[str], words: range) -> list[tuple[str, int]]:
    """Distinct sentences of fitting length and the passage each comes from."""
    found: dict[str, int] = {}
    for i, passage in enumerate(passages):
        for start, end in sentence_spans(passage):
            sentence = " ".join(passage[start:end].split())
            if sentence.count(" ") + 1 in words:
                found.setdefault(sentence, i)
    return list(found.items())


def _jittered(own: NDArray[np.float32], origins: NDArray[np.int64]) -> Half:
    """The passages' own vectors, then those of the origins with noise, at unit length."""
    noise = np.random.default_rng(_SEED)
    vectors = np.empty((len(origins), own.shape[1]), dtype=np.float16)
    count = min(len(own), len(origins))
    vectors[:count] = own[:count]
    for first in range(count, len(origins), _BLOCK):
        block = own[origins[first : first + _BLOCK]]
        block = block + noise.normal(0.0, _JITTER, block.shape).astype(np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        vectors[first : first + len(block)] = block
    return vectors


def _vectors(passages: Sequence[str], cache: Path) -> NDArray[np.float32]:
    """MiniLM's vectors of the passages, made once."""
    minilm = load_minilm()
    path = cache / f"{_digest([minilm.name, *passages])}.npy"
    if not path.is_file():
        save_array(path, minilm.encode(passages, lambda *_: None).astype(np.float32))
    return load_array(path, np.float32, dimensions=2)


def _digest(parts: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]
