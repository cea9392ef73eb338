"""The state machine: how its nodes are wired, what runs them, and what they get from outside.

``app.graph`` is what a server serves; ``build.build_graph`` wires another over resources of one's
own; ``resources.Resources`` makes models, collections and the contexts of runs, and keeps them.
"""
