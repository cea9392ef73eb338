"""The graphs that ``langgraph.json`` names: their callers choose settings, but nobody's engine.

The server signs in at engines with credentials of its own; a caller who could name another engine
would be sent them.

``agent`` is over the collections of ``LEXLOOP_COLLECTIONS``, which names them as
``lexloop ask --collections`` does; without it there is the sample alone.
"""

import os
from typing import Any

from lexloop.core.configuration import configured
from lexloop.core.errors import SettingsError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import resources
from lexloop.graph.build import build_graph
from lexloop.graph.collections import named_collections
from lexloop.graph.resources import settings_of
from lexloop.nodes.context import Context
from lexloop.store.engine.address import Address, is_address
from lexloop.store.engine.client import credentials_in


def for_callers(brought: Any, snapshot: str | None = None) -> Context:
    """Return the context of a run, as ``Resources`` do.

    Raises:
        SettingsError: It names an engine that the server's credentials are not for.
        LexloopError: Settings, corpus, data or model cannot be used.
    """
    wanted, own = settings_of(brought, resources.defaults).corpus, resources.defaults.corpus
    if is_address(wanted) and credentials_in(os.environ) and _nodes(wanted) != _nodes(own):
        raise SettingsError(
            f"The run asks {wanted}, which is not this server's engine.",
            "Leave corpus out, or have LEXLOOP_CORPUS of the server name an index there.",
        )
    return resources(brought, snapshot)


def _nodes(corpus: str) -> Any:
    """Return where credentials go for a corpus; None where it is in no engine."""
    address = Address.parse(corpus) if is_address(corpus) else None
    return address and (address.hosts, address.tls)


graph = build_graph(for_callers)
_named = named_collections(os.environ.get("LEXLOOP_COLLECTIONS") or SAMPLE_CORPUS)
agent = build_agent_graph(
    {name: configured({"corpus": corpus}) for name, corpus in _named.items()}, resources
)
