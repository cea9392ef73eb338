"""Training of the parts that learn."""
