"""The k passages an answer may use, as one of the ``rerankers`` orders the candidates."""
