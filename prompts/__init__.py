"""One file per model call, checked for its placeholders when loaded."""
