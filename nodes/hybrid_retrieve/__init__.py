"""Lexical and dense search by the formulas of ``fusion``; and what is ``pointed`` to by number."""
