"""The outline of a document: the lines that open a part or a provision."""

import re
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lexloop.documents.structure.contents import contents_of
from lexloop.documents.structure.headings import Heading
from lexloop.documents.structure.lines import BINDS, LONGEST_HEADING, SAYS, LogicalLine, hangs
from lexloop.documents.structure.markers import (
    Marker,
    bare_number,
    list_markers,
    title_heading,
    value_of,
    word_marker,
)
from lexloop.documents.structure.numbered import (
    FEWEST_MARKED,
    is_headed,
    numbered_headings,
)

_CODE = re.compile(r"(?P<number>\d{1,4}[.\-]\d{2,3}[.\-]\d{2,4})\.?\s+(?P<title>[A-Z].{2,100})$")
_LONGEST_CAPITALS, _FEWEST_CAPITALS = 80, 2
_PROVISION_WORDS = frozenset(("article", "section", "rule", "clause", "regulation", "slide", "§"))
_ANNEX_WORDS = frozenset(("annex", "schedule", "appendix", "exhibit", "attachment"))
NOTES = "notes"
"""Heads the explanatory notes after the last provision."""
_ORDER = (
    *("annex", NOTES, "book", "title", "subtitle", "part", "subpart", "chapter", "subchapter"),
    *(
        "division",
        "subdivision",
        "amendment",
        "section",
        "article",
        "rule",
        "clause",
        "regulation",
        "slide",
    ),
    "§",
)
_SENTENCE = re.compile(r"(?P<heading>[^.]{2,140}?)\.(?:\s+|\s?[—–]\s*)(?=[“\"‘(\[A-Z]|[a1]\.\s)")
_WORDS = "|".join(
    form
    for word in ("section", "clause", "regulation", "article", "rule")
    for form in (word, word.capitalize(), word.upper())
)
_DOTTED = re.compile(rf"\b(?P<word>{_WORDS})[sS]?\s+\d{{1,3}}\.\d")
_NAMED = re.compile(
    rf"(?P<word>{_WORDS})[sS]?(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*(?!\d{{1,4}}\.\s))(?P<number>\d{{1,4}})"
)
"""A reference to a provision in the text; not the first number of a list below "General rules"."""
_SIGNED = re.compile(r"§[^\S\n]?(?<![A-Z.]\s§)(?<!\bCode\s§)(?:\d{1,3}|[A-Z])(?=[.,;:)(\s])")
_READ = 1_000_000
_SEPARATORS = " .:—–-\t\u2003"


@dataclass(frozen=True)
class Outline:
    """The headings of a document.

    Args:
        headings: Headings by the index of their line.
        ranks: The keywords that head something, the outermost first.
        provisions: Keyword of the provisions; "" if they have only numbers.
        contents: The lines of the tables of contents.
        numbered: Whether numbers alone name provisions, as in contracts and UK acts.
        own_word: Word for its provisions in the text's own references.
        dotted_word: Word for numbers such as 2.1; "" if there is none.
        indented: Whether the indent of a line shows what it belongs to.
        anew: Whether numbering restarts in each part.
        marked: Whether the format marks the headings.
        headed: Whether provisions with only a number have their heading on the line above.
    """

    headings: dict[int, Heading]
    ranks: dict[str, int]
    provisions: str
    contents: Collection[int]
    numbered: bool
    own_word: str
    dotted_word: str
    indented: bool
    anew: bool
    marked: bool
    headed: bool


def find_outline(lines: Sequence[LogicalLine], text: str) -> Outline:
    """Return the lines that open parts, provisions and annexes."""
    contents = contents_of(lines)
    indented = hangs(lines)
    headings = _worded_headings(lines, contents, indented, text)
    headings = {**_code_sections(lines, contents, headings), **headings}
    order = _keyword_order(headings)
    provisions = next((word for word in reversed(order) if word in _PROVISION_WORDS), "")
    named = [
        (match["word"].lower(), match["number"])
        for match in _NAMED.finditer(text[:_READ])
        if not text[match.start() - 1].isalnum()
    ]
    spine: dict[int, Heading] = {}
    if not provisions:
        body = next((n for n in sorted(headings) if headings[n].style == "annex"), len(lines))
        worded = {
            line
            for first, heading in headings.items()
            if heading.style in _ORDER
            for line in range(first, first + heading.title + 1)
        }
        numbers = {float(number) for _, number in named}
        spine = numbered_headings(lines[:body], contents, worded, numbers, indented)
        headings = {**spine, **_restarted_heading(lines, spine), **headings}
        headings = headings or _capital_headings(lines, contents)
        order = _keyword_order(headings)
    ranks = {word: rank for rank, word in enumerate(order)}
    return Outline(
        headings=_with_values(headings),
        ranks=ranks,
        provisions=provisions,
        contents=contents,
        numbered=bool(spine),
        own_word=_own_word(named, headings, text),
        dotted_word=_dotted_word(text),
        indented=indented,
        anew=_numbering_restarts(headings, ranks, provisions),
        marked=sum(line.level > 0 for line in lines) >= FEWEST_MARKED,
        headed=2 * sum(is_headed(lines, n, spine) for n in spine) > len(spine),
    )


