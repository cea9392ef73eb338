"""Trains Lexloop's classifier, embedder and generator on your own data."""
