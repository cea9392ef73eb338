"""What a model may cost: its prices, the limit that a question or an index has, what it spent."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Self

from lexloop.core.errors import BudgetError
from lexloop.core.settings import Settings, no_price
from lexloop.core.settings_groups import Price
from lexloop.core.state import summed
from lexloop.core.types import Usage
from lexloop.models.request import ChatRequest

MILLION = 1_000_000
_CHARS_PER_TOKEN = 4
_EXPECTED_REPLY_TOKENS = 300


@dataclass(frozen=True)
class Budget:
    """The prices of a model, and the most that a question or a run may spend on it.

    Args:
        price: Its prices, or None if they are unknown.
        most: The maximum in US dollars, or None for no limit.

    Raises:
        SettingsError: There is a limit and no price.
    """

    price: Price | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if self.most is not None and self.price is None:
            raise no_price(self.most, None)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the budget of the settings' model. It is empty if they name no model."""
        return cls(settings.price, settings.max_cost) if settings.model.name else cls()

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float | None:
        """Return the cost in US dollars, or None if the prices are unknown.

        ``tokens_cached`` is the part of ``tokens_in`` that the host had cached.
        """
        if self.price is None:
            return None
        cached = self.price.input if self.price.cached is None else self.price.cached
        known = min(tokens_cached, tokens_in)
        prompts = (tokens_in - known) * self.price.input + known * cached
        return (prompts + tokens_out * self.price.output) / MILLION

    def priced(self, usage: Usage) -> Usage:
        """Return the usage with its cost in dollars, if the prices are known."""
        spent = usage["tokens_in"], usage["tokens_out"], usage.get("tokens_cached", 0)
        cost = self.cost(*spent)
        return usage if cost is None else {**usage, "cost_usd": round(cost, 9)}

    def check(self, spent: Usage, request: ChatRequest) -> None:
        """Refuse a request that would go beyond the limit.

        Raises:
            BudgetError: It would.
        """
        tokens_in, tokens_out = expected_tokens(request)
        tokens_in, tokens_out = spent["tokens_in"] + tokens_in, spent["tokens_out"] + tokens_out
        calls, cached = spent["model_calls"], spent.get("tokens_cached", 0)
        self.refuse_beyond(tokens_in, tokens_out, calls, cached)

    def refuse_beyond(
        self, tokens_in: int, tokens_out: int, calls: int, tokens_cached: int = 0
    ) -> None:
        """Refuse to have spent so many tokens; ``calls`` were made.

        Raises:
            BudgetError: They cost more than the limit.
        """
        cost = self.cost(tokens_in, tokens_out, tokens_cached)
        if self.most is not None and cost is not None and cost > self.most:
            raise BudgetError(
                f"The next of the model's calls would bring the cost to ${cost:.4f}, above the "
                f"limit of ${self.most:.4f}, after {calls} calls.",
                "Raise --max-cost and run again: what was extracted for an index is cached.",
            )


def expected_tokens(request: ChatRequest) -> tuple[int, int]:
    """Estimate the tokens of a prompt and of its reply."""
    return (
        len(request.system + request.user) // _CHARS_PER_TOKEN + 1,
        _EXPECTED_REPLY_TOKENS,
    )


def expected_usage(request: ChatRequest) -> Usage:
    """Estimate the cost of a call that is under way."""
    tokens_in, tokens_out = expected_tokens(request)
    return {"model_calls": 0, "tokens_in": tokens_in, "tokens_out": tokens_out, "seconds": 0.0}


@dataclass(frozen=True)
class _Purse:
    """What a whole question has spent on models, and the calls that are under way.

    Within an agent's node its collections spend from the same one, some at once.
    """

    spent: Usage
    underway: list[ChatRequest] = field(default_factory=list)

    @property
    def expected(self) -> Usage:
        """What is spent once the calls under way are done."""
        return summed(self.spent, *map(expected_usage, self.underway))


_purse: ContextVar[_Purse | None] = ContextVar("purse", default=None)


class Spending:
    """What one node spends on models, as a part of what its question may spend.

    Args:
        budget: The prices and the limit.
        before: What earlier nodes of the question spent.
    """

    def __init__(self, budget: Budget, before: Usage) -> None:
        self._budget, self._spent = budget, summed()
        self._purse = _purse.get() or _Purse(summed(before))

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Let all nodes that run inside spend from the same purse."""
        token = _purse.set(self._purse)
        try:
            yield
        finally:
            _purse.reset(token)

    @contextmanager
    def on(self, request: ChatRequest) -> Iterator[Usage]:
        """Give a request's call a usage to fill, which counts even if the call fails.

        Raises:
            BudgetError: The call would go beyond the limit.
        """
        self._budget.check(self._purse.expected, request)
        call = summed()
        self._purse.underway.append(request)
        try:
            yield call
        finally:
            self._purse.underway.remove(request)
            for spent in (self._spent, self._purse.spent):
                spent.update(summed(spent, call))

    def added_to(self, usage: Usage) -> Usage:
        """Return a usage with what the node spent, priced if the prices are known."""
        return self._budget.priced(summed(usage, self._spent))
