"""The state of one question: a narrow input, a narrow output, and the working state between.

Only ``messages`` has a reducer that appends. A thread keeps its state between turns, and each turn
begins with ``fresh``, which replaces what the last turn left.
"""

from collections.abc import Mapping
from typing import Annotated, Any, cast

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from lexloop.core.errors import QuestionError, SettingsError
from lexloop.core.packed import Packed
from lexloop.core.types import (
    Advice,
    Attempt,
    Best,
    Citation,
    Degradation,
    Draft,
    Evaluation,
    Finding,
    OpenTurn,
    ParsedQuestion,
    Passage,
    Plan,
    Reading,
    Reasoning,
    Scored,
    StructuredAnswer,
    Triplet,
    Turn,
    Usage,
)

_MOST_SAID = 200


def added_messages(known: Any, new: Any) -> Any:
    """Return LangGraph's ``add_messages``, with its errors as a QuestionError.

    Raises:
        QuestionError: A value cannot be read as a message.
    """
    try:
        return add_messages(known, new)
    except (ValueError, TypeError, NotImplementedError) as error:
        message = str(error).partition("\n")[0][:_MOST_SAID]
        raise QuestionError(
            f"The messages cannot be read: {message}.",
            "Give messages with a role and a content.",
        ) from error


def about(description: str) -> Any:
    """Return what Studio and schemas say of a key."""
    return Field(description=description)


def whole_plan(known: Plan | None, new: Mapping[str, int]) -> Plan:
    """Return a plan changed by some of its numbers, as whoever forks a thread may give it.

    Raises:
        SettingsError: There is no such number, or it is none.
    """
    plan = {"k": 0, "Q": 0, "K": 0, "S": 0, **cast("dict[str, int]", known or {})}
    for name, number in new.items():
        if name not in plan or not isinstance(number, int) or number < 0:
            raise SettingsError(
                f"The plan has {name!r}: {number!r}.",
                f"Give whole numbers from 0 for {', '.join(plan)}.",
            )
    return cast("Plan", {**plan, **new})


def merged(known: OpenTurn | None, new: OpenTurn) -> OpenTurn:
    """Return what is known of a turn with what is new of it; nothing of an earlier turn.

    Raises:
        SettingsError: Whoever forks a thread gives something else.
    """
    names = OpenTurn.__annotations__
    left_s = new.get("seconds_left", 0.0) if isinstance(new, Mapping) else None
    if not isinstance(left_s, int | float) or new.keys() - names.keys():
        raise SettingsError(
            f"The turn is {str(new)[:_MOST_SAID]!r}.",
            f"Give some of {', '.join(names)}; seconds_left is a number.",
        )
    known = known or {}
    begins = new.get("id", known.get("id")) != known.get("id")
    return {**({} if begins else known), **new}


class InputState(TypedDict, total=False):
    """The input: a question, or a conversation whose last human message is the question.

    A ``question`` goes before ``messages``. A parent graph that shares this key on a thread must
    clear it before it asks by message.
    """

    messages: Annotated[
        list[AnyMessage], about("The conversation, and each answer."), added_messages
    ]
    # ephemeral: a thread must not answer the question of an earlier turn that failed at once
    question: Annotated[str, about("The question, if not the last human message."), EphemeralValue]


class OutputState(TypedDict, total=False):
    """The output."""

    messages: Annotated[
        list[AnyMessage], about("The conversation, and each answer."), added_messages
    ]
    answer: Annotated[str, about("The answer with its [n] markers, or the abstention.")]
    abstained: Annotated[bool, about("Whether the documents do not answer.")]
    warning: Annotated[str, about("What to mind about the answer; empty if it passed.")]
    read_as: Annotated[list[Reading], about("What of the question was read otherwise than typed.")]
    citations: Annotated[list[Citation], about("The sources of the answer, by number.")]
    finding: Annotated[Finding, about("The outcome in a word.")]
    near: Annotated[list[Citation], about("The nearest passages, if there is no answer.")]
    evaluation: Annotated[Evaluation, about("The verdict on the answer, with its scores.")]
    passages: Annotated[
        list[Passage], about("The passages that the answer is written from."), Packed
    ]
    triplets: Annotated[
        list[Triplet], about("The relations between provisions that were found."), Packed
    ]
    attempts: Annotated[list[Attempt], about("Each attempt with its verdict."), Packed]
    degraded: Annotated[list[Degradation], about("What had to be done without.")]
    usage: Annotated[Usage, about("Model calls, tokens and seconds so far.")]
    # not in checkpoints, which hold what it is made of
    structured_response: Annotated[
        StructuredAnswer,
        about("The answer with its sources, as a deep agent takes it."),
        UntrackedValue,
    ]


