"""The command line, the server, answers as files, and what ``import lexloop`` offers.

``cli`` has the commands, ``serve`` the page and the protocols, ``shapes`` what leaves of an
answer; ``library`` is the front door in Python.
"""
