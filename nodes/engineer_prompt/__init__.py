"""A reworded question and advice for the next attempt."""
