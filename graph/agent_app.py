"""The agent that ``langgraph.json`` names, over the collections of ``LEXLOOP_COLLECTIONS``.

The variable names them as ``lexloop ask --collections`` does; without it there is the sample alone.
"""

import os

from lexloop.core.configuration import configured
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.graph.agent import build_agent_graph
from lexloop.graph.app import resources
from lexloop.graph.collections import named_collections

_named = named_collections(os.environ.get("LEXLOOP_COLLECTIONS") or SAMPLE_CORPUS)
graph = build_agent_graph(
    {name: configured({"corpus": corpus}) for name, corpus in _named.items()}, resources
)
