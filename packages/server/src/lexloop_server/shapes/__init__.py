"""Output formats of tools and labels."""
