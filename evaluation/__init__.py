"""What answers are worth: gold questions, metrics, judges, runs and reports."""
