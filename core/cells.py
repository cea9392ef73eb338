"""Escape the cells of CSV, so that no spreadsheet reads a part of one as a formula.

Programs may split a line at commas, semicolons or tabs, and respect quotation marks only at the
beginning of a cell. So text is guarded wherever a cell could begin.
"""

import re

_SIGNS = "[=+@＝＋－＠-]"
# each run of blanks is looked at once, so that time grows with the length alone
_FIRST = rf"""\A(?=[\s"']*(?:{_SIGNS}|[\t\r]))"""
_LATER = rf"""(?<=[;\t\r\n])(?=(?:[^\S\t\r\n]|["'])*{_SIGNS})"""
_BEGINNING = f"{_FIRST}|{_LATER}"
_OPEN = re.compile(_BEGINNING)
_GUARDED = re.compile(_BEGINNING.replace("(?=", "'(?="))


def guarded(cell: str) -> str:
    """Return a cell's text with an apostrophe before anything that could be read as a formula."""
    return _OPEN.sub("'", cell)


def unguarded(cell: str) -> str:
    """Return the text that ``guarded`` was given."""
    return _GUARDED.sub("", cell)
