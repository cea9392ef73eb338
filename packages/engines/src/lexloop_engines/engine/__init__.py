"""Indexes in Elasticsearch and OpenSearch: the same contents as on this machine, read over HTTP."""
