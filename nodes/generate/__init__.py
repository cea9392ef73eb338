"""An answer whose every statement is cited, or the abstention.

``extractive`` quotes statements (``selection``) and provisions (``quoting``) where ``answerable``
says so; ``model`` writes, and ``citations`` finds what it cites; ``guard`` refuses and withholds.
"""