class State(InputState, OutputState, total=False):
    """The working state, in the order in which the nodes write it."""

    turn: Annotated[
        OpenTurn, about("The turn's name, time, access tags, and what a person said."), merged
    ]
    asked: Annotated[str, about("The question as it is read.")]
    history: Annotated[list[Turn], about("The turns before the question.")]
    complexity: Annotated[int, about("The class of the question, from 0.")]
    plan: Annotated[Plan, about("Passages k, queries Q, keywords K, path length S."), whole_plan]
    parsed: Annotated[ParsedQuestion, about("The question of this attempt, and its queries.")]
    meant: Annotated[ParsedQuestion, about("The same of the first attempt: what is answered.")]
    candidates: Annotated[list[Scored], about("What the search found, fused."), Packed]
    graph_candidates: Annotated[list[Scored], about("What the knowledge graph added."), Packed]
    draft: Annotated[Draft, about("The answer of this attempt before its verdict.")]
    best: Annotated[Best | None, about("The best attempt so far, while another is made."), Packed]
    # not in the output: it may recite the instructions
    reasoning: Annotated[list[Reasoning], about("What models thought.")]


class Update(State, total=False):
    """The keys that a node writes."""


def fresh() -> Update:
    """Return the keys of a turn that its nodes read or add to, as they are before any of them."""
    return {
        "answer": "",
        "abstained": False,
        "warning": "",
        "read_as": [],
        "citations": [],
        "near": [],
        "passages": [],
        "triplets": [],
        "attempts": [],
        "degraded": [],
        "usage": summed(),
        "candidates": [],
        "graph_candidates": [],
        "reasoning": [],
    }


def advice_of(state: State) -> Advice | None:
    """Return what this attempt is to do otherwise; None for a first attempt."""
    attempts = state.get("attempts")
    return attempts[-1].get("advice") if attempts else None


def summed(*costs: Usage) -> Usage:
    """Return what several runs cost together; nothing without any."""
    whole: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
    for cost in costs:
        whole["model_calls"] += cost["model_calls"]
        whole["tokens_in"] += cost["tokens_in"]
        whole["tokens_out"] += cost["tokens_out"]
        whole["seconds"] += cost["seconds"]
        if "tokens_cached" in cost:
            whole["tokens_cached"] = whole.get("tokens_cached", 0) + cost["tokens_cached"]
        if "cost_usd" in cost:
            whole["cost_usd"] = round(whole.get("cost_usd", 0.0) + cost["cost_usd"], 9)
    return whole


class AgentOutput(OutputState, total=False):
    """The output of an agent over collections; ``collections`` are those that were asked."""

    collections: Annotated[list[str], about("The collections that were asked.")]


Found = dict[str, State] | None


def _gathered(known: Found, new: Found) -> Found:
    return None if new is None else {**(known or {}), **new}


class AgentState(AgentOutput, State, total=False):
    """The working state of an agent over collections."""

    ways: Annotated[dict[str, str], about("What each is asked; empty for the whole question.")]
    routed: Annotated[list[str], about("Those chosen; the others are asked if these abstain.")]
    by_model: Annotated[bool, about("Whether a model chooses.")]
    reply: Annotated[str, about("The reply to what needs no documents.")]
    found: Annotated[Found, about("What came of the question in each."), _gathered]


class AgentUpdate(AgentState, total=False):
    """The keys that a node of an agent writes."""
