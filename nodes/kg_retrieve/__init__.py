"""A walk over the knowledge graph."""
