"""The graph that ``langgraph.json`` names: settings come from the caller, models from here."""

import os

from lexloop.core.configuration import configured
from lexloop.core.settings import Connection
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

resources = Resources(Connection.from_environment(os.environ), configured())
graph = build_graph(resources)
