"""Source files read into documents."""
