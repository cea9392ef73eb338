"""An answer whose every statement is cited, or the abstention.

``node`` refuses and withholds; ``extractive`` quotes statements, and whole provisions by
``quoting``; ``model`` writes, and finds what it cites.
"""
