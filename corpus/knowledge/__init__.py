"""The knowledge graph: entities, how keywords find them, and walks between them."""
