"""Lexical and dense search, fused."""
