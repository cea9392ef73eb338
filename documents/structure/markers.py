"""Markers at the beginning of a line: numbers, letters, keywords, and defined terms."""

import re
from dataclasses import dataclass

from lexloop.documents.structure.references import ABBREVIATED

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$")

_PARTS = "book|title|part|subpart|chapter|subchapter|division|subdivision|amendment"
_PROVISIONS = "article|art\\.|section|sec\\.|rule|clause|regulation|reg\\."
_ANNEXES = "annex|annexe|schedule|appendix|exhibit|attachment"
_WORD = re.compile(
    rf"(?P<word>{_PARTS}|{_PROVISIONS}|{_ANNEXES})\s+"
    r"(?P<number>(?:\d{1,4}[A-Za-z]{0,2}(?:[.\-–]\d{1,4}[A-Za-z]?){0,5}|[IVXLC]{1,7}[A-Z]?|[A-Z])"
    r"(?:\(\w{1,4}\)){0,4})(?![\w(/]|[.\-–]\d)",
    re.IGNORECASE,
)
_BARE_ANNEX = re.compile(r"(?P<word>ANNEX|SCHEDULE|APPENDIX|Annex|Schedule|Appendix)\s*$")
_SECTION_SIGN = re.compile(
    r"§§?\s*(?P<number>\w{0,9}\d\w{0,9}(?:[.\-–:]\w{1,8}){0,5}(?:\(\w{1,4}\)){0,4})(?![\w(])\.?"
)
_DECIMAL = re.compile(
    r"(?P<number>(?:\d{1,4}|[A-Z])(?:\.\d{1,4}){1,7}[A-Za-z]?)(?:\.(?=\s)|(?=\s)|$)"
)
_DOTTED = re.compile(
    r"(?P<number>\d{1,4}[A-Z]{0,2}|[a-z]{1,4}|[A-Z]|[IVXL]{2,6})(?P<mark>[.)])(?=\s|—|$)"
)
_UK = re.compile(r"(?P<number>\d{1,4}[A-Z]{0,3})\.?\s?(?:—|–|-)?\s?(?=\(1\))")
_BRACKET = re.compile(r"\((?P<number>\d{1,4}[A-Z]{0,2}|[a-z]{1,5}|[A-Z]{1,4})\)(?=[\s—(]|$)")
_BULLET = re.compile(r"(?P<mark>[-–—•·▪◦●*○])\s+(?=\S)")
_BARE = re.compile(r"(?P<number>\d{1,4}[A-Z]{0,2})\s+(?=[A-Z“\"‘'(])")
_RUN_IN = re.compile(
    r"(?P<heading>[A-Z“‘\"][^.;:()]{1,120}?(?:\([^()]{0,40}\)[^.;:()]{0,60})?)"
    r"(?:\.\s?[—–]|\.|\s?[—–])\s*(?=\((?:1|i|A|a)\)\s)"
)

_TITLE = re.compile(
    r"(?P<heading>(?:(?:[A-Z][\w’'/-]*|and|or|of|the|to|for|in|on|as|at|by|with|from|under|an?|&)(?:,?\s+|(?=\.)))"
    r"{1,12})\.(?:\s+|$)"
)
_OPENING = frozenset("§ABCDEPRST")
"""The first letters of all keywords, and the section sign."""
_LONGEST_MARK = 8
_BLANKS = re.compile(r"[\s—]+")

