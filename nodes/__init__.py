"""The steps of the graph, each a module of its name or, where it has several ideas, a folder.

A folder's ``node.py`` is the LangGraph node; its implementations lie beside. ``context`` holds the
protocols of what can be exchanged. Shared are ``question`` (a question taken apart), ``pointing``
(what it names by number or name), ``relevance`` (the one measure), ``markers`` and ``weights``.
"""
