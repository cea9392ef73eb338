"""Terms for lexical search: lower-cased, stop-worded, stemmed, with section numbers kept whole."""

import re
from functools import lru_cache
from importlib.metadata import version
from typing import Any

STOP_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being
    below between both but by can could did do does doing down during each few for from further
    had has have having he her here hers him his how i if in into is it its itself just me more
    most my no nor not now of off on once only or other our ours out over own same she should so
    some such than that the their theirs them then there these they this those through to too
    under until up us very was we were what when where which while who whom why will with would
    you your yours""".split()
)

_TERM = re.compile(
    r"""
    \d+(?:[.\-–]\d+)+ [a-z]? (?:\([a-z0-9]{1,4}\))*   # 20-871(b)(1), 5.3.2, 1602.7
  | \d+(?:,\d{3})+                                     # 1,500
  | [^\W_]+(?:['’][^\W_]+)?                            # words, numbers, any script
    """,
    re.VERBOSE | re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=1)
def stemmer_name() -> str:
    """Return the stemmer's name and version: versions of Snowball differ in some stems.

    The version is the package's: ``Stemmer.version()`` is "2.0.1" for PyStemmer 2.2 and 3.0 alike.
    What follows its third number is a matter of packaging.
    """
    return f"snowball-english {'.'.join(version('PyStemmer').split('.')[:3])}"


def words(text: str) -> list[str]:
    """Return the words and numbers of a text, lower-cased, in order; section numbers stay whole."""
    return [word.lower() for word in _TERM.findall(text)]


def tokenize(text: str) -> list[str]:
    """Return the search terms of a text: stemmed words without stop words.

    A section number with subdivisions, ``20-871(b)(1)``, also yields the bare number ``20-871``,
    so that a question about a section finds its subdivisions and the reverse.
    """
    return [term for word in _TERM.findall(text) for term in _terms_of(word)]


@lru_cache(maxsize=1 << 13)
def term_set(text: str) -> frozenset[str]:
    """Return the search terms of a text without their order, from a cache for recent texts."""
    return frozenset(tokenize(text))


@lru_cache(maxsize=1 << 16)
def _terms_of(written: str) -> tuple[str, ...]:
    """Return the search terms of one word or number as written."""
    word = written.lower()
    if re.sub(r"['’]\w*$", "", word) in STOP_WORDS or word in STOP_WORDS:
        return ()
    if word[0].isdigit():
        number = word.replace("–", "-").replace(",", "")
        terms = [number, number.split("(", 1)[0]] if "(" in number else [number]
    else:
        terms = [re.sub(r"['’]s?$", "", word)]
    return tuple(term for term in _stemmer().stemWords(terms) if term)
