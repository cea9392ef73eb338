"""Forms in which tools and labels leave."""
