"""The state of one question: a narrow input, a narrow output, and the working state between.

Only ``messages`` has a reducer that appends. A thread keeps its state between turns, and each turn
begins with ``fresh``, which replaces what the last turn left.
"""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from lexloop.core.errors import QuestionError
from lexloop.core.types import (
    Advice,
    Attempt,
    Candidate,
    Citation,
    Degradation,
    Draft,
    Evaluation,
    Finding,
    ParsedQuestion,
    Passage,
    Plan,
    Pointed,
    Reading,
    Reasoning,
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


class InputState(TypedDict, total=False):
    """The input: a question, or a conversation whose last human message is the question.

    A ``question`` goes before ``messages``. A parent graph that shares this key on a thread must
    clear it before it asks by message.
    """

    messages: Annotated[list[AnyMessage], added_messages]
    # ephemeral: a thread must not answer the question of an earlier turn that failed at once
    question: Annotated[str, EphemeralValue]


class OutputState(TypedDict, total=False):
    """The output."""

    messages: Annotated[list[AnyMessage], added_messages]
    answer: str
    abstained: bool
    warning: str
    read_as: list[Reading]
    citations: list[Citation]
    finding: Finding
    near: list[Citation]  # if there is no answer: the nearest passages
    evaluation: Evaluation
    passages: list[Passage]
    triplets: list[Triplet]
    attempts: list[Attempt]
    degraded: list[Degradation]
    usage: Usage
    structured_response: StructuredAnswer  # what a deep agent takes from its subagent


class State(InputState, OutputState, total=False):
    """The working state, in the order in which the nodes write it."""

    snapshot: str
    allowed_tags: list[str]
    turn_id: str
    seconds_left: float
    typed: str  # the question as typed; missing in threads of earlier versions
    asked: str  # the same, folded: what is read
    history: list[Turn]
    complexity: int
    probabilities: list[float]
    plan: Plan
    advice: Advice | None
    untranslated: str  # what is said of a question in a language that the documents do not have
    parsed: ParsedQuestion
    meant: ParsedQuestion  # as the first attempt parsed it: what every attempt answers
    pointed: Pointed | None
    candidates: list[Candidate]
    graph_candidates: list[Candidate]
    handed_on: dict[str, str]  # chunks, each with the chunk that hands on to it
    draft: Draft
    reasoning: list[Reasoning]  # not in the output: it may recite the instructions


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
        "advice": None,
        "untranslated": "",
        "pointed": None,
        "candidates": [],
        "graph_candidates": [],
        "reasoning": [],
    }


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

    collections: list[str]


Found = dict[str, State] | None


def _gathered(known: Found, new: Found) -> Found:
    return None if new is None else {**(known or {}), **new}


class AgentState(AgentOutput, State, total=False):
    """The working state of an agent over collections."""

    ways: dict[str, str]  # what each chosen collection is asked; "" for the whole question
    routed: list[str]  # the chosen collections; the others are asked if these abstain
    by_model: bool  # whether the model chooses
    reply: str  # to what needs no documents
    found: Annotated[Found, _gathered]  # what came of it in each


class AgentUpdate(AgentState, total=False):
    """The keys that a node of an agent writes."""