def _worded_headings(
    lines: Sequence[LogicalLine], contents: Collection[int], indented: bool, text: str
) -> dict[int, Heading]:
    """Return the headings marked by a keyword, a letter or the format, by line."""
    lettered = _lettered_appendices(lines, contents, indented)
    headings: dict[int, Heading] = {}
    doubtful: dict[int, Heading] = {}
    apart: set[int] = set()
    counted: dict[int, Marker] = {}
    taken = -1
    for number, line in enumerate(lines):
        if number <= taken or number in contents or line.row:
            continue
        before = lines[number - 1] if number - 1 > taken else None
        following = lines[number + 1 : number + 3]
        heading = _heading(line, before, following, counted) or lettered.get(number)
        if heading is None and (marker := word_marker(line.text)) and marker.end == len(line.text):
            doubtful[number] = _keyword_heading(line, marker, following)
            if before is not None and text.count("\n", before.end, line.start) > 1:
                apart.add(number)
        if heading is not None:
            if not headings and heading.style == "annex" and "." in heading.number:
                continue  # no document begins with an annex: this is the file's exhibit number
            headings[number] = heading
            taken = number + heading.title
    return _with_gaps_filled(_with_values(headings), doubtful, apart)


def _own_word(named: Sequence[tuple[str, str]], headings: Mapping[int, Heading], text: str) -> str:
    """Return the word that a text uses most for its own provisions; "section" by default."""
    numbers = {heading.number for heading in headings.values()}
    signed = sum(1 for _ in _SIGNED.finditer(text[:_READ]))
    called = Counter({"§": signed} if signed else {})
    called.update(word for word, number in named if number in numbers)
    return called.most_common(1)[0][0] if called else "section"


def _dotted_word(text: str) -> str:
    """Return the word that a text uses most for numbers such as 2.1; "" if rarely any."""
    counts = Counter(match["word"].lower() for match in _DOTTED.finditer(text[:_READ]))
    word, times = counts.most_common(1)[0] if counts else ("", 0)
    return word if times >= FEWEST_MARKED else ""


def _code_sections(
    lines: Sequence[LogicalLine], contents: Collection[int], headings: Mapping[int, Heading]
) -> dict[int, Heading]:
    """Return the sections of a code with numbers of three parts: "12.04.010 Licences.".

    Each has a title on its line. The numbers rise, but not by one.
    """
    if any(heading.style in _PROVISION_WORDS for heading in headings.values()):
        return {}
    sections: dict[int, Heading] = {}
    last: list[int] = []
    for number, line in enumerate(lines):
        code = _CODE.match(line.text)
        if code is None or number in contents or line.row or SAYS.search(code["title"]):
            continue
        parts = [int(part) for part in re.findall(r"\d+", code["number"])]
        if parts <= last or (last and parts[0] != last[0]):
            return {}
        last = parts
        sections[number] = Heading("section", code["number"], code["title"].rstrip("."), line.level)
    return sections if len(sections) >= FEWEST_MARKED else {}


def _capital_headings(
    lines: Sequence[LogicalLine], contents: Collection[int]
) -> dict[int, Heading]:
    """Return short lines in capitals above text, for a document without other headings."""
    headings = {
        number: Heading("", "", line.text, 2)
        for number, line in enumerate(lines[:-1])
        if line.text.isupper() and line.short and len(line.text) < _LONGEST_CAPITALS
        if number not in contents and not line.row and not lines[number + 1].text.isupper()
    }
    return headings if len(headings) >= _FEWEST_CAPITALS else {}


def _restarted_heading(
    lines: Sequence[LogicalLine], spine: Mapping[int, Heading]
) -> dict[int, Heading]:
    """Return the heading of points after the last provision that count from 1 or 2 again.

    The heading is a short line in capitals, or one that the format marks, since no provision is
    numbered twice. The points are notes if most of them name a provision.
    """
    last = max(spine, default=len(lines))
    counted = [
        (number, marker)
        for number in range(last + 1, len(lines))
        for marker in list_markers(lines[number].text)
        if marker.style == spine[last].style
    ]
    if len(counted) < FEWEST_MARKED or counted[0][1].value > 2:
        return {}
    numbers = {heading.number for heading in spine.values()}
    naming = sum(
        any(match["number"] in numbers for match in _NAMED.finditer(lines[number].text))
        for number, _ in counted
    )
    style = NOTES if 2 * naming > len(counted) else "annex"
    for number in range(counted[0][0] - 1, last, -1):
        line = lines[number]
        if line.short and (line.text.isupper() or line.level) and not word_marker(line.text):
            return {number: Heading(style, "", line.text, line.level)}
    return {}


