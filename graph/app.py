"""The graph of this process: settings come from the caller, models from here."""

from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

resources = Resources.configured()
graph = build_graph(resources)
