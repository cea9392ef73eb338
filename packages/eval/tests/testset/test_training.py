"""The classifier's training set: labels, shares of noise, and whether noise tells the label."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError, InputError
from lexloop.store.view import View
from lexloop_eval.testset.facts import Fact, read_facts
from lexloop_eval.testset.training import NOISES, NONE, SHARES, TARGETED, Noise, training_set

N = 300


@pytest.fixture(scope="module")
def facts(contract: View) -> list[Fact]:
    return read_facts(contract)


def test_labels_are_even_and_tell_how_many_things_are_asked(facts: list[Fact]) -> None:
    rows = training_set(facts, N, seed=1)
    assert Counter(row.label for row in rows) == {0: 100, 1: 100, 2: 100}
    assert len({row.question_clean for row in rows}) == N
    clauses = [fact.clause for fact in facts if fact.clause]
    for row in rows:
        asked = sum(
            clause in f"w{row.question_clean[1:]} {row.question_clean}" for clause in clauses
        )
        assert min(asked, 3) == row.label + 1, row.question_clean
        assert (row.noise == NONE) is (row.question == row.question_clean), row
    assert rows == training_set(facts, N, seed=1) != training_set(facts, N, seed=2)


@pytest.mark.parametrize(("noise", "n"), [*product(["paper", "independent"], [N, 97, 30])])
def test_shares_of_noise_are_exact_up_to_rounding(facts: list[Fact], noise: Noise, n: int) -> None:
    rows = training_set(facts, n, seed=2, noise=noise)
    counts = Counter(row.noise for row in rows)
    sizes = Counter(row.label for row in rows)
    assert len(rows) == n
    for kind, share in SHARES.items():
        assert counts[kind] == round(share * n)
    for kind, (label, share) in TARGETED.items():
        assert counts[kind] == round(share * sizes[label])


def test_the_papers_noise_tells_the_label_and_the_independent_does_not(facts: list[Fact]) -> None:
    paper = training_set(facts, N, seed=3, noise="paper")
    for kind, (label, _) in TARGETED.items():
        assert {row.label for row in paper if row.noise == kind} == {label}
    independent = training_set(facts, N, seed=3, noise="independent")
    for kind in (*SHARES, *TARGETED, NONE):
        own = Counter(row.label for row in independent if row.noise == kind)
        assert max(own.values()) - min(own.values()) <= 2


def test_too_few_facts_and_no_number_are_refused(facts: list[Fact]) -> None:
    with pytest.raises(InputError, match="n is 0"):
        training_set(facts, 0, seed=1)
    with pytest.raises(CorpusError, match="label 0"):
        training_set([], 9, seed=1)
    # three facts, alone or two or three of them in any order, in seven wordings
    assert 60 < len(training_set(facts[:3], 10**6, seed=1)) <= (3 + 6 + 6) * 7


@given(text=st.text(min_size=1, max_size=60), seed=st.integers(0, 50))
def test_noise_takes_any_text(text: str, seed: int) -> None:
    for noise in NOISES.values():
        assert isinstance(noise(text, Random(seed)), str)
