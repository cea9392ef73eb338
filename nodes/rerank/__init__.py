"""The k passages an answer may use, as a reranker orders the candidates."""
