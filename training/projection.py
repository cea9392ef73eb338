"""Fit the projection of token vectors to 128 dimensions, using only words of the vocabulary.

    python -m training.projection --out data/tokens/projection.npy

The words are in random order, in texts of 3, 10, 30 and 100, so that a token's state contains
something of its context. The same versions of the libraries give the same directions.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexloop.core.arrays import save_array
from lexloop.models.embedding import CODED
from lexloop.models.minilm import load_minilm

_AT_ONCE = (3, 10, 30, 100)
_TEXTS = 1500
_WORD = re.compile(r"[a-z]{3,}")


def main() -> None:
    """Write the file and print how much of the vectors' square length it keeps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = load_minilm()
    words = usual_words(model.vocabulary())
    projection, share = fit(model.token_states(text) for text in word_texts(words, 0))
    save_array(options.out, projection.astype(np.float16))
    print(f"{len(words)} words, {share:.3f} of the square length in {CODED} dimensions")


def usual_words(vocabulary: Iterable[str]) -> list[str]:
    """Return the words of a vocabulary, sorted."""
    return sorted(word for word in vocabulary if _WORD.fullmatch(word))


def word_texts(words: list[str], seed: int) -> Iterator[str]:
    """Yield texts of so many words each, in a new random order for each number."""
    rng = np.random.default_rng(seed)
    for count in _AT_ONCE:
        order = rng.permutation(len(words)).tolist()
        for first in range(0, len(words), count)[:_TEXTS]:
            yield " ".join(words[place] for place in order[first : first + count])


def fit(states: Iterator[NDArray[np.float32]]) -> tuple[NDArray[np.float64], float]:
    """Return the main directions of tokens, shape (width, CODED), and their share of the length.

    The mean is not removed, because cosines are taken of the projection.

    Args:
        states: The tokens of each text, shape (tokens, width).
    """
    total: NDArray[np.float64] | None = None
    for rows in states:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        product = (unit.T @ unit).astype(np.float64)
        total = product if total is None else total + product
    if total is None:
        raise ValueError("there are no tokens to fit to")
    shares, directions = np.linalg.eigh(total)
    best = directions[:, ::-1][:, :CODED]
    signs = np.sign(best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])])
    return best * signs, float(shares[::-1][:CODED].sum() / shares.sum())


if __name__ == "__main__":
    main()