_SAYS = (
    r"(?:means?|includes?|refers?\s+to|has\s+the\s+(?:same\s+)?meanings?|have\s+the\s+(?:same\s+)?"
    r"meanings?|shall\s+(?:mean|include|have\s+the)|is\s+defined|are\s+defined|is\s+to\s+be\s+read"
    r"|is\s+to\s+be\s+construed|does\s+not\s+include|is\b|are\b)"
)
_QUOTED = re.compile(
    r"(?:(?:an?|the|to|any|each)\s+)?(?:(?:terms?|expressions?|words?)\s+)?"
    r"(?:“(?P<a>[^“”]{1,120})”|\"(?P<b>[^\"]{1,120})\"|[‘'](?P<c>[^‘]{1,120}?)[’'](?=[\s,(:]))",
    re.IGNORECASE,
)
_REACH = 160
_ALIKE = 12
_FOLLOWS = re.compile(
    rf"[^.;:]{{0,{_REACH}}}?\b{_SAYS}|\s*[:–—]|[^.;]{{0,60}}[:—]\s*$", re.IGNORECASE
)
_PLAIN_TERM = re.compile(
    r"(?:The\s+terms?\s+)?(?P<term>[A-Z0-9][\w’'\-/()]*(?:,?\s+[\w’'\-/()]+){0,12}?)\s*"
    r"(?:,[^.;:]{0,100},)?\s+(?:means?|includes?|refers?\s+to|has\s+the\s+(?:same\s+)?meaning"
    r"|is\s+defined\s+as|shall\s+(?:mean|have\s+the)|does\s+not\s+include)\b"
)
_LISTED_TERM = re.compile(r"(?P<term>[A-Z][\w’'\-/() ]{1,60}?)(?:\*\*)?\s*(?::|\s[–—-])\s+(?=\S)")
_TERM_RUN_IN = re.compile(
    r"(?P<term>[^.“”\"‘:]{2,120})[.:]\s+(?=[“\"‘]|The\s+(?:term|expression|word))"
)
_RESTATED = re.compile(
    r"(?P<term>[A-Z][^.:;]{2,80}?)(?:\s\([A-Z][\w-]{1,10}\))?\.\s+(?:(?:an?|the)\s+)?(?P=term)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:is|are|shall|must|may|have|has|applies|apply)\b")
_SECTION = re.compile(r"\bdefin|\binterpretation\b|\bglossary\b|\bmeanings?\s+of\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Marker:
    """A number in front of a line.

    Args:
        style: Its form: ``(a)``, ``(1)``, ``1.``, ``1.1``, ``i)``, ``article``, ``•``.
        value: Its place in the sequence of that style, from 1; 0 for a bullet. Letters after a
            number (``12A``) count as fractions.
        number: As it is written, without brackets and stops.
        end: Where the text after it begins in the line.
    """

    style: str
    value: float
    number: str
    end: int


def word_marker(line: str) -> Marker | None:
    """Return the keyword or section sign with a number in front: ``Article 5``, ``§ 5``."""
    if line[:1] not in _OPENING:
        return None
    if found := _SECTION_SIGN.match(line):
        number = found["number"].rstrip(".")
        return Marker("§", value_of(number), number, found.end())
    if found := _BARE_ANNEX.match(line):
        return Marker(found["word"].lower(), 1, "", found.end())
    found = _WORD.match(line)
    if found is None or not found["word"][0].isupper():
        return None
    word, number = found["word"].lower(), found["number"].rstrip(".")
    if number[0].islower():
        return None
    return Marker(ABBREVIATED.get(word.rstrip("."), word), value_of(number), number, found.end())


def list_markers(line: str, at: int = 0) -> list[Marker]:
    """Return the ways to read the number that a line has at an offset; empty if it has none.

    ``(i)`` is a letter or a Roman numeral: both are given.
    """
    head = line[at : at + _LONGEST_MARK]
    if head[:1].isalpha() and "." not in head and ")" not in head:
        return []  # nearly every line: words
    if found := _BRACKET.match(line, at):
        return _readings(found["number"], "({})", _behind(line, found))
    if found := _DECIMAL.match(line, at):
        number = found["number"]
        depth = number.count(".") + 1
        first = "1" if number[0].isdigit() else "A"
        style = first + ".1" * (depth - 1)
        return [Marker(style, value_of(number), number, _behind(line, found))]
    if found := _UK.match(line, at):
        number = found["number"]
        return [Marker("1.", numeric(number), number, _behind(line, found))]
    if found := _DOTTED.match(line, at):
        return _readings(found["number"], "{}" + found["mark"], _behind(line, found))
    found = _BULLET.match(line, at)
    return [Marker(found["mark"], 0, "", found.end())] if found else []


def bare_number(line: str) -> Marker | None:
    """Return a number with only a blank behind it, as in UK acts: ``5 Offences``."""
    found = _BARE.match(line)
    return Marker("1.", numeric(found["number"]), found["number"], found.end()) if found else None


def run_in_heading(line: str, at: int) -> tuple[str, int] | None:
    """Return a heading that runs into the first item, and its end: ``Notice. (1)``."""
    found = _RUN_IN.match(line, at)
    return (found["heading"].strip(), found.end()) if found else None


def title_heading(line: str, at: int) -> tuple[str, int] | None:
    """Return a heading in title case, and the text's start: ``2. Grant of License.``."""
    found = _TITLE.match(line, at) if line[at : at + 1].isupper() else None
    return (found["heading"].strip(), found.end()) if found else None


def _readings(number: str, form: str, end: int) -> list[Marker]:
    """Return a letter, a Roman numeral or a number, the likelier readings first."""
    if number[0].isdigit():
        return [Marker(form.format("1"), numeric(number), number, end)]
    low, upper = number.lower(), number.isupper()
    found = []
    if (roman := roman_value(low)) and (upper or low == number):
        found.append(Marker(form.format("I" if upper else "i"), roman, number, end))
    if len(set(low)) == 1 and (len(low) <= 2 or low not in ("iii", "xxx", "ccc", "mmm")):
        letter = ord(low[0]) - 96 + 26 * (len(low) - 1)
        found.append(Marker(form.format("A" if upper else "a"), letter, number, end))
        if len(low) == 2:
            found.append(Marker(form.format("AA" if upper else "aa"), letter - 26, number, end))
    elif len(low) == 2 and not roman and low == number:  # (ab) after (aa), (ba) inserted after (b)
        inserted = ord(low[0]) - 96 + (ord(low[1]) - 96) / 100
        found.append(Marker(form.format("A" if upper else "a"), inserted, number, end))
    return found


def numeric(number: str) -> float:
    """Return a number's value: 12 for ``12``, 12.01 for ``12A``, 12.0102 for ``12AB``.

    Inserted provisions stand between.
    """
    digits = re.match(r"\d+", number)
    if digits is None:
        return 0.0
    value, share = float(digits.group()), 0.01
    for letter in number[digits.end() :].lower():
        value += (ord(letter) - 96) * share
        share /= 100
    return value


def roman_value(text: str) -> int:
    """Return the value of a Roman numeral in small letters; 0 where it is none."""
    if not text or len(text) > 15 or not _ROMAN.match(text):
        return 0
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )


