"""Storage and search of documents and their chunks: in a folder, or in an engine."""
