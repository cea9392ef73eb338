"""Documents cut into chunks, and the statements of each chunk.

``chunkers.chunker_for`` makes the ``Chunker`` that the settings ask for; ``statements`` finds what
can be quoted.
"""
