"""The command line, answers as files, and the functions of ``import lexloop``.

``cli`` has the commands, ``shapes`` the output formats of an answer, and ``library`` the functions
for Python.
"""
