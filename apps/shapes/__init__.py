"""Output formats of an answer: its record, and every format made from it."""
