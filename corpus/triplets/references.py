"""Cross-references: § 20-871(b)(1), Rule 3.2, paragraph 2 of subdivision b, 29 C.F.R. § 1607.4."""

import re
from collections.abc import Iterator

from lexloop.corpus.triplets.phrases import readable

_BLANK = r"[\s\u200e\u200f]+"
_NUMBER = r"[A-Z]{0,4}\d\w{0,8}(?:[.\-–]\w{1,8}){0,8}(?:\(\w{1,5}\)){0,6}"
_KIND = (
    r"(?i:sections?|sec\.|articles?|art\.|rules?|regulations?|chapters?|subchapters?|parts?|titles?"
    r"|annex(?:es)?|appendix|schedules?|recitals?)"
)
_SMALL = r"(?i:paragraphs?|sub-?paragraphs?|subdivisions?|subsections?|clauses?|items?)"
_ONE = (
    rf"(?:§§?[\s\u200e]*{_NUMBER}|{_KIND}{_BLANK}(?:{_NUMBER}|[IVXLC]{{1,6}}\b|[A-Z]\b)"
    rf"|{_SMALL}{_BLANK}(?:{_NUMBER}|\(\w{{1,5}}\)(?:\(\w{{1,5}}\)){{0,5}}|[a-z]\b))"
)
_NAME = r"(?:[A-Z][\w.’']*)(?:\s(?:(?:of|and|for|on)\s(?:the\s)?)?(?:[A-Z][\w.’']*|[Cc]ode)){0,7}"
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
_PLURAL = re.compile(r"^(?i:(sections?|articles?|rules?|regulations?|chapters?|parts?|paragraphs?"
                     r"|subdivisions?|subsections?|clauses?|titles?))\b")
_ABBREVIATED = {"sec.": "section", "art.": "article"}


def find_references(body: str) -> Iterator[tuple[int, str]]:
    """Each reference of ``body``: where it starts, and how it reads, one per number cited."""
    for match in _REFERENCE.finditer(body):
        code = f"{match['code']} " if match["code"] else ""
        first = _one(match["first"])
        whole = " ".join(match["whole"].split())
        yield match.start(), readable(code + first + whole).rstrip(".")
        kind = re.match(r"§|\w+", first)
        for number in re.findall(_NUMBER, match["more"]):
            yield match.start(), readable(f"{code}{kind.group() if kind else ''} {number}{whole}")
    for match in _INSTRUMENT.finditer(body):
        yield match.start(), readable(match.group())


def _one(text: str) -> str:
    """The reference in the singular: "Sections 3" is "Section 3", "§§ 3" is "§ 3"."""
    text = re.sub(r"^§+[\s\u200e]*", "§ ", readable(text))
    return _PLURAL.sub(lambda word: word.group().rstrip("s"), text)


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
