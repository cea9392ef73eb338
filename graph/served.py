"""The graphs in ``langgraph.json``. Callers may choose settings, but not an engine.

The server signs in at engines with its own credentials. A caller who could name another engine
would receive them. If the server has an ``Auth`` handler, a caller may ask only what it permits
the signed-in user.

The server drops names from a context that the graph's schema does not have, so a misspelt
``corpus`` would be answered from another one. It calls ``serve_graph`` and ``serve_agent`` for a
graph: the one that runs has no schema and refuses unknown settings; the one that is shown has
``Settings``.

``agent`` is over the collections of ``LEXLOOP_COLLECTIONS``, which names them as
``lexloop ask --collections`` does. Without it, its runs end in an error.
"""

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lexloop.core.configuration import configured, names_corpus
from lexloop.core.errors import SettingsError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import resources
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.collections import named_collections
from lexloop.graph.permit import Permit
from lexloop.graph.resources import settings_of
from lexloop.nodes.context import Context
from lexloop.store.address import Address, is_address
from lexloop.store.engines import engines_for

if TYPE_CHECKING:
    from langgraph_sdk.runtime import ServerRuntime

_AUTH = "LANGGRAPH_AUTH"
"""LangGraph's server sets this variable if its configuration has an ``Auth`` handler."""
_FOR_STUDIO = os.environ.get("LANGSMITH_LANGGRAPH_API_VARIANT") == "local_dev"
"""Whether ``langgraph dev`` serves the graphs, whose clients are Studio and developers: they know
what to do with a run that pauses. Other servers' clients need not."""
_UNNAMED = "(no corpus)"
"""The corpus of a run if neither it nor the server names one."""
_default = resources.defaults.corpus if names_corpus() else _UNNAMED
_listed = os.environ.get("LEXLOOP_COLLECTIONS")
_named = named_collections(_listed) if _listed else {SAMPLE_CORPUS: _UNNAMED}
_collections = {name: configured({"corpus": corpus}) for name, corpus in _named.items()}


class ForCallers:
    """The contexts of runs, as ``Resources`` make them, for callers whom nobody need trust.

    Args:
        permit: What the caller may ask; None if the server has nobody sign in.
    """

    def __init__(self, permit: Permit | None) -> None:
        self._permit = permit
        self.defaults = resources.defaults.changed(corpus=_default)
        if self.defaults.answer.ask_back is None:
            self.defaults = self.defaults.changed(**{"answer.ask_back": _FOR_STUDIO})
        if permit is not None:
            # the server's own tags are for those who do not sign in
            self.defaults = self.defaults.changed(**{"access.tags": ()})

    def __call__(self, brought: Any, snapshot: str | None = None) -> Context:
        """Return the context of a run.

        Raises:
            SettingsError: There is no corpus, or it is in an engine that the server's credentials
                are not for.
            AccessError: The caller does not have the corpus or a tag.
            LexloopError: Settings, corpus, data or model cannot be used.
        """
        settings = settings_of(brought, self.defaults)
        if settings.corpus == _UNNAMED:
            raise SettingsError(
                "The run names no corpus, and the server has none of its own.",
                "Pass corpus in the context, or set LEXLOOP_CORPUS for the server, and "
                "LEXLOOP_COLLECTIONS for the agent; `sample` is the bundled one.",
            )
        if self._permit is not None:
            settings = self._permit.narrowed(settings)
        _check_engine(settings.corpus)
        return resources(settings, snapshot)


def _check_engine(corpus: str) -> None:
    """Refuse an engine that would receive credentials without being one of the server's."""
    if is_address(corpus) and engines_for(corpus).signs_in():
        own = [_nodes(named) for named in (_default, *_named.values())]
        if _nodes(corpus) not in own:
            raise SettingsError(
                f"The run asks {corpus}, which is not this server's engine.",
                "Leave corpus out, or have LEXLOOP_CORPUS of the server name an index there.",
            )


def _nodes(corpus: str) -> Any:
    """Return the nodes that receive credentials for a corpus, or None if it is not in an engine."""
    address = Address.parse(corpus) if is_address(corpus) else None
    return address and (address.hosts, address.tls)


@lru_cache(maxsize=64)
def _graph(permit: Permit | None) -> Lexloop:
    return build_graph(ForCallers(permit))


@lru_cache(maxsize=64)
def _agent(permit: Permit | None) -> Lexloop:
    """Return the agent over the collections that the caller may ask; over all if there are none.

    Whoever may ask none is refused by the first of them.
    """
    collections = _collections
    if permit is not None:
        collections = {
            name: settings.changed(**{"access.tags": ()})
            for name, settings in _collections.items()
            if settings.corpus in permit.corpora
        }
    return build_agent_graph(collections or _collections, ForCallers(permit))


def serve_graph(runtime: "ServerRuntime[Any]") -> Lexloop:
    """Return the question graph for what the server does with it."""
    return _for(runtime, _graph(_permit(runtime)))


def serve_agent(runtime: "ServerRuntime[Any]") -> Lexloop:
    """Return the agent for what the server does with it."""
    return _for(runtime, _agent(_permit(runtime)))


def _permit(runtime: "ServerRuntime[Any]") -> Permit | None:
    return Permit.of(runtime.user) if os.environ.get(_AUTH) else None


def _for(runtime: "ServerRuntime[Any]", shown: Lexloop) -> Lexloop:
    return shown.copy({"context_schema": None}) if runtime.execution_runtime else shown
