"""The table over documents: documents by questions, each cell a short answer with its source."""
