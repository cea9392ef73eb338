"""What tells documents apart: the numbers, files, days and names by which a question means some.

A number is a name if the documents use it so or the question does: "contract 4712", "No. 12/24",
"P-171"; a sum, a year, a time and the number of a provision are none. What a document is called
stands in its name, its title and its opening lines.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

from lexloop.core.folding import folded, narrowed
from lexloop.documents.structure.references import find_references, loose_numbers
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.quantities import MONTHS, TIMES, dates
from lexloop.documents.text.tokens import PIECE, STOP_WORDS, term_set, tokenize, words
from lexloop.store.view import View

_LONG = 4
"""The digits of a number that is a name if no document shows it."""
_NEAR = 120
"""How many characters before a number or a file's name say what it is."""
_OPENING = 1_500
"""Characters in which a document names itself."""
_FEW, _TITLES, _READ = 200, 2_000, 20
"""The most documents that are searched for a day or a number, for a word of a title, and for a
party or how they use a noun."""
NUMBERED = r"(?:numbers?\s|nos?\b\.?|nr\b\.?|nº|n°|№|#)\s*"
"""The sign before a number that is a name."""
IDENTIFIER = re.compile(
    rf"(?<![\w.,/$€£¥(-])(?P<no>{NUMBERED})?(?P<id>[A-Za-z]{{0,9}}[-/]?\d[\w]*(?:[-/.]\w+)*)(?![\w%°])",
    re.IGNORECASE,
)
"""A number that may be a name: "4712", "No. 12/24", "P-171"."""
_COUNTED = re.compile(
    rf"(?:{TIMES}|%|[ap]\.?m\b|{'|'.join(MONTHS)}|[^\W\d_]+s\b)",
    re.IGNORECASE,
)
"""What stands behind a number that counts something, or is a time."""
_LETTERED = re.compile(r"[A-Za-z]+(?:[-/]\w|\d\d)")
_NOUN = re.compile(
    r"(?:(?P<det>the|this|that|our|my|your|an?)\s+)?(?P<noun>[^\W\d_][\w'’-]{0,60})\s++$", re.I
)
_DOES = frozenset("do does did has have will must may can shall should".split())
_OF = frozenset("of under in for on by with from".split())
_FILE = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.(?P<suffix>[A-Za-z]\w{1,4})\b")
_THE = re.compile(r"\b(?:the|this|that|our|my|your)(?=\s+(?P<words>\w+(?:[\s-]+\w+){0,3}))", re.I)
_OR = r"(?:and|or|with|to|und|et|e|y)\s\s*+"
_JOINED = re.compile(rf"\s*+(?:,\s*+(?:{_OR})?|{_OR})", re.IGNORECASE)
_MONTHS = "|".join(MONTHS)
_DAY = re.compile(
    rf"\b(?:\d{{1,2}}\s+(?:{_MONTHS})|(?:{_MONTHS})(?:\s+\d{{1,2}})?),?\s+\d{{4}}\b", re.IGNORECASE
)
_DATING = ("of", "dated", "from")
"""Words between a document and its day."""
_LED = re.compile(
    r"(?:^|(?<!\s)\s++)(?:of|for|in|at|under|on|by|per|from|according to)\s++(?:the\s++file\s++)?$",
    re.IGNORECASE,
)
"""What leads to the name of a document."""


