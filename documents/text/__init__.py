"""Texts taken apart: sentences, search terms, slips of the finger, and languages."""
