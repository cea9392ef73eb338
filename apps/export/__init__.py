"""An answer or a thread as a file to keep: Markdown, or Word, with a footnote for every source."""