def _with_values(headings: Mapping[int, Heading]) -> dict[int, Heading]:
    """Return sorted headings with the values of their numbers: "C" is 3 after "B", else 100."""
    last: dict[str, float] = {}
    valued: dict[int, Heading] = {}
    for line, heading in sorted(headings.items()):
        last_part = heading.number.rpartition(" ")[2]
        letter = ord(last_part.lower()) - 96 if len(last_part) == 1 and last_part.isalpha() else 0
        value = (
            letter if letter and letter == last.get(heading.style, 0) + 1 else value_of(last_part)
        )
        last[heading.style] = value
        valued[line] = replace(heading, value=value)
    return valued


def _with_gaps_filled(
    headings: dict[int, Heading], doubtful: Mapping[int, Heading], apart: Container[int]
) -> dict[int, Heading]:
    """Return the headings with the doubtful ones that fill a gap in their numbering.

    "Annex VII" alone on its line may be a reference, if the line before does not end a sentence.
    One after a blank line, ``apart``, may be the first of its kind.
    """
    every = sorted({**_with_values(doubtful), **headings}.items())
    after: dict[int, float] = {}
    following: dict[str, float] = {}
    for line, heading in reversed(every):
        if line in headings:
            following[heading.style] = heading.value
        else:
            after[line] = following.get(heading.style, heading.value + 1)
    filled: dict[int, Heading] = {}
    last: dict[str, float] = {}
    for line, heading in every:
        before = last.get(heading.style, 0.0 if line in apart else -1.0)
        if line in headings or before + 1 == heading.value < after[line]:
            filled[line] = heading
            last[heading.style] = heading.value
    return filled


def _numbering_restarts(
    headings: dict[int, Heading], ranks: dict[str, int], provisions: str
) -> bool:
    """Return whether most parts begin with the same provision number, so numbers are ambiguous.

    If a file contains several acts, some chapters restart and more continue.
    """
    worded = [headings[line] for line in sorted(headings) if headings[line].style in ranks]
    firsts = Counter(
        lower.number
        for upper, lower in pairwise(worded)
        if lower.style == provisions and ranks[upper.style] < ranks[lower.style]
    )
    most = max(firsts.values(), default=0)
    return most > 1 and 2 * most > firsts.total()


def _heading(
    line: LogicalLine,
    before: LogicalLine | None,
    following: Sequence[LogicalLine],
    counted: dict[int, Marker],
) -> Heading | None:
    """Return the heading in a line, by its keyword or the format; None if it is not a heading.

    ``counted`` holds the last number of each level, so that "C." after "B." is a letter.
    """
    marker = word_marker(line.text)
    if marker is not None and _is_heading(line, marker, before):
        return _keyword_heading(line, marker, following)
    if not line.level:
        return None
    markers = [m for m in list_markers(line.text) if not m.style.startswith("A.1")]
    markers = markers or [bare for bare in [bare_number(line.text)] if bare is not None]
    if not markers or not markers[0].value:
        return Heading("", "", line.text, line.level)
    last = counted.get(line.level)
    goes_on = (m for m in markers if last and (m.style, m.value - 1) == (last.style, last.value))
    marker = next(goes_on, markers[0])
    for level in [level for level in counted if level > line.level]:
        del counted[level]
    counted[line.level] = marker
    return Heading(marker.style, marker.number, line.text[marker.end :].strip(), line.level)


def _is_heading(line: LogicalLine, marker: Marker, before: LogicalLine | None) -> bool:
    """Return whether a line that begins with a keyword and a number is a heading."""
    rest = line.text[marker.end :]
    bare = rest.lstrip(_SEPARATORS)
    if not bare:
        plain = before is not None and not before.ended and not before.level
        return line.level > 0 or not (plain and before is not None and len(before.text) > 60)
    if rest[:1] in ",;)/" or bare[0].islower():
        return False
    if marker.style == "§" or line.level:
        return True
    separated = rest.lstrip(" ")[:1] in ".:—–-\t" or rest.startswith(("  ", "\t"))
    # "Section 2.01 Term. The term ...", if it does not continue the line above
    begins = before is None or before.ended or before.short
    separated = separated or (begins and title_heading(rest.lstrip(), 0) is not None)
    return separated or (len(line.text) <= 120 and not line.text.endswith((".", ";")))


