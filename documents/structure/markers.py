"""Markers at the beginning of lines: numbers, letters and keywords; and defined terms."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lexloop.documents.structure.references import ABBREVIATED, roman_value
from lexloop.documents.structure.tree import Kind
from lexloop.documents.text.quantities import NUMBERS
from lexloop.documents.text.tokens import STOP_WORDS

_PARTS = (
    "book|title|subtitle|part|subpart|chapter|subchapter|division|subdivision|amendment"
    "|kapitel|chapitre|capítulo|capitolo|titel|titre|título|titolo|teil|partie|hoofdstuk"
)
_PROVISIONS = (
    "article|art\\.|section|sec\\.|rule|clause|regulation|reg\\.|slide"
    "|artikel|artículo|articulo|articolo|artigo"
)
_ANNEXES = "annex|annexe|schedule|appendix|exhibit|attachment|anhang|anexo|allegato|bijlage"
_COUNTED = {word: value for word, value in NUMBERS.items() if 0 < value <= 20}
_WORD = re.compile(
    rf"(?P<word>{_PARTS}|{_PROVISIONS}|{_ANNEXES})\s+"
    r"(?P<number>(?-i:\d{1,4}[A-Za-z]{0,2}(?:[.\-–]\d{1,4}[A-Za-z]?){0,5}|[IVXLC]{1,7}[A-Z]?|[A-Z])"
    rf"(?:\(\w{{1,4}}\)){{0,4}}|{'|'.join(_COUNTED)})(?![\w(/]|[.\-–]\d)",
    re.IGNORECASE,
)
_BARE_ANNEXES = ("annex", "schedule", "appendix")
_SECTION_SIGN = re.compile(
    r"§§?\s*(?P<number>\w{0,9}\d\w{0,9}(?:[.\-–:]\w{1,8}){0,5}(?:\(\w{1,4}\)){0,4})(?![\w(])\.?"
)
_DECIMAL = re.compile(
    r"(?P<number>(?:\d{1,4}|[A-Z])(?:\.\d{1,4}){1,7}[A-Za-z]?)(?:\.(?=\s)|(?=\s)|$)"
)
_DOTTED = re.compile(
    r"(?P<number>\d{1,4}(?:[A-Z]{1,2}|[a-z])?|[a-z]{1,4}|[A-Z]|[IVXL]{2,6})(?P<mark>[.)])(?=\s|—|$)"
)
_UK = re.compile(r"(?P<number>\d{1,4}[A-Z]{0,3})\.?\s?(?:—|–|-)?\s?(?=\(1\))")
_BRACKET = re.compile(
    r"\((?P<number>\d{1,4}(?:[A-Z]{1,2}|[a-z])?|[a-z]{1,7}|[A-Z]{1,7})\)(?=[\s—(]|$)"
)
_BULLETS = frozenset("-–—•·▪◦●*○")
_BARE = re.compile(r"(?P<number>\d{1,4}[A-Z]{0,2})\s+(?=[A-Z“\"‘'(])")
_RUN_IN = re.compile(
    r"(?P<heading>[A-Z“‘\"][^.;:()]{1,120}?(?:\([^()]{0,40}\)[^.;:()]{0,60})?)"
    r"(?:\.\s?[—–]|\.|\s?[—–])\s*(?=\((?:1|i|A|a)\)\s)"
)

_TITLE = re.compile(
    r"(?P<heading>(?:(?:[A-Z][\w’'/-]*|and|or|of|the|to|for|in|on|as|at|by|with|from|under|an?|&)(?:,?\s+|(?=\.)))"
    r"{1,12})\.(?:\s+|$)"
)
_DASHED = re.compile(r"(?P<heading>[A-Z“\"‘'][^.;]{1,200})\.\s?(?:[—–]|--?(?=[\s(A-Z]))\s*(?=\S)")
"""A heading followed by a stop and a dash: "Removal of members.—(1) The council ..."."""
_OPENING = frozenset("§ABCDEHKPRST")
"""The first letters of all keywords, and the section sign."""
_LONGEST_MARK = 8
LETTERS = frozenset("cdlmCDLM")
"""Letters that are numerals as well, but of numbers that few lists reach."""
_PAGE = re.compile(
    r"[\s\-–—\[(]*(?:page\s+)?(?P<number>\d{1,4})(?:\s+of\s+\d+)?[\s\-–—\])]*$", re.I
)
_RUNNING = re.compile(r"(?=\S)\D*(?P<number>\d{1,4})(?<![^\s\d]\d)(?!\S)\D*$")
_PAGED = re.compile(r".*?\bpage\s+(?P<number>\d{1,4})(?!\d).*$", re.IGNORECASE)
_FEWEST_PAGES, _PAGE_LINES, _LONGEST_PAGE = 3, 4, 100
_BLANKS = " \t\n\u00a0\u2003—"

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
    r"(?:(?:As\s+used\s+)?[Ii]n\s+this\s+\w+,\s+)?(?:[Tt]he\s+terms?\s+)?(?P<term>[^\W_][\w’'\-/()]*(?:,?\s+[\w’'\-/()]+){0,12}?)"
    r"(?:\s*,[^.;:]{0,100},)?\s+(?:means?|includes?|refers?\s+to|has\s+the\s+(?:same\s+)?meaning"
    r"|is\s+defined\s+as|shall\s+(?:mean|have\s+the)|does\s+not\s+include)\b"
)
_LISTED_TERM = re.compile(r"(?P<term>[A-Z][\w’'\-/() ]{1,60}?)(?:\*\*)?\s*(?::|\s[–—-])\s+(?=\S)")
_TERM_RUN_IN = re.compile(
    r"(?P<term>[^.“”\"‘:]{2,120})[.:]\s+(?=[“\"‘]|The\s+(?:term|expression|word))"
)
_CLAUSE = frozenset("is are shall must may have has applies apply following".split())
# carries the definitions of the sample: "Bias audit. A bias audit is ..."
_RESTATED = re.compile(
    r"(?P<term>[A-Z][^.:;]{2,80}?)(?:\s\([A-Z][\w-]{1,10}\))?\.\s+(?:(?:an?|the)\s+)?(?P=term)\b",
    re.IGNORECASE,
)
_ABOUT_DEFINITIONS = ("defin", "interpretation", "glossary", "dictionary", "meaning of", "meanings")

_EXACT, _FIRST, _FIRST_UNLED, _SAME_STYLE, _GAP, _LATE, _BACK = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0
_RESUMED, _ELSEWHERE = 0.5, 2.5
_DEEPER = 0.01
_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Marker:
    """A number in front of a line.

    Args:
        style: Its form: ``(a)``, ``(1)``, ``1.``, ``1.1``, ``i)``, ``article``, ``•``.
        value: Its place in the sequence of that style, from 1; 0 for a bullet. Letters after a
            number (``12A``) count as fractions.
        number: Number as written, without brackets and stops.
        end: Where the text after it begins in the line.
    """

    style: str
    value: float
    number: str
    end: int


def page_numbers(lines: Sequence[str]) -> frozenset[int]:
    """Return the indices of lines that are page numbers, anywhere in a text.

    Each number is one more than the last, with some lines of text between. The number is alone on
    its line, follows "page" in a repeated line, or is in the running head of every second page: "10
    Bill", "12 Bill".
    """
    read: list[tuple[int, str, int]] = []
    paged: set[str] = set()
    for place, line in enumerate(lines):
        match = None
        if len(line) <= _LONGEST_PAGE:
            match = _PAGE.match(line) or _PAGED.match(line) or _RUNNING.match(line)
        if match:
            begin, end = match.span("number")
            words = "" if match.re is _PAGE else f"{line[:begin]}#{line[end:]}"
            paged |= {words} if match.re is not _RUNNING else set()
            read.append((place, words, int(match["number"])))
    printed = {(words, value) for _, words, value in read}
    each = {
        words for words, value in printed if (words, value + 1) in printed
    }  # "Article 1", "Article 2"
    ends: dict[tuple[str, int], tuple[int, int]] = {}  # how many end so, and the index of the last
    back: dict[int, int] = {}
    for place, words, value in read:
        if words in each - paged:
            continue
        count, last = ends.get((words, value - (1 if words in paged else 2)), (0, -1))
        if last >= 0 and place - last < _PAGE_LINES:
            count, last = 0, -1
        if count + 1 >= ends.get((words, value), (0, -1))[0]:
            ends[words, value] = count + 1, place
            back[place] = last
    numbered: set[int] = set()
    for count, last in ends.values():
        at = last if count >= _FEWEST_PAGES else -1
        while at >= 0 and at not in numbered:
            numbered.add(at)
            at = back[at]
    return frozenset(numbered)


def word_marker(line: str) -> Marker | None:
    """Return the keyword or section sign with a number in front: ``Article 5``, ``§ 5``."""
    if line[:1] not in _OPENING:
        return None
    if match := _SECTION_SIGN.match(line):
        number = match["number"].rstrip(".")
        return Marker("§", value_of(number), number, match.end())
    if (bare := line.strip().lower()) in _BARE_ANNEXES:
        return Marker(bare, 1, "", len(line))
    match = _WORD.match(line)
    if match is None or not match["word"][0].isupper():
        return None
    word, number = match["word"].lower(), match["number"].rstrip(".")
    if number[0].islower():
        return None
    number = str(_COUNTED.get(number.lower(), number))
    return Marker(ABBREVIATED.get(word.rstrip("."), word), value_of(number), number, match.end())


def list_markers(line: str, at: int = 0) -> list[Marker]:
    """Return the possible readings of the number at an offset of a line; empty if none.

    ``(i)`` is a letter or a Roman numeral: both are given.
    """
    head = line[at : at + _LONGEST_MARK]
    if head[:1].isalpha() and "." not in head and ")" not in head:
        return []  # nearly every line: words
    if match := _BRACKET.match(line, at):
        return _readings(match["number"], "({})", _text_start(line, match))
    if match := _DECIMAL.match(line, at):
        number = match["number"]
        depth = number.count(".") + 1
        first = "1" if number[0].isdigit() else "A"
        style = first + ".1" * (depth - 1)
        return [Marker(style, value_of(number), number, _text_start(line, match))]
    if match := _UK.match(line, at):
        number = match["number"]
        return [Marker("1.", _numeric(number), number, _text_start(line, match))]
    if match := _DOTTED.match(line, at):
        return _readings(match["number"], "{}" + match["mark"], _text_start(line, match))
    rest = line[at + 1 :]
    bullet = head[:1] in _BULLETS and rest[:1].isspace() and rest.strip()
    return [Marker(head[0], 0, "", len(line) - len(rest.lstrip()))] if bullet else []


def bare_number(line: str) -> Marker | None:
    """Return a number followed only by a blank, as in UK acts: ``5 Offences``."""
    match = _BARE.match(line)
    return Marker("1.", _numeric(match["number"]), match["number"], match.end()) if match else None


def run_in_heading(line: str, at: int) -> tuple[str, int] | None:
    """Return a heading that runs into the first item, and its end: ``Notice. (1)``."""
    match = _RUN_IN.match(line, at)
    return (match["heading"].strip(), match.end()) if match else None


def title_heading(line: str, at: int) -> tuple[str, int] | None:
    """Return a heading that runs into its text, and the text's start.

    The heading is in title case, ``2. Grant of License.``, or a dash follows its stop.
    """
    match = _DASHED.match(line, at)
    if match is None and line[at : at + 1].isupper():
        match = _TITLE.match(line, at)
    return (match["heading"].strip(), match.end()) if match else None


def _readings(number: str, form: str, end: int) -> list[Marker]:
    """Return a letter, a Roman numeral or a number, the likelier readings first."""
    if number[0].isdigit():
        return [Marker(form.format("1"), _numeric(number), number, end)]
    low, upper = number.lower(), number.isupper()
    markers = []
    if (roman := roman_value(low)) and (upper or low == number):
        markers.append(Marker(form.format("I" if upper else "i"), roman, number, end))
    if len(set(low)) == 1 and (len(low) <= 2 or low not in ("iii", "xxx", "ccc", "mmm")):
        letter = ord(low[0]) - 96 + 26 * (len(low) - 1)
        markers.append(Marker(form.format("A" if upper else "a"), letter, number, end))
        if len(low) == 2:
            markers.append(Marker(form.format("AA" if upper else "aa"), letter - 26, number, end))
    elif len(low) == 2 and not roman and low == number:  # (ab) after (aa), (ba) inserted after (b)
        inserted = ord(low[0]) - 96 + (ord(low[1]) - 96) / 100
        markers.append(Marker(form.format("A" if upper else "a"), inserted, number, end))
    # few lists have fifty items: if neither reading continues a list, (c) is a letter
    return markers[::-1] if number in LETTERS else markers


def _numeric(number: str) -> float:
    """Return a number's value: 12 for ``12``, 12.01 for ``12A``, 12.0102 for ``12AB``.

    Inserted provisions come between whole numbers.
    """
    digits = re.match(r"\d+", number)
    if digits is None:
        return 0.0
    value, share = float(digits.group()), 0.01
    for letter in number[digits.end() :].lower():
        value += (ord(letter) - 96) * share
        share /= 100
    return value


def value_of(number: str) -> float:
    """Return the place of ``5-303``, ``4.2``, ``III`` or ``B`` among its siblings."""
    last = re.split(r"[.\-–:]", number)[-1]
    if last[:1].isdigit():
        return _numeric(last)
    return roman_value(last.lower()) or (float(ord(last.lower()[0]) - 96) if last else 0.0)


def _text_start(line: str, match: re.Match[str]) -> int:
    """Return where the text after a number begins."""
    return len(line) - len(line[match.end() :].lstrip(_BLANKS))


def is_about_definitions(heading: str) -> bool:
    """Return whether a heading announces definitions."""
    words = heading.lower()
    return any(word in words for word in _ABOUT_DEFINITIONS)


def defined_term(line: str, among_definitions: bool) -> str | None:
    """Return the term that a line defines, or None.

    Args:
        line: Text after the number, if there is one.
        among_definitions: Whether the line is in a provision of definitions, where a term needs no
            quotes.
    """
    head = line[: 2 * _REACH]
    if entry := _TERM_RUN_IN.match(head):  # Fee. "Fee" means ...
        term = defined_term(line[entry.end() :], among_definitions)
        opening = entry["term"].strip().lower()
        return term if term is not None and term.lower().startswith(opening[:_ALIKE]) else None
    if quoted := _QUOTED.match(head):
        if _FOLLOWS.match(head, quoted.end()):
            return next(group for group in quoted.groups() if group).strip(" ,")
        return None
    if not among_definitions:
        return None
    match = _PLAIN_TERM.match(head) or _RESTATED.match(head) or _LISTED_TERM.match(head)
    term = match["term"].strip(" ,") if match else ""
    return term if term and term not in STOP_WORDS and _CLAUSE.isdisjoint(term.split()) else None


@dataclass(slots=True, eq=False)
class OpenUnit:
    """A unit in the making.

    Args:
        style: The style of its number; the keyword of a heading.
        value: Its place in its sequence.
        rank: Rank of its keyword, 0 for the outermost; -1 without a keyword.
        level: Heading level given by the format; 0 if none.
        divides: Whether it was opened by a heading and not by a line of a list.
        leads: Whether its own text ends like the lead-in of a list.
        bare: Whether it has only a number so far.
        place: Index in the tree, once it has one.
        column: Indent of its number if indents are meaningful, otherwise -1. If a list's numbers
            are aligned right, the indent of the shortest number.
        inner: Indent of the text after the number.
        listed: The last item that was opened in it.
        said: Where its heading begins in its own line; -1 if it is elsewhere.
        ended: Whether that line ends as a sentence does.
    """

    kind: Kind
    label: str = ""
    style: str = ""
    value: float = 0.0
    number: str = ""
    heading: str = ""
    start: int = 0
    body: int = 0
    end: int = 0
    parent: int = -1
    rank: int = -1
    level: int = 0
    divides: bool = False
    leads: bool = False
    bare: bool = False
    place: int = -1
    column: int = -1
    inner: int = -1
    listed: "OpenUnit | None" = None
    said: int = -1
    ended: bool = False

    def beside(self, marker: Marker, column: int) -> bool:
        """Return whether a number with this indent may be in the same list.

        The numbers of a list are aligned left or right.
        """
        return (
            min(column, self.column) < 0
            or self.column == column
            or (self.inner == column + marker.end)
        )

    def stands(self, column: int, marker: Marker, last: "OpenUnit | None") -> None:
        """Record the indent of its number, aligned with the item before."""
        self.column, self.inner = column, column + marker.end
        if last is not None and (last.style, last.inner) == (self.style, self.inner):
            self.column = max(column, last.column)

    def outside(self, column: int) -> bool:
        """Return whether an indent is left of this number, and so outside the item."""
        return 0 <= column < self.column


class Fit(NamedTuple):
    """One reading of a number: the open units that stay open, and its cost."""

    marker: Marker
    keep: int
    cost: float

    @property
    def odd(self) -> bool:
        """True if the number does not follow from the ones before."""
        return self.cost >= _GAP


def best_fit(
    markers: Sequence[Marker],
    stack: Sequence[OpenUnit],
    roman_ahead: Callable[[], bool | None],
    column: int = -1,
) -> Fit:
    """Return the likeliest way to read the number of a line.

    A number that continues an open list is preferred to one that opens a list, and that to one that
    leaves a gap. ``(i)`` after ``(h)`` may be either. What follows decides: whether ``(ii)`` comes
    before ``(j)`` below, or None if neither does.

    ``column`` is the indent of the line; -1 if indents are not meaningful.
    """
    base = next((i + 1 for i in range(len(stack) - 1, -1, -1) if stack[i].divides), 0)
    if inserted := _inserted(markers, stack):
        return inserted
    fits = [
        _decimal(m, stack, base) if "." in m.number else _listed(m, stack, base, column)
        for m in markers
    ]
    best = min(fits, key=lambda fit: fit.cost)
    roman = next((fit for fit in fits if fit.marker.style.strip("().") in ("i", "I")), None)
    letter = next((fit for fit in fits if fit.marker.style.strip("().") in ("a", "A")), None)
    if not (roman and letter and roman.marker.value == 1) or letter.odd or roman.odd:
        return best
    ahead = roman_ahead()
    if ahead is None:
        ahead = bool(stack) and stack[-1].leads
    return roman if ahead else letter


def _inserted(markers: Sequence[Marker], stack: Sequence[OpenUnit]) -> Fit | None:
    """Return the fit of ``(aa)`` as an item inserted after ``(a)``, or None."""
    last = stack[-1] if stack else None
    for marker in markers:
        single = marker.style.replace("aa", "a").replace("AA", "A")
        if last is None or single == marker.style or last.leads:
            continue
        if last.style == single and int(last.value) == marker.value:
            value = marker.value + marker.value / 100
            return Fit(replace(marker, style=single, value=value), len(stack) - 1, _EXACT)
    return None


def _listed(marker: Marker, stack: Sequence[OpenUnit], base: int, column: int) -> Fit:
    fits: list[Fit] = []
    for depth in range(len(stack) - 1, base - 1, -1):
        if stack[depth].style == marker.style:
            cost = _cost_behind(stack[depth], marker, column)
            fits.append(Fit(marker, depth, cost + _DEEPER * (len(stack) - depth)))
    fits += _resumed(marker, stack, base, column)
    led = bool(stack) and stack[-1].leads
    keep = len(stack)
    while keep > base and stack[keep - 1].kind == "text" and not stack[keep - 1].leads:
        keep -= 1  # text contains a list only if it is a lead-in
    if not marker.value and stack and not led:
        while keep > base + 1 and stack[keep - 2].leads and stack[keep - 1].value:
            keep -= 1  # bullets after a finished list do not belong to its last item
    if not led:
        keep = next((i for i in range(base, keep) if stack[i].outside(column)), keep)
    if len(stack) - base >= _DEEPEST:
        keep = base + _DEEPEST - 1
    if marker.value not in (0, 1):
        cost = _LATE + (0 if marker.value < 2 else 0.5)
    elif fits:
        cost = _SAME_STYLE - (1.5 if led else 0)
    else:
        cost = _FIRST if led else _FIRST_UNLED
    return min([*fits, Fit(marker, keep, cost)], key=lambda fit: fit.cost)


def _cost_behind(last: OpenUnit, marker: Marker, column: int) -> float:
    """Return the cost of a number as the next after another in its style."""
    step = marker.value - last.value
    follows = 0 < step <= 1 or (not marker.value and not last.value)
    cost = _EXACT if follows else _GAP if step > 0 else _BACK
    return cost if last.beside(marker, column) else cost + _ELSEWHERE


def _resumed(marker: Marker, stack: Sequence[OpenUnit], base: int, column: int) -> Iterator[Fit]:
    """Yield the fits of a number that continues a list after text has interrupted it."""
    for depth in range(len(stack) - 1, max(base - 2, -1), -1):
        last = stack[depth].listed
        if last is None or last.style != marker.style or last in stack[depth + 1 : depth + 2]:
            continue
        if 0 < marker.value - last.value <= 1 and last.beside(marker, column):
            yield Fit(marker, depth + 1, _RESUMED + _DEEPER * (len(stack) - depth))


def _decimal(marker: Marker, stack: Sequence[OpenUnit], base: int) -> Fit:
    """Return the fit of ``4.2.1``: below ``4.2``, or beside the number that shares most of it."""
    above = [
        i for i, e in enumerate(stack) if e.number and marker.number.startswith(e.number + ".")
    ]
    if above:  # next to 2.1, item 2 of a list in it does not contain 2.2
        named = (
            i for i in reversed(above) if stack[i].kind == "provision" or "." in stack[i].number
        )
        depth = next(named, above[-1])
        last = next((e for e in stack[depth + 1 :] if e.style == marker.style), None)
        step = marker.value - (last.value if last else 0)
        begins = last is None and not marker.value
        return Fit(marker, depth + 1, _EXACT if begins or 0 < step <= 1 else _GAP)
    beside = next((i for i in range(base, len(stack)) if "." in stack[i].number), None)
    if beside is not None:
        before = stack[beside]
        of_one = before.number.rpartition(".")[0] == marker.number.rpartition(".")[0]
        follows = of_one and 0 < marker.value - before.value <= 1
        return Fit(marker, beside, _EXACT if follows else _GAP)
    return Fit(marker, base, _FIRST if marker.value == 1 else _LATE)
