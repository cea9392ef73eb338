"""The classifier's training set: labels, shares of noise, and whether noise tells the label."""

import csv
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from lexloop.core.errors import CorpusError, InputError
from lexloop.evaluation.testset.facts import read_facts
from lexloop.evaluation.testset.templates import Fact
from lexloop.evaluation.testset.training import (
    NOISES,
    NONE,
    SHARES,
    TARGETED,
    Noise,
    TrainingRow,
    training_set,
)
from lexloop.finetune.classifier import read
from lexloop.store.view import View

N = 300


@pytest.fixture(scope="module")
def facts(contract: View) -> list[Fact]:
    return read_facts(contract)


def chi_square(rows: Sequence[TrainingRow]) -> tuple[float, float]:
    """Of noise against label: the sum of (seen - expected)^2 / expected, and its p."""
    kinds, labels = (Counter(row.noise for row in rows), Counter(row.label for row in rows))
    seen = Counter((row.noise, row.label) for row in rows)
    statistic = 0.0
    for kind, label in product(kinds, labels):
        expected = kinds[kind] * labels[label] / len(rows)
        statistic += (seen[kind, label] - expected) ** 2 / expected
    freedom = (len(kinds) - 1) * (len(labels) - 1)
    return statistic, float(chi2.sf(statistic, freedom))


def test_labels_are_even_and_questions_differ(facts: list[Fact]) -> None:
    rows = training_set(facts, N, seed=1)
    assert Counter(row.label for row in rows) == {0: 100, 1: 100, 2: 100}
    assert len({row.question_clean for row in rows}) == N


def test_label_tells_how_many_things_are_asked(facts: list[Fact]) -> None:
    by_clean = {f.question: f.pieces for f in facts}
    for row in training_set(facts, N, seed=1):
        if row.question_clean in by_clean:
            assert row.label == min(by_clean[row.question_clean], 3) - 1


@pytest.mark.parametrize("noise", ["paper", "independent"])
@pytest.mark.parametrize("n", [N, 97, 30])
def test_shares_of_noise_are_exact_up_to_rounding(facts: list[Fact], noise: Noise, n: int) -> None:
    rows = training_set(facts, n, seed=2, noise=noise)
    counts = Counter(row.noise for row in rows)
    sizes = Counter(row.label for row in rows)
    assert len(rows) == n
    for kind, share in SHARES.items():
        assert counts[kind] == round(share * n)
    for kind, (label, share) in TARGETED.items():
        assert counts[kind] == round(share * sizes[label])


def test_the_papers_noise_tells_the_label(facts: list[Fact]) -> None:
    rows = training_set(facts, N, seed=3, noise="paper")
    for kind, (label, share) in TARGETED.items():
        assert {row.label for row in rows if row.noise == kind} == {label}
        assert sum(row.noise == kind for row in rows) == round(share * 100)
    statistic, p = chi_square(rows)
    # 25 verbose rows, all of label 0 where 25/3 are expected, give 50, and so do the 25 short
    # ones; what the 130 rows without noise have too many of label 1 adds to it
    assert statistic > 100
    assert p < 1e-12


def test_independent_noise_does_not_tell_the_label(facts: list[Fact]) -> None:
    rows = training_set(facts, N, seed=3, noise="independent")
    statistic, p = chi_square(rows)
    assert statistic < 1.0
    assert p > 0.99
    for kind in (*SHARES, *TARGETED, NONE):
        own = Counter(row.label for row in rows if row.noise == kind)
        assert max(own.values()) - min(own.values()) <= 2


def test_only_noised_questions_differ_from_their_clean_selves(facts: list[Fact]) -> None:
    for row in training_set(facts, N, seed=4):
        assert (row.noise == NONE) <= (row.question == row.question_clean)
        if row.noise != NONE:
            assert row.question != row.question_clean, row


def test_a_seed_gives_the_same_rows(facts: list[Fact]) -> None:
    assert training_set(facts, 60, seed=5) == training_set(facts, 60, seed=5)
    assert training_set(facts, 60, seed=5) != training_set(facts, 60, seed=6)


def test_too_few_facts_and_no_number_are_refused(facts: list[Fact]) -> None:
    with pytest.raises(InputError, match="n is 0"):
        training_set(facts, 0, seed=1)
    with pytest.raises(CorpusError, match="label 0"):
        training_set([], 9, seed=1)
    assert len(training_set(facts[:3], 10**6, seed=1)) < 100


@given(text=st.text(min_size=1, max_size=60), seed=st.integers(0, 50))
def test_noise_takes_any_text(text: str, seed: int) -> None:
    for noise in NOISES.values():
        assert isinstance(noise(text, Random(seed)), str)


def test_noise_keeps_what_it_should() -> None:
    text = "Under what conditions may the owner of the boat leave the basin?"
    for seed in range(20):
        assert sorted(NOISES["reordered"](text, Random(seed)).split()) == sorted(text.split())
        assert len(NOISES["words and punctuation"](text, Random(seed))) > len(text) + 1
        assert len(NOISES["verbose"](text, Random(seed)).split()) > len(text.split()) + 8
        assert len(NOISES["shortened"](text, Random(seed)).split()) < len(text.split())
        assert len(NOISES["vague"](text, Random(seed)).split()) < len(text.split())
        wrong = NOISES["misspelt"](text, Random(seed)).split()
        assert 1 <= sum(a != b for a, b in zip(wrong, text.split(), strict=True)) <= 2


def test_a_training_set_is_read_by_the_classifier(facts: list[Fact], tmp_path: Path) -> None:
    rows = training_set(facts, 30, seed=1)
    path = tmp_path / "train.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["question", "label", "question_clean", "noise"])
        table.writerows([row.question, row.label, row.question_clean, row.noise] for row in rows)
    held = read(path)
    assert held.noisy == [row.question for row in rows]
    assert held.labels.tolist() == [row.label for row in rows]
