"""Ingestion over a Ray cluster: workers prepare source files, the driver writes the index."""
