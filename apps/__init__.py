"""Where people meet Lexloop: the command line, and what ``import lexloop`` offers.

``cli`` has a module a command; ``library`` is the front door in Python.
"""
