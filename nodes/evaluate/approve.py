"""approve: a person sees the answer before it is returned, and may edit it or its passages."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage, RemoveMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from lexloop.core.errors import SettingsError
from lexloop.core.running import computed
from lexloop.core.state import State, Update
from lexloop.core.types import OpenTurn
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.node import as_left
from lexloop.nodes.pausing import can_pause

_SHOWN = ("answer", "citations", "evaluation", "warning", "passages")


async def approve(state: State, runtime: Runtime[Context]) -> Update:
    """Show the answer to a person before it is returned, and go on with it as they leave it.

    It is resumed with ``approve``, which is true or false; with ``answer``, whose citations are
    checked; or with ``passages``, from which another answer is written and shown. What is none of
    these is asked for again, with the ``problem``.

    Raises:
        SettingsError: There is no checkpointer.
    """
    if not can_pause():
        raise SettingsError(
            "A person is to approve the answer, and the graph has no checkpointer to wait with.",
            "Give build_graph, or the parent graph, a checkpointer.",
        )
    values: dict[str, Any] = {**state}
    shown = {"question": state["asked"], **{name: values[name] for name in _SHOWN}}
    said = interrupt(shown)
    while problem := _problem(said):
        said = interrupt({**shown, "problem": problem})
    changed: Update = {}
    told = next(one for one in reversed(state["messages"]) if isinstance(one, AIMessage))
    if "passages" in said:
        numbered: Any = [{**passage, "n": n} for n, passage in enumerate(said["passages"], 1)]
        changed = {"passages": numbered}
    if "answer" in said or said.get("approve") is False:
        answer = said.get("answer", "").strip()
        left = await computed(as_left, {**state, **changed}, runtime.context, answer)
        left["messages"][0].id = told.id  # so that it takes the place of that message
        return left
    if not changed:
        return {}
    left_s = runtime.context.settings.deadline_s
    turn: OpenTurn = {**state["turn"], "edited": True, "seconds_left": left_s}
    withdrawn: Any = [RemoveMessage(id=told.id or "")]
    return {**changed, "answer": "", "attempts": [], "turn": turn, "messages": withdrawn}


def _problem(said: Any) -> str:
    """Return what is wrong with a resume value, or "" if nothing is."""
    if not isinstance(said, Mapping) or not said.keys() & {"approve", "answer", "passages"}:
        return 'Resume with {"approve": true}, {"answer": "..."} or {"passages": [...]}.'
    if not isinstance(said.get("approve", True), bool):
        return "`approve` is neither true nor false."
    if not isinstance(said.get("answer", ""), str) or not said.get("answer", "-").strip():
        return "`answer` is no text, or empty."
    passages = said.get("passages", [])
    if not isinstance(passages, list) or not all(
        isinstance(one, Mapping) and {"id", "document", "text", "signals"} <= one.keys()
        for one in passages
    ):
        return "`passages` are not a list of those that were shown."
    return ""
