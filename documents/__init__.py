"""Files on their way to documents with a tree of provisions, their text, and their chunks."""
