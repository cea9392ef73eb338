"""Documents cut into chunks, along their provisions, sentences, topics, or a pattern's matches.

``choose.chunker_for`` makes the ``Chunker`` of the settings; ``statements.statements_in`` finds
the statements of each chunk.
"""
