"""What an engine keeps as bytes."""

from base64 import b64encode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.store.engine.schema import inner_product, key_of, packed, unpacked


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
