"""What an engine keeps beside a chunk as bytes: its terms, its vectors and its tokens' codes."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from lexloop.models.embedding import CODED, Codes, Vectors

_TERM = np.dtype([("hash", "<u4"), ("count", "<u2")])
_MOST = np.iinfo(np.uint16).max


def key_of(name: str) -> str:
    """Return the id that an engine has of something: names may be longer than its ids."""
    return sha256(name.encode(errors="surrogatepass")).hexdigest()[:40]


def packed(data: bytes) -> str:
    """Return bytes as an engine takes them."""
    return b64encode(data).decode()


def unpacked(text: str) -> bytes:
    """Return the bytes of a binary column; OpenSearch leaves the padding out, and has - for +."""
    return b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))


def bag_of(counts: Mapping[str, int]) -> bytes:
    """Return the terms of a chunk by hash, with their counts."""
    rows = [(crc32(term.encode()), min(n, _MOST)) for term, n in counts.items()]
    return np.array(rows, dtype=_TERM).tobytes()


def counts_in(bags: Sequence[str], terms: Sequence[str]) -> NDArray[np.float64]:
    """Return how often each bag has each term, shape (bags, terms); bags as an engine has them."""
    found = np.zeros((len(bags), len(terms)))
    hashes = np.array([crc32(term.encode()) for term in terms], dtype=np.uint32)
    # a term has six bytes, which are eight characters: bags can be decoded end to end
    rows = np.frombuffer(unpacked("".join(bags)), dtype=_TERM)
    if not len(hashes) or not len(rows):
        return found
    order = np.argsort(hashes)
    places = np.searchsorted(hashes, rows["hash"], sorter=order).clip(max=len(hashes) - 1)
    held = order[places]
    hit = hashes[held] == rows["hash"]
    owners = np.repeat(np.arange(len(bags)), [len(bag) * 3 // 4 // _TERM.itemsize for bag in bags])
    found[owners[hit], held[hit]] = rows["count"][hit]
    return found


def halves_of(data: bytes, dimension: int) -> NDArray[np.float16]:
    """Return the vectors of windows, shape (windows, dimension)."""
    return np.frombuffer(data, dtype=np.float16).reshape(-1, dimension)


def nearest_of(columns: Sequence[str], vector: Vectors) -> list[float]:
    """Return the inner product of a vector with the nearest window of each chunk.

    Args:
        columns: The windows of each chunk, at least one, as an engine has them.
        vector: Of shape (dimension,).
    """
    windows = [halves_of(unpacked(column), len(vector)) for column in columns]
    if not windows:
        return []
    products = np.concatenate(windows).astype(np.float32) @ vector
    firsts = np.cumsum([0, *map(len, windows[:-1])])
    found: list[float] = np.maximum.reduceat(products, firsts).tolist()
    return found


def floats_of(data: bytes) -> Vectors:
    """Return one vector of float32."""
    return np.frombuffer(data, dtype=np.float32)


def codes_of(data: bytes) -> Codes:
    """Return the codes of tokens, shape (tokens, CODED)."""
    return np.frombuffer(data, dtype=np.int8).reshape(-1, CODED)
