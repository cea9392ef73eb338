"""A standalone question, its sub-queries and its keywords."""
