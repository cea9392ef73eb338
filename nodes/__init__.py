"""The steps of the graph: each is a module, or a folder if it has several parts.

A folder's ``node.py`` is the LangGraph node, and its implementations are beside it. ``question``
reads the question; its ``rewrite`` is the node. ``context`` has the protocols of what can be
exchanged. All steps share ``relevance`` (the one measure), ``markers`` and ``weights``.
"""
