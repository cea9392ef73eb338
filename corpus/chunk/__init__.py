"""Documents cut into chunks, along their provisions, sentences, topics, or what a pattern matches.

``choose.chunker_for`` goes from the settings to a ``Chunker``; ``statements.statements_in`` tells
which statements each chunk holds.
"""
