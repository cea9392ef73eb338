"""References to provisions, in questions and texts: "Art. 5(1)(f)", "point (a) of § 7"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})$")
_KEYS = {
    "provision": r"§{1,2}|articles?|artikels?|art[ií]culos?|articol[oi]|artigos?|arts?\.?"
    r"|sections?|secs?\.|ss?\.|rules?|clauses?|cl\."
    r"|regulations?|regs?\.",
    "recital": r"recitals?",
    "annex": r"annex(?:es)?",
    "schedule": r"schedules?|sch\.",
    "appendix": r"appendix|appendices",
    "chapter": r"chapters?|ch\.",
    "part": r"parts?",
    "title": r"titles?",
    "amendment": r"amendments?",
    "table": r"tables?",
    "slide": r"slides?",
    "exception": r"exceptions?",
    "paragraph": r"paragraphs?|paras?\.?|subsections?|sub-sections?|subdivisions?|indents?"
    r"|absatz|abs\.|apartados?|alinéas?|comm[ai]",
    "point": r"points?|sub-?paragraphs?|sub-?points?|items?|letters?|sub-?clauses?",
}
_PARTS = frozenset(("chapter", "part", "title", "amendment"))
_DIVISIONS = _PARTS | {"annex", "schedule", "appendix"}
_SMALL = frozenset(("paragraph", "point"))
_NUMBER = (
    r"\d{1,15}[A-Za-z]{0,2}(?!\w)(?:[.\-–:]\d{1,5}[A-Za-z]?(?!\w)){0,6}"
    r"|(?-i:[A-Z](?:\.\d{1,4}){1,6}(?!\w)|[IVXLC]{1,7}\b|[A-Z]\b|[ivxl]{2,7}\b|(?<=\s)[a-z](?=\sof\s))"
)
CODE = r"\d{1,3}\s(?:C\.?F\.?R\.?|U\.?S\.?C\.?)"
"""A code of laws in front of a number."""
_SUBS = r"(?:\s?\([A-Za-z0-9]{1,5}\)){1,8}"
_KEYED = "|".join(f"(?P<{name}>{form})" for name, form in _KEYS.items())
_ATOM = re.compile(
    rf"(?<![\w§])(?:{_KEYED}|(?P<code>{CODE}(?:\s§{{1,2}})?))\s*"
    rf"(?:(?P<number>{_NUMBER})(?P<subs>{_SUBS})?|(?P<bare>{_SUBS}))",
    re.IGNORECASE,
)
_UNFINISHED = frozenset("by from in of per see than to under with within".split())
_REFERS = _UNFINISHED | frozenset("and for or cf. e.g. i.e.".split())
_JOINT, _FEWEST = 60, 3
"""The characters on either side of a joint that a reference may cross, and the fewest blanks before
one. With fewer blanks it may be a heading, as "Table of Articles".
"""
_MORE = re.compile(
    rf"\s*(?P<joint>,\s?(?i:and|or)\s|,|\b(?i:and|or|to|through|until)\b|[–-])\s*"
    r"(?!\d{1,3}\s(?:C\.?F\.?R|U\.?S\.?C)\b)"
    rf"(?:(?P<number>{_NUMBER})(?P<subs>{_SUBS})?|(?P<bare>{_SUBS}))"
)
_COMMA = re.compile(r",?\s+")
_OF = re.compile(r",?\s+(?:of|in|to|under)\s+(?:the\s+)?", re.IGNORECASE)
_HERE = re.compile(
    r",?\s+(?:of|in|to|under)\s+(?:this|the\s+(?:same|present|said))\s+"
    r"(?P<what>article|section|rule|regulation|clause|paragraph|subsection|schedule|annex|part)\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"(?<![\w.,§$€£])(?P<number>\d{1,4}(?:\.\d{1,4}){1,6})(?P<subs>(?:\([A-Za-z0-9]{1,5}\)){0,6})(?!\w|\s?%|\.\d)"
)
_RANGES = frozenset(("to", "through", "until", "–", "-"))
_MOST, _DEEPEST = 40, 6
_WORDS = (
    r"articles?|arts?\.?|sections?|secs?\.|rules?|regulations?|regs?\.|clauses?|recitals?"
    r"|annex(?:es)?|schedules?|appendix|chapters?|subchapters?|parts?|titles?|subtitles?|tables?"
    r"|amendments?"
)
KIND = re.compile(rf"§|\b(?:{_WORDS})(?!\w)", re.IGNORECASE)
_ACT = (
    r"(?:(?:Local|Public|Federal)\sLaw|Federal\sDecree[- ]Law)\s(?:No\.\s?)?\(?\d[\d/\-]*\)?"
    r"(?:\sof\s\d{4})?"
    r"|(?:Directive|Regulation|Decision)\s(?:\([A-Z]{2,7}\)\s)?(?:No\.?\s)?\d{1,4}/\d{1,4}"
    r"(?:/[A-Z]{2,7})?"
    r"|(?:[A-Z][\w’'-]{1,20}\s(?:(?:of|and|on|for)\s)?){1,7}Act(?:\sof)?\s(?:1[6-9]|20)\d\d"
)
_CAPITAL = rf"(?!(?i:{_WORDS})\s\W?\d)[A-Z][\w’']*"
_NAME = rf"{_CAPITAL}(?:\s(?:(?:of|and|for|on)\s(?:the\s)?)?(?:{_CAPITAL}|code\b)){{0,7}}"
ACTS = re.compile(rf"\b(?:{_ACT})")
_OF_ACT = re.compile(
    rf",?\s(?:(?:of|to|in|under)\s(?:the\s)?(?P<act>{_ACT})|of\s(?:the\s)?(?P<name>{_NAME}|code\b)"
    r"|(?P<short>[A-Z]{3,6})\b)"
)
_CODE_NAME = re.compile(r"\d{1,3}\s(?:(?:[A-Z]\.){2,4}|[A-Z]{2,6})(?=\s(?:§|\d)|\s?$)")
_CODE_CHARS = 12
COMPOUND = re.compile(r"\d[.\-–:]\d")
"""A number such as "20-871", which few acts use."""
ABBREVIATED = (
    {"art": "article", "sec": "section", "reg": "regulation"}
    | dict.fromkeys("artikel artículo articulo articolo artigo".split(), "article")
    | dict.fromkeys("annexe anhang anexo allegato bijlage".split(), "annex")
    | dict.fromkeys("kapitel chapitre capítulo capitolo hoofdstuk".split(), "chapter")
    | dict.fromkeys("titel titre título titolo".split(), "title")
    | dict.fromkeys("teil partie".split(), "part")
)
"""Other words for a unit: abbreviations and other languages."""


class Step(NamedTuple):
    """One step down a tree: a keyword, and a number in lower case."""

    key: str
    number: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A provision that a text points to.

    Args:
        steps: From the outermost unit named to the innermost.
        last: For a range, the steps of its end; otherwise empty.
        here: The unit around the text that it starts from: ``article`` in "of this Article".
        itself: Whether the text refers to its own provision: "this Section 4.3".
    """

    start: int
    end: int
    steps: tuple[Step, ...]
    last: tuple[Step, ...] = ()
    here: str = ""
    itself: bool = False


