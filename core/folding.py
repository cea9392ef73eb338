"""One form for what Unicode writes in several ways.

A document is read as ``legible``: what no reader sees is left out, and what all readers see alike
is written alike. What a reader does see, such as letters of full width, stays, and is ``narrowed``
wherever it is matched: that moves nothing, so places in either are places in both. A question is
``folded``, which is both.
"""

import re
import unicodedata

_IGNORED = "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_JOINING = "\u034f\u200c\u200d\ufe00-\ufe0f"
_UNSEEN = re.compile(f"[{_IGNORED}]+")
_IGNORABLE = re.compile(
    f"[{_IGNORED}{_JOINING}\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e0fff]+"
)
"""Unicode's Default_Ignorable_Code_Point."""
_UNJOINED = re.compile(f"(?<![\u0590-\u1dff\u2190-\u2bff\u2e80-\U0010ffff])[{_JOINING}]+")
"""Characters that join letters or pick a shape, after a letter that has only one shape."""
_SEEN_ALIKE = re.compile("[\xa0\u2007\u202f\u2011\ufb00-\ufb06]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_HYPHENS = "\u2010\u2011"


def legible(text: str) -> str:
    """Return a text as its reader sees it.

    Each accented letter becomes one character, ligatures become their letters, and no-break spaces
    and hyphens become plain ones. Joiners are kept if they shape letters, as in Persian and emoji.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _UNJOINED.sub("", _composed(_UNSEEN.sub("", text))))


def narrowed(text: str) -> str:
    """Return a text of the same length with the usual forms of its letters, digits and signs.

    Each character is read by itself, so a part of the text gives that part of the result.
    """
    if text.isascii():
        return text
    return _NOT_ASCII.sub(lambda run: run[0].translate(_SINGLE), text)


def folded(text: str) -> str:
    """Return a text for matching: legible, with usual characters. Its length may change."""
    if text.isascii():
        return text
    plain = _composed(_IGNORABLE.sub("", text))
    return unicodedata.normalize("NFC", _NOT_ASCII.sub(lambda run: run[0].translate(_FORMS), plain))


def plain(text: str) -> str:
    """Return a text of the same length, for comparing words regardless of case and accents.

    Accents are removed from Latin and Greek letters only, since readers leave them out.
    """
    if text.isascii():
        return text.lower()
    return _NOT_ASCII.sub(lambda run: run[0].translate(_PLAIN), narrowed(text)).lower()


def accented(letter: str) -> str:
    """Return the other letters, up to those of Greek, that are the same one in ``plain``."""
    return "".join(c for c in map(chr, _WITH_ACCENTS) if _PLAIN[ord(c)] == letter != c)


def _composed(text: str) -> str:
    alike = _SEEN_ALIKE.sub(lambda match: _usual(match[0]), text)
    return unicodedata.normalize("NFC", alike)


def _usual(character: str) -> str:
    """Return the usual form of a character.

    For letters and digits this is Unicode's NFKC, and for other characters too if that is a single
    character. Superscripts and fractions are kept: "5²" is not 52, and "1½" is not 11/2.
    """
    if character.isspace():
        return " " if unicodedata.category(character) == "Zs" else character
    if character in _HYPHENS:
        return "-"
    plain = unicodedata.normalize("NFKC", character)
    kind = unicodedata.category(character)
    spelt = kind[0] == "L" or kind in ("Nd", "Nl") or (kind[0] in "PS" and len(plain) == 1)
    return plain if spelt else character


class _Forms(dict[int, str]):
    """What ``str.translate`` reads: the usual form of each character that was met."""

    def __missing__(self, code: int) -> str:
        self[code] = _usual(chr(code))
        return self[code]


class _Single(_Forms):
    """The same, without forms that are longer than the character."""

    def __missing__(self, code: int) -> str:
        form = _FORMS[code]
        self[code] = form if len(form) == 1 else chr(code)
        return self[code]


class _Plain(_Forms):
    """The same, in small letters without accents."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        small = next((c for c in (letter.casefold(), letter.lower()) if len(c) == 1), letter)
        parts = unicodedata.normalize("NFD", small)
        bare = parts[0] < "\u0400" and all(map(unicodedata.combining, parts[1:]))
        self[code] = parts[0] if bare else small
        return self[code]


_FORMS, _SINGLE, _PLAIN = _Forms(), _Single(), _Plain()
_WITH_ACCENTS = (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000))
