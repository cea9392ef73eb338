"""Eval-RAG (Ryu et al.): answers judged against the document that the nearest question leads to."""
