"""Forms in which its results leave."""
