"""The k passages an answer may use."""