def _keyword_heading(
    line: LogicalLine, marker: Marker, following: Sequence[LogicalLine]
) -> Heading:
    """Return the heading of a keyword and its number, its text from the same line or the next."""
    word = "annex" if marker.style in _ANNEX_WORDS else marker.style
    begin = len(line.text) - len(line.text[marker.end :].lstrip(_SEPARATORS))
    rest = line.text[begin:]
    if rest:
        if any(
            item.value == 1 for item in list_markers(rest)
        ):  # for example "Art. 2. 1. Nobody may ..."
            return Heading(word, _shown_number(marker), "", line.level, begin)
        match = _SENTENCE.match(rest)
        long = match and len(line.text) > 60 and len(rest) - match.end() > 20
        if match and (long or _is_full_sentence(rest[match.end() :])):
            return Heading(
                word, _shown_number(marker), match["heading"], line.level, begin + match.end()
            )
        binds = not line.level and rest.endswith((".", ";")) and BINDS.search(rest)
        if len(line.text) > LONGEST_HEADING or binds:
            return Heading(word, _shown_number(marker), "", line.level, begin)
        return Heading(word, _shown_number(marker), rest.rstrip(". "), line.level)
    # a schedule may name the provision that it belongs to before its heading
    named = word_marker(following[0].text) if word == "annex" and following else None
    source = named is not None and named.style in _PROVISION_WORDS
    source = source and named is not None and named.end == len(following[0].text.rstrip(")]. "))
    title = next(iter(following[int(source) :]), None)
    titled = title is not None and _is_title(title)
    text = title.text.rstrip(". ") if title is not None and titled else ""
    text = text[1:-1] if text[:1] == "(" and text.find(")") == len(text) - 1 else text
    return Heading(word, _shown_number(marker), text, line.level, None, int(source) + int(titled))


def _is_full_sentence(text: str) -> bool:
    """Return whether a text is at least three words that end as a sentence does."""
    return len(text.split()) > 2 and text.endswith((".", ";", ":", "—", "–"))


def _shown_number(marker: Marker) -> str:
    """Return the number; for an annex with its keyword: ``Schedule 2``."""
    if marker.style in _ANNEX_WORDS:
        return f"{marker.style.capitalize()} {marker.number}".strip()
    return marker.number


def _is_title(line: LogicalLine) -> bool:
    """Return whether a line after a bare "Article 5" is its heading."""
    if word_marker(line.text) or list_markers(line.text):
        return False
    return len(line.text) <= LONGEST_HEADING and line.text.rstrip("\"'”’)]")[-1:] not in ".;:,"


def _lettered_appendices(
    lines: Sequence[LogicalLine], contents: Collection[int], indented: bool
) -> dict[int, Heading]:
    """Return the appendices named by a letter alone: "A" before "A.1", and B after it.

    The later ones are short lines too, with the same indent if indents are meaningful.
    """
    appendices: dict[int, Heading] = {}
    candidate: tuple[int, Marker] | None = None
    column, count = 0, 0
    for number, line in enumerate(lines):
        markers = [] if number in contents or line.row or line.level else list_markers(line.text)
        marker = next((m for m in markers if m.style[0] == "A"), None)
        if marker is None:
            continue
        if marker.style != "A.":  # A.1
            if candidate is not None and marker.number.startswith(candidate[1].number + "."):
                place, opener = candidate
                appendices[place] = Heading(
                    "A.", opener.number, lines[place].text[opener.end :].strip()
                )
                column, count, candidate = lines[place].column, 1, None
        elif not appendices and marker.value == 1 and line.short:
            candidate = number, marker
        elif appendices and marker.value == count + 1 and line.short:
            if indented and line.column != column:
                continue
            appendices[number] = Heading("A.", marker.number, line.text[marker.end :].strip())
            count += 1
    return appendices


def _keyword_order(headings: Mapping[int, Heading]) -> list[str]:
    """Return the keywords, outermost first, in the usual order unless the document differs.

    A heading directly after another is nested in it.
    """
    words = {heading.style for heading in headings.values()}
    above: Counter[tuple[str, str]] = Counter()
    for (number, upper), (after, lower) in pairwise(sorted(headings.items())):
        if after == number + upper.title + 1 and upper.style != lower.style and upper.body is None:
            above[upper.style, lower.style] += 1
    order = [word for word in _ORDER if word in words]
    for _ in range(len(order)):
        for place, (first, second) in enumerate(pairwise(order)):
            if first != "annex" and above[second, first] > above[first, second]:
                order[place : place + 2] = [second, first]
    return order
