"""Text in the cells of CSV: no spreadsheet takes a part of it for a formula, and it is read back.

Programs split a line at commas, semicolons or tabs, whatever was meant, and heed quotation marks
only if a cell begins with one. So what could begin a cell is guarded as if it did.
"""

import re

_SIGNS = "[=+@＝＋－＠-]"
# each run of blanks is looked at once, so that time grows with the length alone
_BEGINNING = rf"""\A(?=[\s"']*{_SIGNS})|(?<=[;\t\r\n])(?=(?:[^\S\t\r\n]|["'])*{_SIGNS})"""
_OPEN = re.compile(_BEGINNING)
_GUARDED = re.compile(_BEGINNING.replace("(?=", "'(?="))


def guarded(cell: str) -> str:
    """Return a cell's text with an apostrophe before all that could pass for a formula."""
    return _OPEN.sub("'", cell)


def unguarded(cell: str) -> str:
    """Return the text that ``guarded`` was given."""
    return _GUARDED.sub("", cell)
