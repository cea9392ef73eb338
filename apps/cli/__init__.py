"""The command line: a module a command, by its name; `main.py` puts them together."""
