"""Definitions of terms, and the long forms of acronyms."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lexloop.knowledge.clauses import plain_noun
from lexloop.knowledge.phrases import noun_phrase, readable, singular
from lexloop.knowledge.predicates import Predicate

_QUOTED = (
    r"(?:[\"“](?P<{name}>[^\"“”]{{1,100}})[\"”]|‘(?P<{name}_single>[^‘’]{{1,100}})’(?=[\s,(:]))"
)
_VERB = (
    r"(?P<excludes>does\s+not\s+include|do\s+not\s+include|excludes\b)"
    r"|(?P<includes>(?:shall\s+|also\s+)?(?<!to\s)includes?\b(?!\s+but\s+not))"
    r"|(?P<means>(?:shall\s+)?means?\b(?!\s+(?:of|for)\b)(?:\s+(?:either|any\s+of)\b)?|(?:is|are)\s+defined\s+(?:as|in)\b"
    r"|ha(?:s|ve)\s+the\s+(?:same\s+)?meanings?\b(?:\s+(?:that|given|assigned|set\s+out)\b)?"
    r"|refers?\s+to\b(?!\s+(?:in|as)\b)"
)
_OF_QUOTED = re.compile(
    r"(?:(?:^|[.,:;]\s+|\()(?:[Tt]he\s+(?:term|expression|word|phrase)s?\s+|[Aa]n?\s+|[Tt]he\s+)?)"
    + _QUOTED.format(name="term")
    + r"(?:,?\s+(?:or|and)\s+(?:the\s+)?"
    + _QUOTED.format(name="other")
    + r")?"
    r"(?:\s+or\s+[\"“][^\"“”]{1,100}[\"”])?,?\s*(?:\([^()]{1,60}\)\s*)?"
    r"(?:(?<=,\s)(?:in|when|for|with|as)\s[^,:;]{1,100},\s+|of\s[^,:;.]{1,60}?\s(?=means?\b))?"
    rf"(?:{_VERB}|(?:is|are)(?=\s+(?:an?|any|the)\s))),?\s*"
)
_OF_PLAIN = re.compile(
    r"(?:(?P<intro>[Ff]or\s+the\s+purposes?\s+of\s+[^,]{1,80},\s+))?"
    r"(?:[Tt]he\s+term\s+)?(?P<article>(?:[Aa]n?|[Tt]he)\s+)?"
    r"(?P<term>[^\W\d_][^\s.;:!?]*(?:\s+[^\s.;:!?]+){0,9}?)\s+"
    rf"(?:{_VERB})|(?P<copula>(?:is|are)(?=\s+(?:an?|any)\s)(?!\s+an?\s+(?:offen[cs]e|matter|violation"
    r"|breach|number)))),?\s*"
)
_NAMED_SO = re.compile(
    r"(?P<what>[^\s;:.(][^;:.(]{8,2000}?)\s*\((?:(?:hereinafter|hereafter|together|each|collectively|the|an?)"
    r"[^()‘’“”\"]{0,40}\s)?[“\"‘](?:the\s)?(?P<term>[^“”\"‘’]{3,80})[”\"’]\)"
)
_NO_TERM = re.compile(
    r"\b(?:this|that|it|they|which|who|what|shall|must|may|will|also|not)\b", re.I
)
_MOST_NAMED = 5
_INTRODUCED = re.compile(
    r"""(?:\(\s*(?:the\s+|an?\s+)?["“]?|["”]\s+or\s+(?:an?\s+)?["“])
        (?P<acronym>[A-Z][A-Za-z]{0,8}[A-Z])s?["”]?\s*(?:\)|,|or\b|means\b|shall\b)""",
    re.VERBOSE,
)
_SMALL_WORDS = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to"})
_WORD = re.compile(r"[^\W\d_][\w.’']*")
_LOOK_BACK = 120


@dataclass(frozen=True)
class Definition:
    """A term, its relation, and where in the sentence the defining words start."""

    term: str
    other: str | None
    predicate: Predicate
    start: int


def find_definition(body: str) -> Definition | None:
    """Return the definition that a sentence opens with or contains in quotation marks."""
    if quoted := _OF_QUOTED.search(body):
        return Definition(
            noun_phrase(quoted["term"] or quoted["term_single"]),
            noun_phrase(other) if (other := quoted["other"] or quoted["other_single"]) else None,
            _relation(quoted),
            quoted.end(),
        )
    plain = _OF_PLAIN.match(body[:400])
    if not plain or _NO_TERM.search(plain["term"]) or (plain["copula"] and not plain["article"]):
        return None
    term = re.sub(r"\s+\([\"“]?[A-Z][\w-]{1,9}[\"”]?\)$", "", plain["term"])
    if len(term.split()) > 7 or not plain_noun(term):
        return None
    return Definition(noun_phrase(term), None, _relation(plain), plain.end())


def named_so(text: str) -> Iterator[tuple[str, str]]:
    """Yield terms given to what was just said: "the seller of the boat (the “Seller”)".

    An acronym is no term.
    """
    for match in islice(_NAMED_SO.finditer(text), _MOST_NAMED):
        if not find_aliases(match.group()):
            yield noun_phrase(match["term"]), readable(match["what"])


def _relation(match: re.Match[str]) -> Predicate:
    if match["excludes"]:
        return "excludes"
    return "includes" if match["includes"] else "defines"


def find_aliases(text: str) -> dict[str, str]:
    """Return acronyms with their long forms, found by the initials of the words before them.

    In a whole document an acronym that is introduced once serves everywhere.
    """
    aliases: dict[str, str] = {}
    for match in _INTRODUCED.finditer(text):
        acronym = match["acronym"]
        long_form = _spelled_by(acronym, text[max(0, match.start() - _LOOK_BACK) : match.start()])
        if long_form:
            aliases.setdefault(acronym, long_form)
    return aliases


def _spelled_by(acronym: str, before: str) -> str | None:
    """Return the words at the end of ``before`` whose initials spell ``acronym``."""
    words = list(_WORD.finditer(before))
    for skipped in (_SMALL_WORDS, frozenset[str]()):
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
