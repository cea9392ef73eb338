"""Readers of files beyond text, Markdown, HTML, PDF and Word, found by their suffixes."""
