"""Lexical and dense search, fused: ``fusion`` has the formulas, ``node`` follows the settings."""
