"""Hashed features of a question."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.classify.linear import (
    BUCKETS,
    FAMILIES,
    MAX_CHARS,
    bags,
    bucket,
    measures,
    paired,
)

# Any code points, lone surrogates too: a terminal can hand them over.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


def test_bucket_is_the_low_half_of_the_published_crc_32() -> None:
    # The check value of CRC-32 for "123456789" is CBF43926.
    assert bucket("123456789") == 0x3926
    assert bucket("") == 0


def test_buckets_do_not_depend_on_the_hash_seed_of_a_process() -> None:
    code = "from lexloop.nodes.classify.linear import bucket; print(bucket('bias audit'))"
    command = [sys.executable, "-c", code]
    printed = {
        subprocess.run(
            command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {f"{bucket('bias audit')}\n"}


def expected_bag(grams: dict[str, int]) -> tuple[list[int], list[float]]:
    damped = sorted((bucket(gram), 1.0 + np.log(count)) for gram, count in grams.items())
    return [place for place, _ in damped], [count for _, count in damped]


def test_grams_worked_by_hand() -> None:
    found = bags("Is it it?")
    by_hand = {
        "word": dict.fromkeys(["<s>", "is", "?", "</s>"], 1)
        | {"it": 2}
        | dict.fromkeys(["<s> is", "is it", "it it", "it ?", "? </s>"], 1),
        "char": dict.fromkeys([" is ", " is", "is ", "is", "s ", " it ", "it ", "t "], 1)
        | dict.fromkeys([" it?", "it? ", " it? ", "it?", "t?", "t? ", "? "], 1)
        | {" i": 3, " it": 2, "it": 2},
    }
    for family, grams in by_hand.items():
        buckets, counts = expected_bag(grams)
        assert found[family][0].tolist() == buckets
        assert found[family][1].tolist() == pytest.approx(counts)


def test_the_frame_leaves_the_topic_out() -> None:
    audits, sandboxes = (
        bags(f"What is {topic} and who checks it?")["frame"]
        for topic in ("a bias audit", "a regulatory test sandbox")
    )
    assert audits[0].tolist() == sandboxes[0].tolist()
    assert bags("What is bias?")["frame"][0].tolist() != audits[0].tolist()


def test_measures_worked_by_hand() -> None:
    values = measures("What is the fee, and who pays it?")
    # What is the fee , and who pays it ?: ten tokens, eight words of 2 to 4 letters.
    length = [np.log(11), np.log(34)]
    counts = [1, 1, 2, 0, 1, 0, 1]
    marks = [1, 0, 1, 0, 1]
    shares = [24 / 9, 8 / 9, 2 / 11, 1 / 11]
    bounds = [0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0]
    assert values.tolist() == pytest.approx(length + counts + marks + shares + bounds)


def test_products_follow_the_measures() -> None:
    assert paired(np.array([2.0, 3.0, 5.0])).tolist() == [2, 3, 5, 6, 10, 15]


def test_text_beyond_the_limit_is_not_read() -> None:
    text = "ab " * MAX_CHARS
    assert bags(text)["char"][1].tolist() == bags(text + "other words")["char"][1].tolist()
    assert measures(text).tolist() == measures(text + "?").tolist()


@given(ANY_TEXT)
def test_every_text_has_finite_features(text: str) -> None:
    found = bags(text)
    assert tuple(found) == FAMILIES
    for buckets, counts in found.values():
        assert (np.diff(buckets) > 0).all()
        assert ((buckets >= 0) & (buckets < BUCKETS)).all()
        assert (counts >= 1.0).all()
    assert np.isfinite(measures(text)).all()


@given(st.lists(st.sampled_from(["bias", "audit", "and", "who"]), max_size=8))
def test_spaces_between_words_carry_nothing(words: list[str]) -> None:
    tight, loose = bags(" ".join(words)), bags("  \n".join(words) + " ")
    assert all(tight[name][0].tolist() == loose[name][0].tolist() for name in FAMILIES)
