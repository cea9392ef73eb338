from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from numpy.typing import NDArray

from lexloop.models.embedding import Vectors
from lexloop.store.folder.dense import DenseIndex, build_hnsw, search_hnsw

EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
KINDS = ["flat", "hnsw", "ivf"]


def rows(*vectors: list[float]) -> Vectors:
    return np.array(vectors, dtype=np.float32).reshape(len(vectors), 2)


def index_of(*owned: tuple[int, list[float]], size: int, kind: str = "flat") -> DenseIndex:
    owners = np.array([owner for owner, _ in owned], dtype=np.int32)
    return DenseIndex.build(rows(*[vector for _, vector in owned]), owners, size, kind)


def random_vectors(count: int, dimension: int, seed: int = 7) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def by_hand(
    index: DenseIndex, query: Vectors, limit: int, allowed: NDArray[np.bool_] | None
) -> tuple[list[int], list[float]]:
    """Every window multiplied, every chunk sorted."""
    best = np.full(index.size, -np.inf)
    # row by row, since a product of matrices may round equal rows differently
    products = (index.vectors.astype(np.float64) * query).sum(axis=1)
    np.maximum.at(best, index.owners, products)
    if allowed is not None:
        best[~allowed] = -np.inf
    order = [int(i) for i in np.argsort(-best, kind="stable") if best[i] > -np.inf][:limit]
    return order, best[order].tolist()


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=25),
    st.integers(1, 30),
    st.sampled_from(KINDS),
    st.integers(0, 1000),
)
def test_the_best_allowed_chunks_are_found_and_no_other(
    windows: list[int], limit: int, kind: str, seed: int
) -> None:
    random = np.random.default_rng(seed)
    owners = np.repeat(np.arange(len(windows), dtype=np.int32), windows)
    # few directions, so that many windows tie
    vectors = random_vectors(6, 8, seed)[random.integers(0, 6, len(owners))]
    index = DenseIndex.build(vectors.reshape(len(owners), 8), owners, len(windows), kind)
    allowed = random.random(len(windows)) < 0.4
    queries = random_vectors(2, 8, seed + 1)
    for mask in (None, allowed, ~allowed, np.zeros(len(windows), dtype=bool)):
        for query, (positions, scores) in zip(
            queries, index.top(queries, limit, mask), strict=True
        ):
            expected, values = by_hand(index, query, limit, mask)
            assert positions.tolist() == expected
            assert scores.tolist() == pytest.approx(values, abs=1e-5)
            assert mask is None or mask[positions].all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [None, 0.02])
def test_many_windows(kind: str, share: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # with the border this low the approximate kinds search approximately and filtered
    monkeypatch.setattr("lexloop.store.folder.dense._FEW", 30)
    owners = np.sort(np.random.default_rng(3).integers(0, 1000, 3000)).astype(np.int32)
    index = DenseIndex.build(random_vectors(3000, 16), owners, 1000, kind)
    queries = random_vectors(20, 16, seed=8)
    allowed = None if share is None else np.random.default_rng(4).random(1000) < share
    right = 0
    for query, (positions, scores) in zip(queries, index.top(queries, 15, allowed), strict=True):
        expected, _ = by_hand(index, query, 15, allowed)
        assert len(positions) == len(expected)
        assert len(set(positions.tolist())) == len(positions)
        assert (np.diff(scores) <= 0).all()
        assert allowed is None or allowed[positions].all()
        right += len(set(positions.tolist()) & set(expected))
    assert right >= (300 if kind == "flat" else 285)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_behind_one_of_many_windows_are_found(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the 200 best windows are all of chunk 0, so the first search has only that one chunk
    monkeypatch.setattr("lexloop.store.folder.dense._FEW", 30)
    monkeypatch.setattr("lexloop.store.folder.dense._MOST", 64)
    others = [(1, [0.6, 0.8]), (2, NORTH), (3, [0.8, 0.6]), (4, WEST)]
    index = index_of(*[(0, EAST)] * 200, *others, size=5, kind=kind)
    ((positions, _),) = index.top(rows(EAST), 4)
    assert positions.tolist() == [0, 3, 1, 2]
    few = np.array([False, True, False, False, True])
    ((positions, _),) = index.top(rows(EAST), 4, few)
    assert positions.tolist() == [1, 4]


def test_the_centre_is_the_mean_direction() -> None:
    # (1, 0) + (0, 1) + (0, 1) is (1, 2), whose length is the root of 5
    index = index_of((0, EAST), (1, NORTH), (2, NORTH), size=3)
    assert index.centroid().tolist() == pytest.approx([1 / 5**0.5, 2 / 5**0.5], abs=1e-3)
    assert index_of((0, EAST), (1, WEST), size=2).centroid().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["auto", "ivf"])
def test_an_empty_index_finds_nothing(kind: str, tmp_path: Path) -> None:
    index = index_of(size=0, kind=kind)
    assert index.kind == "flat"
    index.save(tmp_path)
    for each in (index, DenseIndex.load(tmp_path)):
        assert [len(p) for p, _ in each.top(rows(EAST, NORTH), 3)] == [0, 0]
        assert each.centroid().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
def test_recall_is_measured_and_reached(kind: str) -> None:
    owners = np.arange(3000, dtype=np.int32)
    index = DenseIndex.build(random_vectors(3000, 24), owners, 3000, kind)
    assert {"hnsw": 0.99, "ivf": 0.97}[kind] <= index.recall <= 1.0
    assert index.effort > 0


def test_a_graph_finds_every_one_of_many_near_duplicates() -> None:
    centres = random_vectors(60, 128)
    copies = np.tile(centres, (100, 1)) + 0.4 * random_vectors(6000, 128, seed=3)
    vectors = np.concatenate([centres, copies])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, found = search_hnsw(build_hnsw(vectors.astype(np.float16)), vectors, 10, None, 128)
    assert (found == np.arange(6060)[:, np.newaxis]).any(axis=1).mean() > 0.995


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_what_is_loaded(kind: str, tmp_path: Path) -> None:
    owners = np.repeat(np.arange(200, dtype=np.int32), 2)
    built = DenseIndex.build(random_vectors(400, 8), owners, 200, kind)
    built.save(tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == set(DenseIndex.FILES) - ({"vectors.faiss"} if kind == "flat" else set())
    loaded = DenseIndex.load(tmp_path)
    assert (loaded.kind, loaded.size) == (kind, 200)
    assert (loaded.effort, loaded.recall) == (built.effort, built.recall)
    np.testing.assert_array_equal(loaded.vectors, built.vectors)
    np.testing.assert_array_equal(loaded.owners, owners)
    np.testing.assert_array_equal(loaded.centroid(), built.centroid())
    assert not loaded.vectors.flags.writeable
    queries = random_vectors(5, 8, seed=9)
    for mask in (None, np.arange(200) % 3 == 0):
        for before, after in zip(
            built.top(queries, 9, mask), loaded.top(queries, 9, mask), strict=True
        ):
            np.testing.assert_array_equal(before[0], after[0])
            np.testing.assert_array_equal(before[1], after[1])
