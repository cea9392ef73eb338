"""A text written elsewhere, by a person or an agent, checked against the documents."""

import time
from pathlib import Path
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime

from lexloop.apps.library import chosen_settings
from lexloop.core.conversation import message_text
from lexloop.core.metadata import Filters
from lexloop.core.running import Deadline, computed, within
from lexloop.core.settings import Settings
from lexloop.graph.app import resources
from lexloop.graph.resources import Resources
from lexloop.nodes.checking import WRONG, Checked, check_text

_MOST_TOLD = 10
_SENT_BACK = """Your reply was checked against the documents, and this does not hold:
{problems}
Correct it by what the documents say, and reply again in full."""


def check(text: str, corpus: str | Path | None = None, **settings: Any) -> Checked:
    """Check a text against documents: its quotes, the provisions that it names, and its facts.

    Args:
        text: Written elsewhere, by a person or a model.
        corpus: A folder, a file, an index, or ``sample``; None for the one that is configured.
        settings: See ``ask``; ``deadline_s`` is for the whole text.

    Returns:
        Each sentence with what of it could be checked, and the number of points that are wrong.
        Whether other words mean the same is left to a reader.

    Raises:
        LexloopError: A setting or the documents cannot be used, or the deadline passed.
    """
    return checked_by(chosen_settings(corpus, settings), text, resources)


def checked_by(settings: Settings, text: str, resources: Resources) -> Checked:
    """Check a text against the documents that the settings name; see ``check``."""
    collection, _ = resources.collection(settings)
    view = collection.seen_by(Filters.of(settings))
    allowed_s = settings.deadline_s
    with within(Deadline(time.monotonic() + allowed_s, allowed_s)):
        return check_text(text, view)


def problems(checked: Checked) -> list[str]:
    """Return what is wrong, one line each."""
    found = [p for sentence in checked["sentences"] for p in sentence["points"]]
    return [_line(point) for point in found if point["status"] in WRONG]


def _line(point: Any) -> str:
    source = point["source"]
    where = f" ({source['document']}, {source['section']}: {source['quote']})" if source else ""
    return f"“{point['said']}”: {point['why']}{where}"


class CitationGuard(AgentMiddleware[AgentState[Any], Any]):
    """A middleware of ``create_agent`` that checks an agent's reply against the documents.

    A reply with wrong points goes back to the model once, with what the documents say. If points
    are still wrong then, they are in the message's ``response_metadata`` as ``unverified``.

    Args:
        corpus: See ``check``.
        settings: See ``check``.
    """

    def __init__(self, corpus: str | Path | None = None, **settings: Any) -> None:
        super().__init__()
        self._settings = chosen_settings(corpus, settings)

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Check the reply, unless it calls tools."""
        reply = state["messages"][-1]
        if not isinstance(reply, AIMessage) or reply.tool_calls:
            return None
        wrong = problems(checked_by(self._settings, message_text(reply), resources))
        if not wrong:
            return None
        told = "\n".join(f"- {line}" for line in wrong[:_MOST_TOLD])
        before = state["messages"][-2] if len(state["messages"]) > 1 else None
        if before is None or before.name != self.name:
            sent_back = HumanMessage(_SENT_BACK.format(problems=told), name=self.name)
            return {"messages": [sent_back], "jump_to": "model"}
        marked = {**reply.response_metadata, "unverified": wrong}
        return {"messages": [reply.model_copy(update={"response_metadata": marked})]}

    @hook_config(can_jump_to=["model"])
    async def aafter_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """Check the reply without blocking the event loop; see ``after_model``."""
        return await computed(self.after_model, state, runtime)