class Heads:
    """What the documents are called, and in which of them words stand."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.titles = view.titles
        self.called = {name: f"{name} {title}" for name, title in view.titles.items()}

    def with_id(self, written: str) -> frozenset[str]:
        """Return the documents that have a number in their name or title, else their opening."""
        has = whole(written).search
        titled = frozenset(name for name, called in self.called.items() if has(called))
        return titled or frozenset(name for name in self._few(written) if has(self.opening(name)))

    def are_called(self, names: Set[str], written: str) -> bool:
        """Return whether a number stands in the names or titles of documents."""
        return all(whole(written).search(self.called[name]) for name in names)

    def holding(self, written: str) -> frozenset[str]:
        """Return the documents that have a number, wherever it stands."""
        has, few = whole(written).search, self._few(written)
        texts = zip(few, self._view.texts_of(few), strict=True)
        return frozenset(name for name, text in texts if has(text))

    def _few(self, written: str) -> Sequence[str]:
        # the "A" of "A-3" is no term
        longest = max(PIECE.findall(written), key=lambda piece: (bool(term_set(piece)), len(piece)))
        return self._view.having([longest])[:_FEW]

    def having(self, word: str) -> frozenset[str]:
        """Return the documents that say a word, or another of its stem."""
        return frozenset(self._view.having([word.lower()]))

    def opening(self, name: str) -> str:
        """Return the lines before the first provision of a document, in usual letters."""
        tree, text = self._view.tree_of(name), self._view.text_of(name) or ""
        units = tree.units if tree is not None else ()
        first = next((u.start for u in units if u.kind == "provision" and u.start), _OPENING)
        return narrowed(text[: min(first, _OPENING)])

    def parties(self, name: str) -> frozenset[str]:
        """Return the terms of the names of a document's parties."""
        found = parties_of(self._view.text_of(name) or "")
        return term_set(" ".join(one.name for one in found))

    def names_so(self, noun: str) -> bool:
        """Return whether the documents put numbers behind a noun, best of all in their titles."""
        stem = re.escape(noun.lower().removesuffix("s"))
        has = re.compile(rf"\b{stem}s?[\s_-]+(?:{NUMBERED})?\d", re.IGNORECASE).search
        if any(map(has, self.called.values())):
            return True
        few = self._view.having([noun.lower()])[:_READ]
        return any(map(has, self._view.texts_of(few)))

    def told_by(self, word: str) -> frozenset[str]:
        """Return the documents that a word of their title tells from the others; of none, nothing.

        No other document may say it, unless it is one of the same form.
        """
        terms = term_set(word)
        of = frozenset(n for n, called in self.called.items() if terms and terms <= _called(called))
        if not of or len(of) == len(self.titles):
            return frozenset()
        return of if self.are_alike(of, self.having(word) - of) else frozenset()

    def are_alike(self, some: Set[str], others: Set[str]) -> bool:
        """Return whether others are documents of one form: their titles share half of all words."""
        pairs = ((self.titles[one], self.titles[other]) for one in some for other in others)
        return bool(some) and all(of_one_form(one, other) for one, other in pairs)


def of_one_form(title: str, other: str) -> bool:
    """Return whether two titles share half of the words of the longer: two leases, two policies."""
    mine, theirs = term_set(title), term_set(other)
    return 2 * len(mine & theirs) >= max(len(mine), len(theirs))


@lru_cache(maxsize=1 << 13)
def _called(called: str) -> frozenset[str]:
    return term_set(" ".join(PIECE.findall(folded(called))))


@lru_cache(maxsize=64)
def whole(written: str) -> re.Pattern[str]:
    """Return what finds a word or number as it is written, in any case of letters."""
    return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)", re.IGNORECASE)


class Apart(NamedTuple):
    """What a question names documents by.

    Args:
        documents: The ones that are meant; empty if nothing tells them apart.
        sure: Whether a number, a file or a day says so, and not words of a title alone.
        absent: The numbers and files that are asked for by name and are of no document.
        outside: What of the question names them, each with what stands for it inside them.
    """

    documents: list[str]
    sure: bool
    absent: list[str]
    outside: Mapping[str, str]


class _Mark(NamedTuple):
    documents: frozenset[str]
    written: str
    said: str
    instead: str


def told_apart(text: str, view: View) -> Apart:
    """Return the documents that a question tells from the others, and what none of them has."""
    heads = Heads(view)
    exact = [*_files(text, heads), *_numbers(text, heads), *_days(text, heads)]
    absent = list(dict.fromkeys(mark.written for mark in exact if not mark.documents))
    marks = [mark for mark in exact if mark.documents]
    marks += [*_names(text, heads), *_parties(text, heads)]
    found = frozenset[str]()
    for mark in marks:
        found = (found & mark.documents) or found | mark.documents
    if len(found) == len(view.documents):
        found = frozenset()
    outside = {mark.said: mark.instead for mark in marks if mark.said} if len(found) == 1 else {}
    return Apart(sorted(found), bool(absent or (found and exact)), absent, outside)


def inside(text: str, outside: Mapping[str, str]) -> str:
    """Return a question, or a part of one, as it is asked inside the documents that it names."""
    for said, instead in outside.items():
        text = text.replace(said, instead)
    text = text.strip(" ,")
    return text if tokenize(text) else ""


