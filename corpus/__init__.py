"""Documents on their way into an index, and the collection that is searched.

``opening.open_corpus`` opens the ``Collection`` that a setting names; what somebody may see of it
is a ``View``, through which the nodes read all texts.
"""
