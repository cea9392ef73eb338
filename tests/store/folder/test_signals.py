"""The signals: words as rank-bm25 scores them, vectors exactly or with measured recall, tokens."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, Letters, letter_tools, sources
from laws import examples
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import CODED, Codes, Encoded, Progress, Spans, Vectors, coded
from lexloop.store.folder.dense import DenseIndex, build_hnsw, search_hnsw
from lexloop.store.folder.lexical import LexicalIndex
from lexloop.store.folder.store import open_folder
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.manifest import Manifest
from lexloop.store.opening import open_index
from lexloop.store.writer import write_index

WORDS = ["fee", "owner", "pays", "audit", "bias", "harbour", "20-871", "20-871(b)", "$1,500", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=30)
QUERY = st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=6).map(" ".join)
HARBOUR = [
    "The owner pays the berth fee.",
    "The guest pays the harbour fee and the berth fee.",
    "An audit takes one day.",
    "A vessel moors at night.",
]


@given(TEXTS, QUERY)
def test_scores_are_those_of_rank_bm25(texts: list[str], query: str) -> None:
    scores = LexicalIndex.build(texts).scores(query)
    assert scores.shape == (len(texts),)
    assert scores.dtype == np.float32
    tokens = [tokenize(text) for text in texts]
    if not any(tokens):
        assert not scores.any()
        return
    expected = BM25Okapi(tokens).get_scores(tokenize(query))
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)


@given(TEXTS, QUERY, st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_best_are_the_allowed_ones_in_order(
    texts: list[str], query: str, limit: int, random: "np.random.Generator"
) -> None:
    index = LexicalIndex.build(texts)
    allowed = np.array([random.random() < 0.5 for _ in texts], dtype=bool)
    for mask in (None, allowed, np.zeros(len(texts), dtype=bool)):
        scores = index.scores(query)
        usable = [i for i in range(len(texts)) if scores[i] > 0 and (mask is None or bool(mask[i]))]
        expected = sorted(usable, key=lambda i: (-scores[i], i))[:limit]
        positions, found = index.top(query, limit, mask)
        assert positions.tolist() == expected
        assert found.tolist() == scores[expected].tolist()


def test_a_text_that_repeats_a_word_beyond_16_bits_is_counted_whole() -> None:
    texts = ["fee " * 70_000, *HARBOUR]
    index = LexicalIndex.build(texts)
    expected = BM25Okapi([tokenize(text) for text in texts]).get_scores(["fee", "audit"])
    np.testing.assert_allclose(index.scores("fee audit"), expected, rtol=1e-4, atol=1e-6)


EAST, NORTH, WEST = [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]
KINDS = ["flat", "hnsw"]


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
def test_the_best_allowed_are_found(windows: list[int], limit: int, kind: str, seed: int) -> None:
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
def test_chunks_behind_many_windows_are_found(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("kind", ["auto", "hnsw"])
def test_an_empty_index_finds_nothing(kind: str, tmp_path: Path) -> None:
    index = index_of(size=0, kind=kind)
    assert index.kind == "flat"
    index.save(tmp_path)
    for each in (index, DenseIndex.load(tmp_path)):
        assert [len(p) for p, _ in each.top(rows(EAST, NORTH), 3)] == [0, 0]


def test_recall_is_measured_and_reached() -> None:
    owners = np.arange(3000, dtype=np.int32)
    index = DenseIndex.build(random_vectors(3000, 24), owners, 3000, "hnsw")
    assert 0.99 <= index.recall <= 1.0
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
    assert not loaded.vectors.flags.writeable
    queries = random_vectors(5, 8, seed=9)
    for mask in (None, np.arange(200) % 3 == 0):
        for before, after in zip(
            built.top(queries, 9, mask), loaded.top(queries, 9, mask), strict=True
        ):
            np.testing.assert_array_equal(before[0], after[0])
            np.testing.assert_array_equal(before[1], after[1])


LAW = "The owner must pay a fee. The master may waive the fee."


class Spelt(Letters):
    """A token is a word, its vector the place of its first letter."""

    def token_codes(self, text: str) -> Codes:
        rows = np.zeros((len(words := text.lower().split()), CODED), dtype=np.float32)
        rows[np.arange(len(words)), [ord(word[0]) % CODED for word in words]] = 1.0
        return coded(rows)

    def encode_tokens(
        self, texts: Sequence[str], parts: Sequence[Sequence[Spans]], progress: Progress
    ) -> Encoded:
        said = [
            [" ".join(text[a:b] for a, b in spans) for spans in wanted]
            for text, wanted in zip(texts, parts, strict=True)
        ]
        codes = [self.token_codes(text) for text in texts]
        rows = [self.embed(held).astype(np.float16) for held in said]
        return Encoded(self.encode(texts, progress), codes, rows)


def along(*rows: dict[int, int]) -> Codes:
    """Codes with these values at these places."""
    made = np.zeros((len(rows), CODED), dtype=np.int8)
    for row, values in enumerate(rows):
        for place, value in values.items():
            made[row, place] = value
    return made


def test_maxsim_by_hand() -> None:
    held = TokenIndex.of(
        [
            along({0: 127}, {1: 127}),
            along(),
            along({0: 3, 1: 4}),  # 0.6 and 0.8 of one, however short it is
            along({5: 127}),
        ]
    )
    assert held.ends.tolist() == [0, 2, 2, 3, 4]
    question = along({0: 100}, {1: 50})
    spans = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (2, 4)]
    found = held.closeness(question, spans)
    first, second = [1.0, 1.0, 0.0, 0.6, 0.0, 0.6], [1.0, 1.0, 0.0, 0.8, 0.0, 0.8]
    np.testing.assert_allclose(found, [first, second], atol=1e-6)
    assert held.closeness(along(), spans).tolist() == [[0.0] * len(spans)]
    assert held.closeness(question, []).shape == (2, 0)
    assert held.closeness(along(), []).shape == (1, 0)
    assert TokenIndex.of([]).ends.tolist() == [0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (place := tmp_path / "sources").mkdir()
    (place / "a.txt").write_text(LAW)
    (place / "b.txt").write_text("A berth is a place. Boats lie there.")
    return place


def write(index: Path, folder: Path, embedder: Letters, **settings: Any) -> None:
    write_index(index, sources(folder), letter_tools(embedder, **settings))


def test_a_chunk_has_tokens_and_its_statements_none(folder: Path, tmp_path: Path) -> None:
    embedder = Spelt()
    write(tmp_path / "index", folder, embedder)
    with closing(open_folder(tmp_path / "index", embedder)) as contents:
        assert contents.tokens is not None
        held = contents.tokens.windows(0, len(contents.dense.owners))
        found = [window.argmax(axis=1).tolist() for window in held]
    assert len(found) == 6  # two chunks, each the whole and two statements
    assert [len(window) for window in found] == [len(LAW.split()), 0, 0, 8, 0, 0]
    assert found[0][:3] == [ord("t"), ord("o"), ord("m")]
    view = open_index(tmp_path / "index", embedder).seen_by(ANYBODY)
    near = view.closeness("owner pays", ["a.txt#0", "b.txt#0"])
    assert near is not None
    # "place" begins as "pays" does
    np.testing.assert_allclose(near, [[1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(KeyError):
        view.closeness("owner", ["c.txt#0"])


def test_off_by_the_setting_and_without_a_model_of_tokens(folder: Path, tmp_path: Path) -> None:
    for place, embedder, stored in (("off", Spelt(), False), ("letters", Letters(), True)):
        index = tmp_path / place
        write(index, folder, embedder, **{"index.token_vectors": stored})
        assert not [name for name in Manifest.read(index).sha256 if name.startswith("token")]
        view = open_index(index, embedder).seen_by(ANYBODY)
        assert view.closeness("owner", ["a.txt#0"]) is None
