"""What leaves of an answer: its record, and every shape that is made of that."""
