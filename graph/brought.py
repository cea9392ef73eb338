"""The settings that a run brings: read in its context, refused in every other place.

A name that nothing reads would have the question answered from other documents than were meant,
without a word.
"""

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings, every_name, slip_of
from lexloop.core.state import State
from lexloop.graph.node import CONTEXT_KEY
from lexloop.nodes.context import Context

_IN_A_NODE = "__pregel_read"
"""Is in the configurable of all that LangGraph runs inside a node of this process."""
_BY_A_NODE = "langgraph_node"
"""Is in the metadata of what a node runs, in this process or by ``RemoteGraph`` in another."""
_SERVED = "assistant_id"
"""Is in the configurable of a server, which makes a context of what its caller writes there."""
_OF_LANGGRAPH = {
    *("thread_id", "run_id", "assistant_id", "graph_id", "user_id", "cron_id"),
    *("checkpoint_id", "checkpoint_ns", "checkpoint_map"),
}
"""Names that LangGraph's server and clients add to those of a caller."""


def laid_over(context: Any, given: Any, config: RunnableConfig | None) -> Any:
    """Return a run's context so that settings in it change those of a run without any.

    LangGraph makes ``Settings`` of a mapping, and its server brings an empty one for none: what
    files and the environment set would be lost.

    Args:
        context: The run's.
        given: Its input.
        config: Its configuration.

    Raises:
        SettingsError: The context holds no settings, or the input or the configurable does.
    """
    whole = ensure_config(config)
    configurable, metadata = whole.get("configurable") or {}, whole.get("metadata") or {}
    nested = _IN_A_NODE in configurable
    if isinstance(context, Mapping):
        names = {*_not_langgraphs(context)}
        if _BY_A_NODE in metadata and not nested:
            # a parent's RemoteGraph passes the parent's whole configurable on
            names = {name for name in names if slip_of(name, every_name())}
        settings = {name: context[name] for name in context if name in names}
        context = SimpleNamespace(**{CONTEXT_KEY: settings}) if settings else None
    elif not (isinstance(context, Settings | Context | None) or hasattr(context, CONTEXT_KEY)):
        raise SettingsError(
            f"The context is a {type(context).__name__}, not settings.",
            "Pass Settings or a mapping of settings.",
        )
    if not nested:
        _refuse_settings(given if isinstance(given, Mapping) else (), "the input")
        if context is None and _SERVED not in configurable:
            _refuse_settings(configurable, "config['configurable']")
    return context


def _not_langgraphs(names: Iterable[Any]) -> list[str]:
    prefixes = ("__", "langgraph_")
    named = map(str, names)
    return [name for name in named if name not in _OF_LANGGRAPH and not name.startswith(prefixes)]


def _refuse_settings(names: Iterable[Any], place: str) -> None:
    """Refuse settings, also misspelt ones, in a place where nothing reads them."""
    for name in _not_langgraphs(names):
        if name not in State.__annotations__ and (meant := slip_of(name, every_name())):
            raise SettingsError(
                f"{name!r} is in {place}, and settings are read in the context alone.",
                f"Pass {meant!r} in the context.",
            )
