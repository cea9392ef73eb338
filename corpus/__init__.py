"""Documents on their way into an index, and the collection that is searched.

``opening.open_corpus`` goes from a setting to a ``Collection``; what somebody may see of it is a
``View``, the only way for the nodes to come to texts.
"""
