"""What an engine keeps, and the cache that is filled many at a time."""

from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import hearing, tell_loss
from lexloop_engines.engine.schema import inner_product, key_of, packed, unpacked
from lexloop_engines.engine.store import Recent


@given(st.binary(max_size=40))
def test_bytes_come_back_in_either_engines_alphabet(data: bytes) -> None:
    assert unpacked(packed(data)) == data
    assert unpacked(urlsafe_b64encode(data).decode().rstrip("=")) == data
    assert unpacked(b64encode(data).decode()) == data


def test_names_longer_than_an_engines_ids_have_keys_of_one_length() -> None:
    assert {len(key_of(name)) for name in ("", "a", "a" * 10_000, "\udcff")} == {40}
    assert key_of("a#1") != key_of("a#12")


@pytest.mark.parametrize("product", [-1.0, -0.25, 0.0, 0.3, 1.0])
def test_the_score_of_an_inner_product_is_undone(product: float) -> None:
    score = 1 + product if product >= 0 else 1 / (1 - product)  # as Lucene writes it
    assert inner_product(score) == pytest.approx(product)


def test_only_what_is_not_kept_is_fetched_and_once() -> None:
    kept, asked = Recent[int](2), list[list[str]]()

    def fetch(names: Sequence[str]) -> list[int]:
        asked.append([*names])
        return [len(name) for name in names]

    assert kept.get(["a", "bb", "a"], fetch) == [1, 2, 1]
    assert kept.get(["bb", "ccc"], fetch) == [2, 3]
    assert kept.get(["a"], fetch) == [1]  # the least lately used was forgotten
    assert kept.get([], fetch) == []
    assert asked == [["a", "bb"], ["ccc"], ["a"]]
    assert kept.latest() == ["a", "bb", "ccc"]


def test_what_may_be_less_than_there_is_is_not_kept_and_is_told() -> None:
    kept = Recent[int](9)

    def partly(names: Sequence[str]) -> list[int]:
        tell_loss("all shards", "1 of them", "the others did not answer")
        return [0 for _ in names]

    with hearing() as told:
        assert kept.get(["a"], partly) == [0]
    assert [loss.wanted for loss in told] == ["all shards"]
    assert kept.get(["a"], lambda names: [7 for _ in names]) == [7]
