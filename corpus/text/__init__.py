"""Texts taken apart: sentences, statements, search terms."""
