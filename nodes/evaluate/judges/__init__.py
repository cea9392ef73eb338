"""Judges by a chat model: each is one prompt, one reply form and one score."""
