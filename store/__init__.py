"""Where documents and their chunks are kept and searched: a folder, or an engine."""
