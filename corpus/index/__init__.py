"""What searches the chunks, in memory and on disk."""