def find_references(text: str) -> list[Reference]:
    """Return the references in a text in order, one for each number; at most 40."""
    references: list[Reference] = []
    at = 0
    while len(references) < _MOST and (atom := _ATOM.search(text, at)):
        group, at = _group(text, atom, _DEEPEST)
        references += group
    return references[:_MOST]


def loose_numbers(text: str) -> list[Reference]:
    """Return numbers such as "404.2.3" that name a provision without a keyword."""
    taken = [range(r.start, r.end) for r in find_references(text)]
    return [
        Reference(m.start(), m.end(), (Step("provision", m["number"]), *_subs(m["subs"])))
        for m in _LOOSE.finditer(text)
        if not any(m.start() in span for span in taken)
    ][:_MOST]


@lru_cache(maxsize=1 << 14)
def steps_of(label: str) -> tuple[Step, ...]:
    """Return the steps that lead to a unit, read off its label; empty without a number."""
    references = find_references(label)
    return (
        references[0].steps
        if references and references[0].start == 0 and references[0].end == len(label)
        else ()
    )


def _refers(before: str) -> bool:
    words = before.lower().split()
    return before[-1:] == " " and bool(words) and words[-1].lstrip("(") in _REFERS


def lies_over(before: str, after: str) -> bool:
    """Return whether the next text completes a reference: "in Article", "31."; "in", "§ 4."."""
    before = " ".join(before[-_JOINT:].split())
    if before.count(" ") < _FEWEST:
        return False
    after = after[:_JOINT].lstrip()
    if after[:1].isdigit() and before.rpartition(" ")[2].lstrip("(") in ("No.", "Nos.", "Nr."):
        return True
    if before.rpartition(" ")[2] in _UNFINISHED and _ATOM.match(after):
        return True
    text = f"{before} {after}"
    over = (m for m in _ATOM.finditer(text) if m.start() < len(before) < m.end())
    return any(_refers(before[: m.start()]) or before[m.start()] == "§" for m in over)