def value_of(number: str) -> float:
    """Return the place of ``5-303``, ``4.2``, ``III`` or ``B`` among its siblings."""
    last = re.split(r"[.\-–:]", number)[-1]
    if last[:1].isdigit():
        return numeric(last)
    return roman_value(last.lower()) or (float(ord(last[0].lower()) - 96) if last else 0.0)


def _behind(line: str, found: re.Match[str]) -> int:
    """Return where the text behind a number begins."""
    blanks = _BLANKS.match(line, found.end())
    return blanks.end() if blanks else found.end()


def is_about_definitions(heading: str) -> bool:
    """Return whether a heading announces definitions."""
    return _SECTION.search(heading) is not None


def defined_term(line: str, among_definitions: bool) -> str | None:
    """Return the term that a line defines; None where it defines none.

    Args:
        line: The text behind the number, if there is one.
        among_definitions: Whether it stands where terms are defined: there a term needs no quotes.
    """
    head = line[: 2 * _REACH]
    if entry := _TERM_RUN_IN.match(head):  # Fee. "Fee" means ...
        term = defined_term(line[entry.end() :], among_definitions)
        said = entry["term"].strip().lower()
        return term if term is not None and term.lower().startswith(said[:_ALIKE]) else None
    if quoted := _QUOTED.match(head):
        if _FOLLOWS.match(head, quoted.end()):
            return next(group for group in quoted.groups() if group).strip(" ,")
        return None
    if not among_definitions:
        return None
    found = _PLAIN_TERM.match(head) or _RESTATED.match(head) or _LISTED_TERM.match(head)
    return found["term"].strip(" ,") if found and not _CLAUSE.search(found["term"]) else None
