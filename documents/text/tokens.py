"""Sentences of legal text, and its search terms: stemmed, with section numbers kept whole."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from itertools import pairwise
from typing import Any

from lexloop.core.folding import folded, narrowed
from lexloop.documents.structure.references import lies_over
from lexloop.documents.text.abbreviations import Abbreviations

_BOUNDARY = re.compile(r"(?<=[.!?;:])[\"'”’)\]]*\s+|\n+")
LIST_ITEM = re.compile(r"\s*(?:[-*•]\s|\(?(?:[ivx]{1,5}|[a-z]|\d{1,3})[.)]\s)", re.IGNORECASE)
"""The mark of a list item, and the blank after it."""
PIECE = re.compile(r"[^\W_]+")
"""A run of letters and figures."""
WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
COMPOUND_WORD = re.compile(r"\w+(?:[.\-/]\w+)*")
"""A word, with the stops and dashes within it: "4.2", "e-mail"."""
UNBROKEN = re.compile(r"\S+")
"""A run of letters and signs between blanks."""
_JOINTS = frozenset(("and", "or", "and/or"))
_REACH = 80  # longer than any abbreviation or indent; keeps the cost linear in hostile text


def sentence_spans(text: str, seen: Abbreviations | None = None) -> list[tuple[int, int]]:
    """Return the half-open spans of the sentences and list items of a text, trimmed.

    Abbreviations, section numbers and item marks do not end a sentence. A new line does, unless the
    text was merely wrapped. A colon or semicolon does only before a new line, so that a clause and
    its list items are separate.

    Args:
        text: The text.
        seen: Abbreviations of the whole document, if known; otherwise those found in the text.
    """
    text = narrowed(text)
    spans: list[tuple[int, int]] = []
    start, abbreviations = 0, seen or Abbreviations(text)
    for match in _BOUNDARY.finditer(text):
        if match.start() <= start or not _ends_sentence(text, start, match, abbreviations):
            continue
        _append(spans, text, start, match.end())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def _ends_sentence(
    text: str, start: int, match: re.Match[str], abbreviations: Abbreviations
) -> bool:
    before = text[max(start, match.start() - _REACH) : match.start()]
    after = text[match.end() : match.end() + 1]
    new_line = "\n" in match.group()
    last = before.rstrip("\"'”’)]")[-1:]
    if new_line:
        return not _is_wrapped(text, match.end(), before)
    if last in ";:":
        return False
    if last == ".":
        following = text[match.end() : match.end() + _REACH]
        if _is_item_mark(before) or abbreviations.ends_one(before, following):
            return False
    if after.islower():
        mark, _, rest = text[match.end() : match.end() + _REACH].partition(". ")
        return len(mark) == 1 and rest.lstrip()[:1].isupper()
    return after.isupper() or after.isdigit() or after in "\"'“‘([§-"


def _opens_item(line: str) -> bool:
    return line.lstrip()[:1] in ("§", "#", "|") or LIST_ITEM.match(line) is not None


def _is_item_mark(before: str) -> bool:
    """Return whether a full stop belongs to the mark of an item."""
    return len(before.split()) == 1 and _opens_item(before + " ")


def is_joint(line: str) -> bool:
    """Return whether a line only joins its neighbours: a lone "or" below a point."""
    return line.strip(" \t,;:").lower() in _JOINTS


def _is_wrapped(text: str, at: int, before: str) -> bool:
    """Return whether the line at an offset only continues the one before."""
    line = text[at : at + _REACH].partition("\n")[0]
    if is_joint(line):
        return True
    if " | " in line:  # a row of a table
        return False
    ended = before.rstrip("\"'”’)]")[-1:] in (".", "!", "?", ";", ":")
    if not ended and text[at : at + 1].islower():
        return not _opens_item(text[at : at + _REACH])
    return lies_over(before, text[at : at + _REACH])


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        begin = start + len(piece) - len(piece.lstrip())
        spans.append((begin, begin + len(stripped)))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the first span of ``quote`` in a text; None if it is blank or missing.

    Blanks and line breaks between the words do not count. The span may begin and end within a word.
    """
    words = list(map(re.escape, folded(quote).split()))
    match = re.search(r"\s+".join(words), narrowed(text)) if words else None
    return match.span() if match else None