def ends_in_reference(text: str) -> bool:
    """Return whether a text ends with a provision and its number: "as listed in Annex I"."""
    tail = text[-_JOINT:]
    return any(match.end() == len(tail) for match in _ATOM.finditer(tail))


def roman_value(text: str) -> int:
    """Return the value of a Roman numeral in lower case; 0 if it is not one."""
    if not text or len(text) > 15 or not _ROMAN.match(text):
        return 0
    values = [_ROMAN_VALUES[letter] for letter in text]
    return sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )


def _group(text: str, atom: re.Match[str], depth: int) -> tuple[list[Reference], int]:
    """Return the references of one keyword: all its numbers, with the provisions around them."""
    key = _key(atom)
    named = [_steps(key, atom)]
    ranges: set[int] = set()
    end = atom.end()
    while len(named) < _MOST and (more := _MORE.match(text, end)):
        following = _next_number(key, named[-1], more)
        if following is None:
            break
        if more["joint"].strip(" ,").lower() in _RANGES:
            ranges.add(len(named))
        named.append(following)
        end = more.end()
    self_word = ""
    if depth:
        named, end, self_word = _completed(text, named, atom, end, depth - 1)
    before = text[max(0, atom.start() - _JOINT) : atom.start()]
    itself = before[-1:].isspace() and before.lower().split()[-1:] == ["this"]
    references: list[Reference] = []
    for place, steps in enumerate(named):
        if place in ranges:
            references[-1] = replace(references[-1], last=steps, end=end)
        else:
            references.append(Reference(atom.start(), end, steps, here=self_word, itself=itself))
    return references, end


def _completed(
    text: str, named: list[tuple[Step, ...]], atom: re.Match[str], end: int, depth: int
) -> tuple[list[tuple[Step, ...]], int, str]:
    """Return references completed by the text after them: "of Article 5(1)", ", point 4"."""
    if self_word := _HERE.match(text, end):
        return named, self_word.end(), self_word["what"].lower()
    key = _key(atom)
    joined = _OF.match(text, end)
    if joined and (outer := _ATOM.match(text, joined.end())):
        (upper, *_), stop = _group(text, outer, depth)
        divided = upper.steps and upper.steps[0].key in _DIVISIONS
        if upper.steps and (key in _SMALL or divided or _holds(outer, atom)):
            inner = [tuple(_division(s, upper) for s in steps) for steps in named]
            return [(*upper.steps, *steps) for steps in inner], stop, upper.here
    comma = _COMMA.match(text, end)
    if comma and len(named) == 1 and (inner_atom := _ATOM.match(text, comma.end())):
        inner_key = _key(inner_atom)
        smaller = inner_key in _SMALL | {"exception"} or key in _DIVISIONS - {inner_key}
        if smaller or _holds(atom, inner_atom):
            group, stop = _group(text, inner_atom, depth)
            upper = Reference(0, 0, named[0])
            return [(*named[0], *(_division(s, upper) for s in r.steps)) for r in group], stop, ""
    return named, end, ""


def _holds(outer: re.Match[str], inner: re.Match[str]) -> bool:
    """Return whether two keywords are an article and a section within it."""
    upper, lower = (atom["provision"] or "" for atom in (outer, inner))
    return upper[:3].lower() == "art" and lower[:3].lower() in ("sec", "§")


