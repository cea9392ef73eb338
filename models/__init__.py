"""Chat and embedding models behind small protocols."""
