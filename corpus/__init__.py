"""Load, chunk, index: lexical, dense, knowledge graph, and the collection they share."""
