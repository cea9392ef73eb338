"""What a statement refers to: provisions of its document, provisions of others, and other acts."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from lexloop.corpus.structure.references import Reference, Step, find_references
from lexloop.corpus.structure.tree import Tree
from lexloop.corpus.triplets.phrases import PHRASE_CHARS

_WORDS = (
    r"articles?|arts?\.?|sections?|secs?\.|rules?|regulations?|regs?\.|clauses?|recitals?"
    r"|annex(?:es)?|schedules?|appendix|chapters?|subchapters?|parts?|titles?|tables?"
)
_KIND = re.compile(rf"§|\b(?:{_WORDS})(?!\w)", re.IGNORECASE)
_ACT = (
    r"(?:(?:Local|Public|Federal)\sLaw|Federal\sDecree[- ]Law)\s(?:No\.\s?)?\(?\d[\d/\-]*\)?"
    r"(?:\sof\s\d{4})?"
    r"|(?:Directive|Regulation|Decision)\s(?:\([A-Z]{2,7}\)\s)?(?:No\.?\s)?\d{1,4}/\d{1,4}"
    r"(?:/[A-Z]{2,7})?"
    r"|(?:[A-Z][\w’'-]{1,20}\s(?:(?:of|and|on|for)\s)?){1,7}Act(?:\sof)?\s(?:1[6-9]|20)\d\d"
)
_CAPITAL = rf"(?!(?i:{_WORDS})\s\W?\d)[A-Z][\w’']*"
_NAME = rf"{_CAPITAL}(?:\s(?:(?:of|and|for|on)\s(?:the\s)?)?(?:{_CAPITAL}|code\b)){{0,7}}"
_ACTS = re.compile(rf"\b(?:{_ACT})")
_OF_ACT = re.compile(
    rf",?\s(?:(?:of|to|in|under)\s(?:the\s)?(?P<act>{_ACT})|of\s(?:the\s)?(?P<name>{_NAME}|code\b)"
    r"|(?P<short>[A-Z]{3,6})\b)"
)
_CODE = re.compile(r"\d{1,3}\s(?:(?:[A-Z]\.){2,4}|[A-Z]{2,6})(?=\s(?:§|\d)|\s?$)")
_THIS = re.compile(r"\b[Tt]his ([A-Z][a-z]+)")
_READ, _TITLE, _CODE_CHARS = 1_000_000, 400, 12
COMPOUND = re.compile(r"\d[.\-–:]\d")
"""A number such as "20-871", which few acts have."""
_ABBREVIATED = {"sec": "section", "art": "article", "reg": "regulation", "annexe": "annex"}
_MOST = 60
"""References read per statement; a line with more of them is a table of contents."""


class Target(NamedTuple):
    """What words refer to.

    Args:
        start: Where they begin in the text that refers.
        end: Where they end.
        name: The label of a provision of the same document, or how another is called.
        own: Whether it is a provision of the same document.
    """

    start: int
    end: int
    name: str
    own: bool


class References:
    """Finds out what the statements of one document refer to.

    Args:
        tree: The document's tree.
        text: Its text.
        title: Its title.
    """

    def __init__(self, tree: Tree, text: str, title: str) -> None:
        self._tree, self._places = tree, tree.found_by
        first = text.lstrip()[:_TITLE].partition("\n")[0]
        self._heading = f"{title}\n{first}".lower()
        self._own = {*_THIS.findall(text[:_READ]), *re.findall(r"[A-Z][a-z]+", title)}

    def of(self, body: str, place: int) -> list[Target]:
        """The targets of a statement in its order, a range as all that it holds.

        Args:
            body: The statement.
            place: Of the unit that it stands in; "paragraph 1" starts there.
        """
        acts = [
            m for m in islice(_ACTS.finditer(body), _MOST) if m.group().lower() not in self._heading
        ]
        found = [Target(m.start(), m.end(), _line(m.group()), own=False) for m in acts]
        taken = [m.span() for m in _ACTS.finditer(body)] if acts else []
        for reference in find_references(body):
            if not any(start <= reference.start < end for start, end in taken):
                found += self._targets(body, reference, place)
        return sorted(found[:_MOST], key=lambda target: target.start)

    def _targets(self, body: str, reference: Reference, place: int) -> Iterator[Target]:
        elsewhere = _OF_ACT.match(body, reference.end)
        name = elsewhere["act"] or elsewhere["name"] or elsewhere["short"] if elsewhere else ""
        code = _code_before(body, reference.start)
        foreign = code is not None or bool(name and name.split()[0] not in self._own)
        said = _line(body[reference.start : reference.end])
        if not foreign or COMPOUND.search(said):
            found = self._places.find(reference, place)
            for label in dict.fromkeys(self._tree.units[p].label for p in found):
                yield Target(reference.start, reference.end, label, own=True)
            if found:
                return
        kind = _KIND.search(said)
        if not reference.steps[0].key or not (kind or code):
            return  # "paragraph 2" of nothing named
        whole = _named(said, reference.steps, kind.group() if kind else "")
        start, end = reference.start, elsewhere.end() if elsewhere else reference.end
        if code and code.start() < start:
            start, whole = code.start(), f"{code.group()} {whole}"
        yield Target(start, end, _line(whole + body[reference.end : end]), own=False)

    def this(self, place: int) -> dict[str, str]:
        """What "this section" and the like stand for where a unit stands: words -> label."""
        found: dict[str, str] = {}
        for above in (place, *self._tree.above(place)) if place >= 0 else ():
            unit = self._tree.units[above]
            for name in _names_of(unit.kind, unit.label):
                found.setdefault(f"this {name}", unit.label)
        return found


def _names_of(kind: str, label: str) -> tuple[str, ...]:
    word = label.split(" ", maxsplit=1)[0].lower()
    if kind == "provision":
        return ("section", "article", "rule", "clause", word)
    if kind == "paragraph":
        return ("paragraph", "subsection", "subdivision")
    return (word,) if kind in ("part", "annex") else ()


def _named(said: str, steps: tuple[Step, ...], kind: str) -> str:
    """A reference to one number, in the singular: of "Rules 3.2 and 3.4" the second."""
    if not re.search(r",|\s(?:and|or|to)\s", said):
        return re.sub(r"^§+\s*", "§ ", _KIND.sub(lambda m: _singular(m.group()), said, count=1))
    number = steps[0].number
    written = re.search(re.escape(number), said, re.IGNORECASE)
    subs = "".join(f"({step.number})" for step in steps[1:])
    return f"{_singular(kind)} {written.group() if written else number}{subs}"


def _singular(word: str) -> str:
    return {"annexes": "annex", "Annexes": "Annex"}.get(word, word.rstrip("s"))


def _line(text: str) -> str:
    return " ".join(text.split())[:PHRASE_CHARS].rstrip()


def _code_before(text: str, start: int) -> re.Match[str] | None:
    """The code that a reference begins with, or that stands in front of it."""
    found = _CODE.search(text, max(0, start - _CODE_CHARS), start + _CODE_CHARS)
    return found if found and found.start() <= start <= found.end() + 1 else None


class Cited(NamedTuple):
    """What a label or a reference names, on one scale for all ways to write it.

    Args:
        kind: ``article``, ``section``; empty where any will do.
        number: Its numbers from the outermost, joined by bars: ``5|1|a``.
        act: What it is said to be part of: "the Code"; empty for its own document.
        code: The code in front of it: "29 C.F.R.".
        start: Where the reference begins in the text.
    """

    kind: str
    number: str
    act: str
    code: str
    start: int


@lru_cache(maxsize=1 << 15)
def cited(text: str) -> Cited | None:
    """The first provision that a text names by a number; None where there is none."""
    return next(every_cited(text), None)


def every_cited(text: str) -> Iterator[Cited]:
    """The provisions that a text names by their numbers, in order."""
    for reference in find_references(text):
        outer = next((step for step in reference.steps if step.key), None)
        if outer is None:
            continue
        said = text[reference.start : reference.end]
        kinds = [match.group().lower().rstrip(".s") for match in _KIND.finditer(said)]
        kind = outer.key
        if kind == "provision":
            kind = kinds[-1] if kinds else "section"
        kind = "section" if kind == "§" else _ABBREVIATED.get(kind, kind)
        number = "|".join(step.number.replace("–", "-") for step in reference.steps)
        named = _OF_ACT.match(text, reference.end)
        act = (named["act"] or named["name"] or named["short"]) if named else ""
        code = _code_before(text, reference.start)
        start = min(reference.start, code.start()) if code else reference.start
        yield Cited(kind, number, act, code.group() if code else "", start)
