"""A question understood: standing alone, with its sub-queries and keywords, by ``rewriters``."""
