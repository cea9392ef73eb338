"""The command line, the server, answers as files, and what ``import lexloop`` offers.

``cli`` has a module a command, ``serve`` the page and the protocols, ``export`` the formats of
files; ``library`` is the front door in Python.
"""
