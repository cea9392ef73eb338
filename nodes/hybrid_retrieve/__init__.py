"""Lexical and dense search, fused: ``fusion`` has the formulas, ``choice`` follows the settings."""
