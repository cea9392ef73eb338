"""What a metric is worth by itself: pure functions, each with its formula and its source."""
