"""Indexes in Elasticsearch and OpenSearch, and indexing over a cluster of Ray."""
