"""Text as every reader leaves it: line feeds, no control characters, no half characters."""

import re

from lexloop.core.errors import CorpusError

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\xad\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def line_feeds(text: str) -> str:
    """Every line end as one line feed."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def printable(text: str) -> str:
    """Extracted text without soft hyphens, control characters and halves of characters."""
    return _SURROGATE.sub("\ufffd", _CONTROL.sub("", line_feeds(text)))


def whole_text(text: str) -> str:
    """Text that a file gives as it is, with line feeds.

    Raises:
        CorpusError: It holds NUL bytes or lone surrogates, or nothing but blanks.
    """
    if "\x00" in text:
        raise CorpusError("It holds NUL bytes, so it is no text.", "Convert it to UTF-8.")
    if _SURROGATE.search(text):
        raise CorpusError("It holds lone surrogates, which are no characters.", "Correct them.")
    if not text.strip():
        raise CorpusError("It is empty.", "Remove it or fill it.")
    return line_feeds(text)
