"""The tree of provisions of a document: what all that cuts, quotes, cites or relates reads."""
