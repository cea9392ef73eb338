"""The evaluation of answers: gold questions, metrics, judges, runs and reports."""
