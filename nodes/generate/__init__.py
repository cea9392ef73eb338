"""An answer whose every statement is cited."""
