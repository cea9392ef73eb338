"""Lexloop: cited, checked answers to questions about laws, rules and policies."""
