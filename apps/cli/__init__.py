"""The command line: a module a command, by its name; `main.py` puts them together."""

import time

BEGAN = time.monotonic()
"""When the program began, before anything that takes time to import."""
