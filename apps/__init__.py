"""The command line, and the functions that ``import lexloop`` offers.

``cli`` has a module a command; ``library`` is the front door in Python.
"""
