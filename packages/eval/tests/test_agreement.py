"""Agreement of labels: by hand, as scikit-learn has it, and its laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support

from lexloop_eval.agreement import FIGURES, Judged, Labels, agreement, by_type
from lexloop_eval.score import Unresolved, is_resolved
from lexloop_eval.statistics import Estimate

kappa, weighted_kappa = FIGURES["kappa"], FIGURES["weighted_kappa"]
GRADES = st.integers(1, 5)
PAIRS = st.lists(st.tuples(GRADES, GRADES), min_size=1, max_size=30)
SCALE = [1, 2, 3, 4, 5]


def test_figures_by_hand() -> None:
    # of 25 the judge calls supported people do 20, of 25 others 10: 0.7 agree, 0.5 by chance
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert {name: figure(pairs) for name, figure in FIGURES.items()} == pytest.approx(
        {
            "precision": (20 / 25 + 15 / 25) / 2,
            "recall": (20 / 30 + 15 / 20) / 2,
            "f1": (40 / 55 + 30 / 45) / 2,
            "agreement": 0.7,
            "kappa": 0.4,
            "weighted_kappa": 0.4,
        }
    )


def test_a_grade_further_off_weighs_by_its_square() -> None:
    # squares of 0, 2, 0 and 2: 8 in all; of every grade with every other 54, by four 13.5
    assert weighted_kappa([(1, 1), (5, 3), (3, 3), (2, 4)]) == pytest.approx(1 - 8 / 13.5)


@given(PAIRS)
def test_figures_are_those_of_scikit_learn(pairs: list[Labels]) -> None:
    judge, people = zip(*pairs, strict=True)
    macro = precision_recall_fscore_support(people, judge, average="macro", zero_division=0)
    result = [FIGURES[name](pairs) for name in ("precision", "recall", "f1")]
    assert result == pytest.approx(list(macro[:3]))
    if is_resolved(kappa(pairs)):
        assert kappa(pairs) == pytest.approx(cohen_kappa_score(judge, people))
        theirs = cohen_kappa_score(judge, people, labels=SCALE, weights="quadratic")
        assert weighted_kappa(pairs) == pytest.approx(theirs)


@given(st.lists(GRADES, min_size=2, max_size=30).filter(lambda labels: len(set(labels)) > 1))
def test_kappa_of_equal_labels_is_one(labels: list[int]) -> None:
    pairs = [(label, label) for label in labels]
    assert kappa(pairs) == weighted_kappa(pairs) == 1.0


@given(PAIRS)
def test_kappa_does_not_ask_who_is_first(pairs: list[Labels]) -> None:
    turned = [(other, first) for first, other in pairs]
    for figure in (kappa, weighted_kappa):
        first, other = figure(pairs), figure(turned)
        assert first == other or first == pytest.approx(other, abs=1e-12)


def test_what_cannot_be_known_is_unresolved() -> None:
    assert kappa([(3, 3), (3, 3)]) == Unresolved("only one label occurs")
    assert {figure([]) for figure in FIGURES.values()} == {Unresolved("no answer has both labels")}
    nothing = agreement([])
    assert nothing.answers == 0
    assert all(isinstance(estimated, Unresolved) for estimated in nothing.figures.values())
    assert isinstance(nothing.p, Unresolved)
    assert isinstance(nothing.p_difference, Unresolved)


def test_every_persons_label_counts_and_their_mean_is_correlated() -> None:
    rows = [
        Judged("a", "simple", 4.6, 5, (5, 4)),
        Judged("b", "simple", 2.0, 2, (2, 2)),
        Judged("c", "vague", 3.2, 3, (1, 2)),
        Judged("d", "vague", 4.4, 4, (4, 5)),
    ]
    result = agreement(rows)
    means = {
        name: estimated.mean
        for name, estimated in result.figures.items()
        if isinstance(estimated, Estimate)
    }
    assert result.answers == 4
    assert means["agreement"] == 4 / 8
    # ranks 4, 1, 2, 3 and 3.5, 2, 1, 3.5: covariance 3.5, variances 5 and 4.5
    assert means["spearman"] == pytest.approx(3.5 / math.sqrt(5 * 4.5))
    assert means["difference"] == pytest.approx((0.5 + 0 + 1.5 - 0.5) / 4)
    assert result.p == pytest.approx(0.2621352)
    # of the eight signs of 0.5, 1.5 and 0.5 six bring a sum of 1.5 or more
    assert result.p_difference == pytest.approx(0.75, abs=0.02)
    assert {name: estimated.answers for name, estimated in by_type(rows).items()} == {
        "simple": 2,
        "vague": 2,
    }


def test_whole_questions_are_resampled() -> None:
    rows = [Judged(q, "", float(q), q, (q if right else 1 - q,))
            for q, right in ((0, True), (1, False)) for _ in range(10)]  # fmt: skip
    result = agreement(rows).figures["agreement"]
    assert isinstance(result, Estimate)
    assert (result.low, result.mean, result.high) == (0.0, 0.5, 1.0)
