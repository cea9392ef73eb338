"""The state machine: the wiring of its nodes, their runner, and their context.

``app.graph`` is what a server serves; ``build.build_graph`` wires another over resources of one's
own; ``resources.Resources`` makes models, collections and the contexts of runs, and keeps them.
"""
