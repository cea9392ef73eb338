"""A reworded question and advice for the next attempt, by rules (``node``) or by a model."""
