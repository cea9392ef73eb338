from pathlib import Path

import faiss
import numpy as np
import pytest

from lexloop.core.types import Chunk
from lexloop.corpus.index.dense import DenseIndex, window_texts
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]


def rows(*vectors: list[float]) -> Vectors:
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), 2)


def index_of(*owned: tuple[int, list[float]], size: int) -> DenseIndex:
    owners = np.array([owner for owner, _ in owned], dtype=np.int32)
    return DenseIndex.from_vectors(rows(*[vector for _, vector in owned]), owners, size)


def chunk_of(text: str) -> Chunk:
    return {
        "id": "d#0",
        "document": "d",
        "title": "t",
        "section": "",
        "page": None,
        "start": 0,
        "end": len(text),
        "text": text,
    }


HALF_PRECISION = 5e-4  # of a unit vector's coordinates, as the index keeps them


def test_a_chunk_scores_as_its_best_window() -> None:
    index = index_of((0, EAST), (0, NORTH), (1, WEST), (2, [0.6, 0.8]), size=3)
    scores = index.scores(rows(EAST, NORTH, [0.8, 0.6]))
    expected = [[1.0, -1.0, 0.6], [1.0, 0.0, 0.8], [0.8, -0.8, 0.96]]
    np.testing.assert_allclose(scores, expected, atol=HALF_PRECISION)


def test_scores_equal_a_plain_product_of_matrices() -> None:
    random = np.random.default_rng(7)
    owners = np.sort(random.integers(0, 40, 300)).astype(np.int32)
    owners = np.unique(owners, return_inverse=True)[1].astype(np.int32)
    size = int(owners[-1]) + 1
    vectors = random.normal(size=(300, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[::60]
    product = queries @ vectors.T
    expected = np.stack([product[:, owners == i].max(axis=1) for i in range(size)], axis=1)
    scores = DenseIndex.from_vectors(vectors, owners, size).scores(queries)
    np.testing.assert_allclose(scores, expected, atol=HALF_PRECISION)


def test_windows_come_back_in_order() -> None:
    index = index_of((0, EAST), (1, NORTH), (1, WEST), (1, EAST), (2, WEST), size=3)
    assert index.windows_of(1).tolist() == [NORTH, WEST, EAST]
    assert index.windows_of(0).tolist() == [EAST]
    assert index.vectors().tolist() == [EAST, NORTH, WEST, EAST, WEST]


def test_an_empty_index_scores_nothing() -> None:
    index = index_of(size=0)
    assert index.scores(rows(EAST, NORTH)).shape == (2, 0)
    assert index.vectors().shape == (0, 2)


def test_no_query_gives_no_score() -> None:
    assert index_of((0, EAST), size=1).scores(rows()).shape == (0, 1)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    paths = tmp_path / "vectors.faiss", tmp_path / "owners.npy"
    built = index_of((0, EAST), (1, NORTH), size=2)
    built.save(*paths)
    loaded = DenseIndex.load(*paths, 2)
    assert loaded.vectors().tolist() == built.vectors().tolist()
    assert (loaded.owners.tolist(), loaded.owners.dtype) == ([0, 1], np.int32)
    assert isinstance(loaded.index, faiss.IndexScalarQuantizer)


@pytest.mark.parametrize("content", [b"", b"garbage"])
@pytest.mark.parametrize("damaged", ["vectors.faiss", "owners.npy"])
def test_a_file_that_is_no_index_is_refused(tmp_path: Path, damaged: str, content: bytes) -> None:
    paths = tmp_path / "vectors.faiss", tmp_path / "owners.npy"
    index_of((0, EAST), size=1).save(*paths)
    (tmp_path / damaged).write_bytes(content)
    with pytest.raises((OSError, ValueError, RuntimeError)):
        DenseIndex.load(*paths, 1)


def test_windows_are_the_whole_and_then_its_statements() -> None:
    text = " The owner must pay the fee in time. The guest may not moor at night. "
    assert window_texts(chunk_of(text), load_minilm()) == [
        text.strip(),
        "The owner must pay the fee in time.",
        "The guest may not moor at night.",
    ]


def test_a_chunk_of_one_statement_is_one_window() -> None:
    text = "The owner must pay the fee in time."
    assert window_texts(chunk_of(text), load_minilm()) == [text]
    assert window_texts(chunk_of(" \n"), load_minilm()) == [""]


def test_a_long_chunk_is_cut_between_sentences_into_windows_that_fit() -> None:
    model = load_minilm()
    sentences = [
        f"The owner of berth {n} must pay the fee of that berth in time." for n in range(60)
    ]
    texts = window_texts(chunk_of(" ".join(sentences)), model)
    wholes = texts[: -len(sentences)]
    assert len(wholes) > 2
    assert " ".join(wholes) == " ".join(sentences)
    assert texts[len(wholes) :] == sentences
    assert all(model.count_tokens(text) + 2 <= model.window for text in texts)
