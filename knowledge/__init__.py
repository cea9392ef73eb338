"""Relations of provisions: triplets, their graph as numbers, and searches of it."""
