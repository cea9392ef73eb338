"""Cross-references: § 20-871(b)(1), Rule 3.2, paragraph 2 of subdivision b, 29 C.F.R. § 1607.4."""

import re
from collections.abc import Iterator
from itertools import islice

from lexloop.corpus.triplets.phrases import PHRASE_CHARS

_BLANK = r"[\s\u200e\u200f]+"
_NUMBER = r"[A-Z]{0,4}\d\w{0,8}(?:[.\-–]\w{1,8}){0,8}(?:\(\w{1,5}\)){0,6}"
_KIND = (
    r"(?i:sections?|sec\.|articles?|art\.|rules?(?!\s(?:19|20)\d\d\b)|regulations?(?!\s(?:19|20)\d\d\b)|chapters?|subchapters?|parts?|titles?"
    r"|annex(?:es)?|appendix|schedules?|recitals?)"
)
_SMALL = r"(?i:paragraphs?|sub-?paragraphs?|subdivisions?|subsections?|clauses?|items?)"
_ONE = (
    rf"(?:§§?[\s\u200e]*{_NUMBER}|{_KIND}{_BLANK}(?:{_NUMBER}|[IVXLC]{{1,6}}\b)"
    rf"|(?:Annex|Appendix|Schedule|Part){_BLANK}[A-Z]\b"
    rf"|{_SMALL}{_BLANK}(?:{_NUMBER}|\(\w{{1,5}}\)(?:\(\w{{1,5}}\)){{0,5}}|[a-z]\b))"
)
_CAPITAL = rf"(?!{_KIND}\s\W?\d(?!\d{{3}}\b))[A-Z][\w’']*"
_NAME = rf"{_CAPITAL}(?:\s(?:(?:of|and|for|on)\s(?:the\s)?)?(?:{_CAPITAL}|code\b)){{0,7}}"
_REFERENCE = re.compile(
    rf"(?<![\w§])(?:(?P<code>\d+\s(?:[A-Z]\.){{2,4}}|\d+\s[A-Z]{{2,6}})\s)?(?P<first>{_ONE})"
    rf"(?P<more>(?:(?:,|\s(?:and|or|to))+{_BLANK}{_NUMBER}){{0,8}})"
    rf"(?P<whole>(?:,?\sof\s(?:the\s)?{_ONE}){{0,4}}(?:\sof\s(?:the\s)?{_NAME})?)"
)
_INSTRUMENT = re.compile(
    r"\b(?:Local Law|Federal Law|Federal Decree[- ]Law|Public Law|Directive|Regulation)"
    r"\s(?:No\.\s?|\([A-Z]{2,3}\)\s)?\(?\d[\d/\-]*\)?(?:\sof\s\d{4})?"
)
_SECTION = re.compile(
    rf"(?:§§?[\s\u200e]*|(?P<kind>{_KIND}){_BLANK})(?P<number>{_NUMBER}|[IVXLC]+\b)"
)
_PLURAL = re.compile(
    r"^(?i:(sections?|articles?|rules?(?!\s(?:19|20)\d\d\b)|regulations?(?!\s(?:19|20)\d\d\b)|chapters?|parts?|paragraphs?"
    r"|subdivisions?|subsections?|clauses?|titles?))\b"
)
_MOST = 12
"""References read per statement; a line with more of them is a table of contents."""
_ABBREVIATED = {"sec.": "section", "art.": "article"}


def find_references(body: str) -> Iterator[tuple[int, str]]:
    """Each reference of ``body``: where it starts, and how it reads, one per number cited."""
    for match in islice(_REFERENCE.finditer(body), _MOST):
        code = f"{match['code']} " if match["code"] else ""
        first = _one(match["first"])
        whole = " ".join(["", *match["whole"].split()])
        yield match.start(), _line(code + first + whole)
        kind = re.match(r"§|\w+", first)
        for number in re.findall(_NUMBER, match["more"]):
            yield match.start(), _line(f"{code}{kind.group() if kind else ''} {number}{whole}")
    for match in islice(_INSTRUMENT.finditer(body), _MOST):
        yield match.start(), _line(match.group())


def _one(text: str) -> str:
    """The reference in the singular: "Sections 3" is "Section 3", "§§ 3" is "§ 3"."""
    text = re.sub(r"^§+[\s\u200e]*", "§ ", _line(text))
    return _PLURAL.sub(lambda word: word.group().rstrip("s"), text)


def _line(text: str) -> str:
    return " ".join(text.replace("\u200e", "").replace("\u200f", "").split())[:PHRASE_CHARS]


def section_key(label: str) -> tuple[str, str] | None:
    """Kind and number under which a section label and references to it meet.

    Subdivisions in parentheses are left out: "§ 20-871(b)(1)" and "paragraph 1 of subdivision b of
    section 20-871" both give ("section", "20-871").
    """
    match = _SECTION.search(label)
    if not match:
        return None
    kind = (match["kind"] or "section").lower()
    kind = _ABBREVIATED.get(kind, kind.rstrip("s"))
    return kind, match["number"].split("(", 1)[0].replace("–", "-").lower()
