import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexloop.corpus.index.counts import TermCounts
from lexloop.corpus.index.lexical import LexicalIndex

WORDS = ["fee", "owner", "pays", "audit", "bias", "harbour"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def assert_same(one: LexicalIndex, other: LexicalIndex) -> None:
    assert one.terms == other.terms
    assert one.size == other.size
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.weights.indices, other.weights.indices)
    np.testing.assert_array_equal(one.weights.indptr, other.weights.indptr)
    np.testing.assert_array_equal(one.weights.data, other.weights.data)


@given(st.lists(TEXT, max_size=10), st.lists(TEXT, max_size=4), st.data())
def test_kept_chunks_and_new_ones_index_as_if_all_were_new(
    before: list[str], new: list[str], data: st.DataObject
) -> None:
    old = LexicalIndex.build(before)
    first = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(first, len(before)))
    counts = TermCounts()
    for text in new[:2]:
        counts.add(text)
    counts.add_rows(old, first, end)
    for text in new[2:]:
        counts.add(text)
    assert len(counts) == len(new) + end - first
    assert_same(
        LexicalIndex.from_counts(counts),
        LexicalIndex.build([*new[:2], *before[first:end], *new[2:]]),
    )


def test_chunks_of_two_indexes_go_together() -> None:
    one, other = LexicalIndex.build(["fee audit fee", ""]), LexicalIndex.build(["bias fee"])
    counts = TermCounts()
    counts.add_rows(other, 0, 1)
    counts.add_rows(one, 0, 2)
    counts.add_rows(other, 0, 1)
    expected = LexicalIndex.build(["bias fee", "fee audit fee", "", "bias fee"])
    assert_same(LexicalIndex.from_counts(counts), expected)


def test_a_term_of_a_dropped_chunk_is_gone() -> None:
    old = LexicalIndex.build(["fee", "audit"])
    counts = TermCounts()
    counts.add_rows(old, 0, 1)
    assert LexicalIndex.from_counts(counts).terms == {"fee": 0}


def test_rows_are_the_counts_of_consecutive_chunks() -> None:
    index = LexicalIndex.build(["audit", "fee audit fee", "", "bias"])  # columns audit, bias, fee
    rows = index.rows(1, 4)
    assert rows.columns.tolist() == [0, 2, 1]
    assert rows.counts.tolist() == [1, 2, 1]
    assert rows.postings.tolist() == [2, 0, 1]
    assert [len(part) for part in index.rows(2, 2)] == [0, 0, 0]
