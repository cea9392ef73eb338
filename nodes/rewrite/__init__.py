"""A question that stands alone, its sub-queries and keywords, by ``rules`` or by a ``model``."""
