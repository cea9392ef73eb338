"""What answers cost, and what the loop gained."""

import pytest
from run_records import attempt, record

from lexloop.evaluation.metrics.cost import chosen, cost, loop_account
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.statistics import Estimate


def test_cost_by_hand() -> None:
    spent = cost(
        [
            record(model_calls=3, tokens_in=100, tokens_out=10, attempts=[attempt(0.1)] * 3),
            record(model_calls=1, tokens_in=50, context_tokens=8, attempts=[attempt(0.9)]),
            record(error="the model was silent"),
        ]
    )
    assert (spent["questions"], spent["model_calls"], spent["tokens_in"]) == (3, 4, 150)
    assert (spent["tokens_out"], spent["context_tokens"], spent["retries"]) == (10, 8, 2)
    assert spent["tokens_in_mean"] == 50.0
    assert spent["retries_mean"] == pytest.approx(2 / 3)


def test_the_answer_is_the_best_attempt() -> None:
    low, high, passed = attempt(0.2), attempt(0.6), attempt(0.5, passed=True)
    assert chosen([low, high, attempt(None)]) is high
    assert chosen([high, passed]) is passed
    assert chosen([low, attempt(0.2)]) is low
    assert chosen([attempt(0.9, verified=False), low]) is low
    silent = attempt(None, abstained=True)
    assert chosen([silent, high]) is silent
    assert chosen([high, silent]) is high


def test_the_account_by_hand() -> None:
    better = [
        attempt(0.2, correctness=2.0, model_calls=1, tokens=40),
        attempt(0.8, correctness=4.0, passed=True, model_calls=4, tokens=90),
    ]
    worse = [
        attempt(0.1, correctness=5.0, model_calls=2),
        attempt(0.3, correctness=4.0, model_calls=5),
        attempt(0.2, model_calls=8),
    ]
    account = loop_account(
        [
            record(attempts=better, model_calls=4, tokens_in=80, tokens_out=20),
            record(attempts=worse, model_calls=9),
            record(attempts=[attempt(0.9, correctness=5.0, passed=True)], model_calls=2),
            record(error="the model was silent"),
        ]
    )
    assert (account["questions"], account["retried"], account["retries"]) == (3, 2, 3)
    assert (account["passed_first"], account["passed_finally"]) == (1, 2)
    assert (account["improved"], account["worsened"]) == (1, 1)
    assert isinstance(account["correctness_gain"], Estimate)
    assert isinstance(account["lowest_gain"], Estimate)
    assert account["correctness_gain"].mean == pytest.approx((2 - 1) / 2)
    assert account["lowest_gain"].mean == pytest.approx((0.6 + 0.2) / 2)
    assert (account["model_calls"], account["tokens"]) == (3 + 6, 50)


def test_an_account_of_nothing() -> None:
    for records in ([], [record()], [record(attempts=[attempt(0.9)])]):
        account = loop_account(records)
        assert account["retried"] == account["retries"] == 0
        assert isinstance(account["correctness_gain"], Unresolved)
        assert isinstance(account["correctness_p"], Unresolved)
        assert account["model_calls"] == 0
