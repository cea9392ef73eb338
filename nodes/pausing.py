"""Whether a run can be paused for a person and resumed."""

from langgraph.config import get_config

_CHECKPOINTER = "__pregel_checkpointer"
"""LangGraph's key in the configurable of all that runs in a graph with a checkpointer."""


def can_pause() -> bool:
    """Return whether the run that calls this, or a parent's around it, has a checkpointer."""
    return get_config().get("configurable", {}).get(_CHECKPOINTER) is not None
