"""One room per step of the graph: ``node.py`` is the LangGraph node, implementations lie beside.

``context.py`` holds the protocols of what can be exchanged. Shared by the rooms are ``question`` (a
question taken apart), ``pointing`` (what it names by number or name), ``relevance`` (the one
measure), ``markers`` ([n]) and ``weights``.
"""