STOP_WORDS = frozenset(
    """a about above after again all also am an and any anybody anyone anything are as at be
    because been before being below between both but by can could did do does doing down during
    each everybody everyone everything few for from further had has have having he her here hers
    him his how i if in into is it its itself just many me more most much my no nobody nor not
    nothing now of off on once only or other our ours out over own same she should so some
    somebody someone something such than that the their theirs them then there these they this
    those through to too under until up us very was we were what when where which while who whom
    why will with would you your yours""".split()
)

UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1780-\u17d3\u3005-\u3007"
    "\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""The characters of scripts without blanks between words, as ranges of a pattern: Thai, Lao,
Burmese, Khmer, Japanese and Chinese.
"""
_TERM = re.compile(
    rf"""
    \d+(?:[.\-–]\d+)+ [a-z]? (?:\([a-z0-9]{{1,4}}\))*   # 20-871(b)(1), 5.3.2, 1602.7
  | \d+(?:,\d{{3}})+                                     # 1,500
  | [{UNSPACED}]+                                       # words without blanks between them
  | (?:(?![{UNSPACED}])[^\W_])+(?:['’][^\W_]+)?          # words, numbers, any other script
    """,
    re.VERBOSE | re.IGNORECASE,
)
IS_UNSPACED = re.compile(f"[{UNSPACED}]")


BEGINNING = 2
"""The letters at the beginning of a word that its stem has, too."""


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=1)
def stemmer_name() -> str:
    """Return the stemmer's name and version: versions of Snowball differ in some stems.

    The version is the package's, because ``Stemmer.version()`` is "2.0.1" for PyStemmer 2.2 and 3.0
    alike. Only its first three numbers count; the rest is packaging.
    """
    return f"snowball-english {'.'.join(version('PyStemmer').split('.')[:3])}"


_STATEMENT = 1_000
"""Characters of a statement at most; longer texts are seldom read twice."""


def words(text: str) -> list[str]:
    """Return the lower-cased words and numbers of a text, in order; section numbers stay whole."""
    return [word.lower() for word in _written(text)]


def tokenize(text: str) -> list[str]:
    """Return the search terms of a text: stemmed words without stop words.

    In a script without blanks between words, the terms are pairs of letters.

    A section number with subdivisions, ``20-871(b)(1)``, also yields the bare number ``20-871``,
    so that a question about a section finds its subdivisions and the reverse.
    """
    return [term for word in _written(text) for term in _terms_of(word)]


def _written(text: str) -> Sequence[str]:
    """Return the words and numbers of a text as written; those of statements are cached."""
    return _found(text) if len(text) <= _STATEMENT else _TERM.findall(folded(text))


@lru_cache(maxsize=1 << 12)
def _found(text: str) -> tuple[str, ...]:
    return tuple(_TERM.findall(folded(text)))


@lru_cache(maxsize=1 << 13)
def term_set(text: str) -> frozenset[str]:
    """Return the search terms of a text without their order, from a cache for recent texts."""
    return frozenset(tokenize(text))


@lru_cache(maxsize=1 << 16)
def _terms_of(written: str) -> tuple[str, ...]:
    """Return the search terms of one word or number as written; "m²" is "m2"."""
    if IS_UNSPACED.match(written):
        return tuple(map("".join, pairwise(written))) or (written,)
    word = (unicodedata.normalize("NFKC", written) if written[0].isalpha() else written).lower()
    if re.sub(r"['’]\w*$", "", word) in STOP_WORDS or word in STOP_WORDS:
        return ()
    if word[0].isdigit():
        number = word.replace("–", "-").replace(",", "")
        terms = [number, number.split("(", 1)[0]] if "(" in number else [number]
    else:
        terms = [re.sub(r"['’]s?$", "", word)]
    return tuple(term for term in _stemmer().stemWords(terms) if term)
