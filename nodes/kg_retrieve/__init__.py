"""Triplets and candidates from a walk over the knowledge graph."""
