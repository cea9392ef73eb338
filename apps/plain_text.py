"""Text of others as plain text: nothing in it steers what shows it."""

import re

# C0 without tab and line feed, DEL, C1; line and paragraph separators; bidirectional embeddings,
# overrides and isolates; lone surrogates, which cannot be written at all, and what XML has no
# place for
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def clean(text: str) -> str:
    """Return ``text`` without characters that move a cursor, change colours or reverse reading."""
    return UNSAFE.sub("", text)


def one_line(text: str) -> str:
    """Return ``text`` with every run of blanks as one space."""
    return " ".join(filter(None, (clean(word) for word in text.split())))


def shortened(text: str, most: int) -> str:
    """Return ``text`` on one line of at most ``most`` characters, an ellipsis where it is cut."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
