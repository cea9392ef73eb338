"""Documents cut into chunks, and the statements of each chunk.

``chunkers.chunker_for`` makes the ``Chunker`` of the settings; ``statements`` finds what can be
quoted.
"""
