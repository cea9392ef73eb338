"""The commands that come with the evaluation."""
