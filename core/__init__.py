"""The vocabulary of all rooms: types, state, settings, errors, files.

``state.State`` is what flows through the graph, ``types`` its parts; ``settings.Settings`` is what
a caller may choose, and ``errors`` the one tree of what can go wrong.
"""
