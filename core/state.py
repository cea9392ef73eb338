"""The state of one question: a narrow input, a narrow output, and the working state between.

No key has a reducer that appends except ``messages``: a thread keeps its state between turns, and
``classify`` starts each turn by resetting what the last one left.
"""

from typing import Annotated

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from lexloop.core.types import (
    Advice,
    Attempt,
    Candidate,
    Citation,
    Degradation,
    Evaluation,
    Passage,
    Plan,
    Reasoning,
    Triplet,
    Turn,
    Usage,
)


class InputState(TypedDict, total=False):
    """What a caller gives: a conversation whose last message is the question, or the question.

    A ``question`` goes before ``messages``. A parent graph that shares this key on a thread must
    clear it before it asks by message.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    # ephemeral: a thread must not answer the question of an earlier turn that failed at once
    question: Annotated[str, EphemeralValue]


class OutputState(TypedDict, total=False):
    """What a caller gets."""

    messages: Annotated[list[AnyMessage], add_messages]
    answer: str
    abstained: bool
    warning: str
    citations: list[Citation]
    evaluation: Evaluation
    passages: list[Passage]
    triplets: list[Triplet]
    attempts: list[Attempt]
    degraded: list[Degradation]
    usage: Usage


class State(InputState, OutputState, total=False):
    """The working state, in the order in which the nodes write it."""

    snapshot: str
    allowed_tags: list[str]
    turn_id: str
    seconds_left: float
    asked: str
    history: list[Turn]
    complexity: int
    probabilities: list[float]
    plan: Plan
    advice: Advice | None
    standalone: str
    queries: list[str]
    keywords: list[str]
    candidates: list[Candidate]
    graph_candidates: list[Candidate]
    draft: str
    draft_citations: list[Citation]
    draft_abstained: bool
    reasoning: list[Reasoning]  # not in the output: it may recite the instructions


class Update(State, total=False):
    """What a node returns: the keys it writes."""
