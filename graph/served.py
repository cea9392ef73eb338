"""The graphs in ``langgraph.json``. Callers may choose settings, but not an engine.

The server signs in at engines with its own credentials. A caller who could name another engine
would receive them.

The server drops names from a context that the graph's schema does not have, so a misspelt
``corpus`` would be answered from the sample. It calls ``serve_graph`` and ``serve_agent`` for a
graph: the one that runs has no schema and refuses unknown settings; the one that is shown has
``Settings``.

``agent`` is over the collections of ``LEXLOOP_COLLECTIONS``, which names them as
``lexloop ask --collections`` does. Without it, the sample is the only one.
"""

import os
from typing import TYPE_CHECKING, Any

from lexloop.core.configuration import configured
from lexloop.core.errors import SettingsError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import resources
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.collections import named_collections
from lexloop.graph.resources import settings_of
from lexloop.nodes.context import Context
from lexloop.store.address import Address, is_address
from lexloop.store.engines import engines_for

if TYPE_CHECKING:
    from langgraph_sdk.runtime import ServerRuntime


def for_callers(brought: Any, snapshot: str | None = None) -> Context:
    """Return the context of a run, as ``Resources`` do.

    Raises:
        SettingsError: It names an engine that the server's credentials are not for.
        LexloopError: Settings, corpus, data or model cannot be used.
    """
    wanted, own = settings_of(brought, resources.defaults).corpus, resources.defaults.corpus
    if is_address(wanted) and engines_for(wanted).signs_in() and _nodes(wanted) != _nodes(own):
        raise SettingsError(
            f"The run asks {wanted}, which is not this server's engine.",
            "Leave corpus out, or have LEXLOOP_CORPUS of the server name an index there.",
        )
    return resources(brought, snapshot)


def _nodes(corpus: str) -> Any:
    """Return the nodes that receive credentials for a corpus, or None if it is not in an engine."""
    address = Address.parse(corpus) if is_address(corpus) else None
    return address and (address.hosts, address.tls)


graph = build_graph(for_callers)
_named = named_collections(os.environ.get("LEXLOOP_COLLECTIONS") or SAMPLE_CORPUS)
agent = build_agent_graph(
    {name: configured({"corpus": corpus}) for name, corpus in _named.items()}, resources
)


def serve_graph(runtime: "ServerRuntime[Any]") -> Lexloop:
    """Return the question graph for what the server does with it."""
    return _for(runtime, graph)


def serve_agent(runtime: "ServerRuntime[Any]") -> Lexloop:
    """Return the agent for what the server does with it."""
    return _for(runtime, agent)


def _for(runtime: "ServerRuntime[Any]", shown: Lexloop) -> Lexloop:
    return shown.copy({"context_schema": None}) if runtime.execution_runtime else shown
