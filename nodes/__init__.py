"""One room per step of the graph, in flow order."""
