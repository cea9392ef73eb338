"""Acronyms that a text introduces: Abu Dhabi Global Market ("ADGM"), "tool" or "AEDT"."""

import re

from lexloop.corpus.triplets.phrases import readable
from lexloop.corpus.triplets.spelling import singular

_INTRODUCED = re.compile(
    r"""(?:\(\s*(?:the\s+|an?\s+)?["“]?|["”]\s+or\s+(?:an?\s+)?["“])
        (?P<acronym>[A-Z][A-Za-z]{0,8}[A-Z])s?["”]?\s*(?:\)|,|or\b|means\b|shall\b)""",
    re.VERBOSE,
)
_SMALL = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to"})
_WORD = re.compile(r"[^\W\d_][\w.’']*")
_LOOK_BACK = 120


def find_aliases(text: str) -> dict[str, str]:
    """What each acronym of ``text`` stands for, where its letters are the words' initials.

    Args:
        text: A passage, or a whole document so that an acronym introduced once serves everywhere.

    Returns:
        Acronym -> long form; the first introduction counts.
    """
    aliases: dict[str, str] = {}
    for match in _INTRODUCED.finditer(text):
        acronym = match["acronym"]
        long_form = _spelled_by(acronym, text[max(0, match.start() - _LOOK_BACK) : match.start()])
        if long_form:
            aliases.setdefault(acronym, long_form)
    return aliases


def _spelled_by(acronym: str, before: str) -> str | None:
    """The words at the end of ``before`` whose initials, small words aside, spell ``acronym``."""
    words = list(_WORD.finditer(before))
    for skipped in (_SMALL, frozenset[str]()):
        letters = acronym.lower()
        for word in reversed(words):
            if word.group().lower() in skipped:
                continue
            if word.group()[0].lower() != letters[-1]:
                break
            letters = letters[:-1]
            if not letters:
                return _tidy(before[word.start() :])
    return None


def _tidy(phrase: str) -> str | None:
    phrase = readable(phrase)
    if re.search(r"[.;:()]\s|[.;:(]$", phrase):
        return None
    head, _, last = phrase.rpartition(" ")
    last = last if last[:1].isupper() else singular(last)
    phrase = f"{head} {last}".strip()
    first, _, rest = phrase.partition(" ")
    return phrase if not rest or rest != rest.lower() else f"{first.lower()} {rest}"
