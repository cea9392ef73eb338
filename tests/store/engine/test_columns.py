"""What an engine keeps as bytes."""

from base64 import b64encode, urlsafe_b64encode
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.models.embedding import CODED
from lexloop.store.engine.columns import (
    bag_of,
    codes_of,
    counts_in,
    floats_of,
    halves_of,
    key_of,
    nearest_of,
    packed,
    unpacked,
)
from lexloop.store.engine.dialect import inner_product

_TERMS = st.text("abcdé-§", min_size=1, max_size=4)


@given(st.binary(max_size=40))
def test_bytes_come_back_in_either_engines_alphabet(data: bytes) -> None:
    assert unpacked(packed(data)) == data
    assert unpacked(urlsafe_b64encode(data).decode().rstrip("=")) == data
    assert unpacked(b64encode(data).decode()) == data


def test_counts_of_two_bags_by_hand() -> None:
    bags = [packed(bag_of(counts)) for counts in (Counter("abba"), {}, Counter("cab"))]
    assert counts_in(bags, ["a", "b", "x"]).tolist() == [[2, 2, 0], [0, 0, 0], [1, 1, 0]]
    assert counts_in([], ["a"]).shape == (0, 1)
    assert counts_in(bags, []).shape == (3, 0)


@given(st.lists(st.lists(_TERMS, max_size=12), max_size=6), st.lists(_TERMS, unique=True))
def test_counts_are_those_of_the_terms(texts: list[list[str]], asked: list[str]) -> None:
    found = counts_in([packed(bag_of(Counter(text))) for text in texts], asked)
    assert found.tolist() == [[text.count(term) for term in asked] for text in texts]


def test_a_count_too_large_for_its_column_stays_the_largest() -> None:
    assert counts_in([packed(bag_of({"a": 70_000}))], ["a"]).tolist() == [[65_535]]


def test_arrays_come_back_in_their_shapes() -> None:
    halves = np.arange(6, dtype=np.float16).reshape(2, 3)
    assert (halves_of(halves.tobytes(), 3) == halves).all()
    assert floats_of(np.float32([1, 2]).tobytes()).tolist() == [1, 2]
    codes = np.ones((2, CODED), dtype=np.int8)
    assert codes_of(codes.tobytes()).shape == (2, CODED)
    assert codes_of(b"").shape == (0, CODED)


def test_the_nearest_window_of_each_chunk_is_found() -> None:
    windows = [[[1, 0], [0.5, 0.5]], [[-1, 0]], [[0, 1], [0, 0], [0.25, -1]]]
    held = [packed(np.array(rows, dtype=np.float16).tobytes()) for rows in windows]
    assert nearest_of(held, np.float32([1, 0])) == [1.0, -1.0, 0.25]
    assert nearest_of(held[1:], np.float32([0, -1])) == [0.0, 1.0]
    assert nearest_of([], np.float32([1, 0])) == []


def test_names_longer_than_an_engines_ids_have_keys_of_one_length() -> None:
    assert {len(key_of(name)) for name in ("", "a", "a" * 10_000, "\udcff")} == {40}
    assert key_of("a#1") != key_of("a#12")


@pytest.mark.parametrize("product", [-1.0, -0.25, 0.0, 0.3, 1.0])
def test_the_score_of_an_inner_product_is_undone(product: float) -> None:
    score = 1 + product if product >= 0 else 1 / (1 - product)  # as Lucene writes it
    assert inner_product(score) == pytest.approx(product)