def _division(step: Step, upper: Reference) -> Step:
    """Return a step below a chapter: there "Section 2" is a part and not a provision."""
    parts = upper.steps[0].key in _PARTS | {"provision"}
    return Step("section", step.number) if parts and step.key == "provision" else step


def _key(atom: re.Match[str]) -> str:
    return "provision" if atom["code"] else next(name for name in _KEYS if atom[name])


def _steps(key: str, match: re.Match[str]) -> tuple[Step, ...]:
    subs = _subs(match["subs"] or match["bare"] or "")
    if not match["number"]:
        return subs
    shown_key = "" if key in _SMALL else key
    return (Step(shown_key, match["number"].lower()), *subs)


def _subs(brackets: str) -> tuple[Step, ...]:
    return tuple(Step("", number.lower()) for number in re.findall(r"\((\w+)\)", brackets))


def _next_number(
    key: str, before: tuple[Step, ...], more: re.Match[str]
) -> tuple[Step, ...] | None:
    """Return another number of the same keyword; brackets alone replace the previous ones."""
    number, subs = more["number"], _subs(more["subs"] or more["bare"] or "")
    if number:
        if not number[0].isdigit() and key not in _DIVISIONS:
            return None
        return (Step("" if key in _SMALL else key, number.lower()), *subs)
    kept = before[:1] if before[:1] and before[0].key else ()
    rest = before[len(kept) :]
    # "(c)(3) to (c)(5)" repeats the full path, "(c)(3) to (5)" only its end
    keep = max(0, len(rest) - len(subs))
    same_style = rest and subs and rest[0].number.isdigit() == subs[0].number.isdigit()
    if len(subs) > len(rest) or (same_style and len(subs) == len(rest)):
        keep = 0
    return (*kept, *rest[:keep], *subs)


class Elsewhere(NamedTuple):
    """The act or code that a reference belongs to, and the span with its words.

    Args:
        act: "Code", "Directive 95/46/EC"; "" if none follows.
        code: Code before it: "29 C.F.R.".
    """

    act: str
    code: str
    start: int
    end: int


def elsewhere(text: str, reference: Reference) -> Elsewhere:
    """Return the act and the code that a text gives with a reference."""
    named = _OF_ACT.match(text, reference.end)
    act = (named["act"] or named["name"] or named["short"]) if named else ""
    end = named.end() if named else reference.end
    start = reference.start
    code = _CODE_NAME.search(text, max(0, start - _CODE_CHARS), start + _CODE_CHARS)
    if code is None or not code.start() <= start <= code.end() + 1:
        return Elsewhere(act, "", start, end)
    return Elsewhere(act, code.group(), min(start, code.start()), end)


class Cited(NamedTuple):
    """The provision that a label or a reference names, in one normal form.

    Args:
        kind: ``article``, ``section``; "" if any matches.
        number: Its numbers from the outermost, joined by bars: ``5|1|a``.
        act: Act that it belongs to: "the Code"; "" for its own document.
        code: Code before it: "29 C.F.R.".
    """

    kind: str
    number: str
    act: str
    code: str
    start: int


@lru_cache(maxsize=1 << 13)
def cited(text: str) -> Cited | None:
    """Return the first provision that a text names by a number, or None."""
    return next(every_cited(text), None)


def every_cited(text: str) -> Iterator[Cited]:
    """Yield the provisions that a text names by their numbers, in order."""
    for reference in find_references(text):
        outer = next((step for step in reference.steps if step.key), None)
        if outer is None:
            continue
        written = text[reference.start : reference.end]
        kinds = [match.group().lower().rstrip(".s") for match in KIND.finditer(written)]
        kind = outer.key
        if kind == "provision":
            sectioned = any(step.key == "section" for step in reference.steps)
            kind = "article" if sectioned else kinds[-1] if kinds else "section"
        kind = "section" if kind == "§" else ABBREVIATED.get(kind, kind)
        number = "|".join(step.number.replace("–", "-") for step in reference.steps)
        act, code, start, _ = elsewhere(text, reference)
        yield Cited(kind, number, act, code, start)
