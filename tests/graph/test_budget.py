"""What a question costs in dollars, and where a limit ends it."""

import pytest
from asked import Modelled, Scores
from fake_openai import FakeOpenAI
from hypothesis import given
from hypothesis import strategies as st
from statute import QUESTION

from lexloop.core.errors import BudgetError, SettingsError
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Price
from lexloop.core.state import summed
from lexloop.core.types import Usage
from lexloop.graph.budget import Budget
from lexloop.models.request import ChatRequest

PRICED = {"prices": {"openai:scripted": {"input": 1_000_000.0, "output": 0.0}}}
"""A dollar a token of a prompt, of which the server reports 11 a call."""


def usage(tokens_in: int, tokens_out: int, cached: int = 0) -> Usage:
    return {**summed(), "tokens_in": tokens_in, "tokens_out": tokens_out, "tokens_cached": cached}


def test_cost_by_hand() -> None:
    price = Price(input=2.0, output=8.0, cached=0.5)
    # 600,000 at 2 and 400,000 at 0.5 dollars a million, and 250,000 at 8
    assert Budget(price).cost(1_000_000, 250_000, 400_000) == pytest.approx(1.2 + 0.2 + 2.0)
    assert Budget(Price(input=2.0, output=8.0)).cost(1_000_000, 0, 400_000) == 2.0
    assert Budget().cost(1_000_000, 0) is None
    assert "cost_usd" not in Budget().priced(usage(5, 5))


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_parts_cost_the_whole_and_a_cache_less(
    tokens_in: int, tokens_out: int, cached: int
) -> None:
    budget = Budget(Price(input=2.0, output=8.0, cached=0.5))
    dear, cheap = budget.cost(tokens_in, tokens_out), budget.cost(tokens_in, tokens_out, cached)
    assert dear is not None
    assert cheap is not None
    assert 0 <= cheap <= dear
    parts = [budget.priced(usage(tokens_in, 0)), budget.priced(usage(0, tokens_out))]
    assert summed(*parts)["cost_usd"] == pytest.approx(dear, abs=1e-6)


def test_a_request_is_refused_before_it_is_made() -> None:
    budget = Budget(Price(input=1_000_000.0, output=0.0), most=10.0)
    request = ChatRequest("generate", "a" * 20, "b" * 20)  # some 11 tokens
    with pytest.raises(BudgetError, match=r"\$11\.0000, above the limit of \$10\.0000"):
        budget.check(summed(), request)
    budget.check(summed(), ChatRequest("generate", "a" * 8, "b" * 8))


def test_a_limit_needs_prices() -> None:
    with pytest.raises(SettingsError, match=r"\[prices\.\"openai:m\"\]"):
        Settings(model="openai:m", max_cost=1.0)
    with pytest.raises(SettingsError, match="prices of openai:m are not known"):
        Settings(model="openai:m", max_cost=1.0, prices={"openai:other": Price(input=1, output=1)})
    assert Settings(max_cost=1.0).price is None  # nothing is asked
    for wrong in ({"input": -1, "output": 1}, {"input": 1}, {"input": float("nan"), "output": 1}):
        with pytest.raises(SettingsError):
            Settings(prices={"openai:m": wrong})


def test_the_cost_is_told_if_prices_are_known(scripted: FakeOpenAI, modelled: Modelled) -> None:
    result = modelled(**PRICED).invoke({"question": QUESTION})
    assert result["usage"]["tokens_in"] == 33
    assert result["usage"]["cost_usd"] == 33.0
    assert "cost_usd" not in modelled().invoke({"question": QUESTION})["usage"]


@pytest.mark.parametrize(("calls", "lacks"), [(2, "a verdict"), (3, "another attempt")])
def test_a_limit_ends_a_question_with_the_best_attempt_and_says_so(
    scripted: FakeOpenAI, modelled: Modelled, scores: Scores, calls: int, lacks: str
) -> None:
    """A dollar a token of a reply: 300 are expected, and 7 are counted of each that was made."""
    scripted.play("evaluate", scores(0.1, 0.9, 0.9))
    most = 300.0 + 7 * (calls - 1)
    prices = {"openai:scripted": {"input": 0.0, "output": 1_000_000.0}}
    result = modelled(prices=prices, max_cost=most).invoke({"question": QUESTION})
    assert len(scripted.requests) == calls
    assert result["answer"].startswith("It is due within 10 business days [1].")
    [lost] = result["degraded"]
    assert (lost["wanted"], lost["used"]) == (lacks, "the best attempt so far")
    assert f"limit of ${most:.4f}" in lost["reason"]
    assert "limit" in result["warning"]


def test_a_limit_below_the_first_call_is_an_error(scripted: FakeOpenAI, modelled: Modelled) -> None:
    with pytest.raises(BudgetError, match="after 0 calls"):
        modelled(**PRICED, max_cost=1.0).invoke({"question": QUESTION})
    assert scripted.requests == []