def _files(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the files that a question names, those that are not there among them."""
    suffixes = {name.rpartition(".")[2].lower() for name in heads.titles if "." in name}
    for found in _FILE.finditer(text):
        if found["suffix"].lower() not in suffixes:
            continue
        before = f" {text[: found.end()].lower()}"
        of = [name for name in heads.titles if before.endswith((f" {name}".lower(), _last(name)))]
        longest = max((len(name) for name in map(_last, of)), default=0) - 1
        begin = min(found.start(), found.end() - longest)
        lead = _before(_LED, text, begin)
        said = text[lead.start() if lead else begin : found.end()]
        yield _Mark(frozenset(of), found.group(), said, "" if lead else "it")


def _last(name: str) -> str:
    """Return the last part of a document's path in small letters, behind a blank."""
    return f" {name.rpartition('/')[2]}".lower()


def _numbers(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the numbers that a question uses as names."""
    taken = [range(r.start, r.end) for r in (*find_references(text), *loose_numbers(text))]
    taken += [range(*found.span()) for found in _DAY.finditer(text)]
    last = -1
    for found in IDENTIFIER.finditer(text):
        if any(found.start("id") in span for span in taken):
            continue
        noun = _before(_NOUN, text, found.start())
        goes_on = last >= 0 and _JOINED.fullmatch(text, last, found.start()) is not None
        if not goes_on and not _is_name(text, found, noun, heads):
            continue
        last = found.end()
        written = found["id"]
        of = heads.with_id(written)
        others = heads.holding(written) - of
        if (others and not heads.are_alike(of, others)) or (not of and _is_year(written)):
            continue
        said, instead = found.group(), "this document"
        if noun and noun["noun"].lower() not in STOP_WORDS:
            said = text[noun.start() : found.end()]
            led = _word_before(text, noun.start())
            whole = noun["det"] or not led.isalnum() or led in STOP_WORDS
            instead = f"{noun['det'] or 'the'} {noun['noun']}" if whole else noun["noun"]
        # a number that stands in a document's text alone may be one of several there
        yield _Mark(of, written, said if heads.are_called(of, written) else "", instead)


def _is_name(text: str, found: re.Match[str], noun: re.Match[str] | None, heads: Heads) -> bool:
    """Return whether a number is a name: by its form, what documents are called, or its place."""
    written = found["id"]
    if found["no"] or _LETTERED.match(written):
        return True
    counts = not written[-1].isdigit() or _COUNTED.match(text[found.end() :].lstrip())
    if noun is None or noun["noun"].lower() in STOP_WORDS or counts:
        return False
    if heads.names_so(noun["noun"]):
        return True
    if not written.isdigit() or len(written) < _LONG or _is_year(written):
        return False
    behind, led = text[found.end() :], _word_before(text, noun.start())
    ends = not behind[:1].isspace() or not STOP_WORDS.isdisjoint(words(behind)[:1])
    return led in _DOES or (ends and led in _OF)


def _before(pattern: re.Pattern[str], text: str, end: int) -> re.Match[str] | None:
    """Return what a pattern finds right before a place; it looks no further back than it must."""
    return pattern.search(text, max(0, end - _NEAR), end)


def _word_before(text: str, end: int) -> str:
    """Return the word that ends right before a place, in small letters."""
    return (text[max(0, end - _NEAR) : end].split() or [""])[-1].lower()


def _is_year(written: str) -> bool:
    return written.isdecimal() and 1600 <= int(written) < 2100


def _days(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the days that a question calls documents by: "the lease of 3 May 2021"."""
    for found in _DAY.finditer(text):
        led = _word_before(text, found.start())
        if led not in _DATING:
            continue
        written = text[text.lower().rindex(led, 0, found.start()) : found.end()]
        said = dates(written) | {written[-4:]}
        few = [*heads.titles][:_FEW]
        of = [n for n in few if said <= _days_of(f"{heads.called[n]}\n{heads.opening(n)}")]
        if 0 < len(of) < len(heads.titles):
            yield _Mark(frozenset(of), written, f" {written}", "")


@lru_cache(maxsize=1 << 10)
def _days_of(opening: str) -> Set[str]:
    return dates(opening) | set(re.findall(r"\b\d{4}\b", opening))


def _names(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the words of titles and file names by which a question means some documents."""
    if not 1 < len(heads.titles) <= _TITLES:
        return
    for found in _THE.finditer(text):
        phrase = [*takewhile(lambda m: m.group().lower() not in STOP_WORDS, _words_of(found))]
        telling = [of for word in phrase if (of := heads.told_by(word.group()))]
        if telling:
            of = frozenset.intersection(*telling) or frozenset[str]().union(*telling)
            yield _Mark(of, "", *_outside(text, found, phrase, len(telling)))


def _parties(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the words of parties' names that no document says but those whose parties they are."""
    if len(heads.titles) < 2:
        return
    every = frozenset(heads.titles)
    for word in dict.fromkeys(re.findall(r"[^\W\d_]{3,}", text.lower())):
        of = every if word in STOP_WORDS else heads.having(word)
        few = of < every and 0 < len(of) <= _READ
        if few and all(term_set(word) <= heads.parties(name) for name in of):
            yield _Mark(of, "", "", "")


def _words_of(found: re.Match[str]) -> Iterator[re.Match[str]]:
    return PIECE.finditer(found.string, *found.span("words"))


def _outside(
    text: str, found: re.Match[str], phrase: Sequence[re.Match[str]], telling: int
) -> tuple[str, str]:
    """Return what of a question only says which document is meant, and what stands for it.

    That is "of the ferry", and "ferry's" of "the ferry's licensee".
    """
    end = phrase[-1].end()
    if text.startswith(("'s ", "’s "), end):
        return text[phrase[0].start() : end + len("'s ")], ""
    lead = _before(_LED, text, found.start())
    return (text[lead.start() : end], "") if lead and telling else ("", "")
