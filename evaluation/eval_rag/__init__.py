"""Judging answers against the document that the nearest known question leads to (Eval-RAG)."""
