"""engineer_prompt: advice for the next attempt, by the score that was lowest."""

from collections.abc import Iterator

from langgraph.runtime import Runtime

from lexloop.core.state import State, Update
from lexloop.core.types import Advice, Attempt, Evaluation, ParsedQuestion, Strategy
from lexloop.nodes.context import TRIAD, Context


async def engineer_prompt(state: State, runtime: Runtime[Context]) -> Update:
    """Write the advice and note it on the attempt that it answers."""
    attempts = state["attempts"]
    advice = await runtime.context.engineer.advise(state["meant"], attempts)
    noted: Attempt = {**attempts[-1], "advice": advice}
    return {"advice": advice, "attempts": [*attempts[:-1], noted]}


_GUIDANCE = {
    "answer_relevance": "Answer the question itself, part by part, and leave out the rest.",
    "context_relevance": "Use only passages that speak of what is asked.",
    "groundedness": "Stay with the words of the passages; leave out what they do not say.",
}


class RuleEngineer:
    """A prompt engineer by rules, without a model.

    ``guides`` is True where the writer of the answers heeds guidance, as a model does.
    """

    def __init__(self, guides: bool = True) -> None:
        self._guides = guides

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """Return advice by the likeliest strategy for the last attempt that was not yet tried."""
        left = self._left(asked, attempts)
        advice = advised(left[0] if left else "broaden", asked)
        if self._guides:
            advice["guidance"] = _GUIDANCE[weakest(attempts[-1]["evaluation"])]
        return advice

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Return whether guidance may help, or another reading of the question was not yet tried.

        Other passages alone mend as many answers as they harm (``benchmarks/loop.py --each``).
        """
        return self._guides or "reread" in self._left(asked, attempts)

    def _left(self, asked: ParsedQuestion, attempts: list[Attempt]) -> list[Strategy]:
        tried = {a["advice"]["strategy"] for a in attempts if "advice" in a}
        return [strategy for strategy in _suited(asked, attempts[-1]) if strategy not in tried]


def advised(strategy: Strategy, asked: ParsedQuestion) -> Advice:
    """Return the advice to follow a strategy, without guidance."""
    question = asked["bare"] if strategy == "reread" else asked["text"]
    return {"question": question, "queries": [], "guidance": "", "strategy": strategy}


def _suited(asked: ParsedQuestion, last: Attempt) -> Iterator[Strategy]:
    """Yield the strategies that may help after an attempt, the likeliest first."""
    missed = last["abstained"] or weakest(last["evaluation"]) == "context_relevance"
    if missed and asked["bare"] != asked["text"]:
        yield "reread"
    yield "whole"
    if any(passage.get("supporting") for passage in last["passages"]):
        yield "operative"
    yield "broaden"


def weakest(evaluation: Evaluation) -> str:
    """Return the name of the lowest score; groundedness where citations are unverified."""
    if not evaluation["citations_verified"]:
        return "groundedness"
    scores = {name: evaluation[name] for name in TRIAD}
    return min(TRIAD, key=lambda name: -1.0 if scores[name] is None else float(scores[name] or 0))
