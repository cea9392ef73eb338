"""How complex a question is, and so how much it may retrieve."""
