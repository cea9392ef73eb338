"""Finding the documents that a question names by numbers, files, days and words of their names.

A number is a name if the documents or the question use it as one: "contract 4712", "No. 12/24",
"P-171". A sum, a year, a time and the number of a provision are not. The names of a document are in
its file name, its title and its opening lines.
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
"""The fewest digits of a number that is a name even if no document has it."""
_NEAR = 120
"""How many characters before a number or a file name tell what it is."""
_OPENING = 1_500
"""How many characters of a document may name it."""
_FEW, _TITLES, _READ = 200, 2_000, 20
"""The most documents that are searched for a day or a number; for a word of a title; for a party or
the use of a noun."""
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
"""The word after a number that counts something, or is a time."""
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
"""The words before the name of a document."""


class Heads:
    """The names of documents, and searches for words in them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.titles = view.titles
        self.names = {name: f"{name} {title}" for name, title in view.titles.items()}

    def with_id(self, number: str) -> frozenset[str]:
        """Return the documents with a number in their name or title, or else in their opening."""
        has = whole(number).search
        titled = frozenset(name for name, names in self.names.items() if has(names))
        return titled or frozenset(name for name in self._few(number) if has(self.opening(name)))

    def holding(self, number: str) -> frozenset[str]:
        """Return the documents with a number anywhere."""
        has, few = whole(number).search, self._few(number)
        texts = zip(few, self._view.texts_of(few), strict=True)
        return frozenset(name for name, text in texts if has(text))

    def _few(self, number: str) -> Sequence[str]:
        # the "A" of "A-3" is not a term
        longest = max(PIECE.findall(number), key=lambda piece: (bool(term_set(piece)), len(piece)))
        return self._view.having([longest])[:_FEW]

    def having(self, word: str) -> frozenset[str]:
        """Return the documents with a word, or another of its stem."""
        return frozenset(self._view.having([word.lower()]))

    def opening(self, name: str) -> str:
        """Return the lines before a document's first provision, in ordinary letters."""
        document = self._view.document(name)
        units = (u.start for u in document.tree.units if u.kind == "provision" and u.start)
        return narrowed(document.text[: min(next(units, _OPENING), _OPENING)])

    def parties(self, name: str) -> frozenset[str]:
        """Return the terms of the names of a document's parties."""
        parties = parties_of(self._view.text_of(name) or "")
        return term_set(" ".join(party.name for party in parties))

    def numbers(self, noun: str) -> bool:
        """Return whether the documents put numbers after a noun."""
        stem = re.escape(noun.lower().removesuffix("s"))
        has = re.compile(rf"\b{stem}s?[\s_-]+(?:{NUMBERED})?\d", re.IGNORECASE).search
        return any(map(has, self.names.values())) or any(
            map(has, self._view.texts_of(self._view.having([noun.lower()])[:_READ]))
        )

    def singled_out(self, word: str) -> frozenset[str]:
        """Return the documents that a word of their titles distinguishes from the others.

        No other document may have the word, except one of the same form.
        """
        terms = term_set(word)
        called = {name: terms_called(names) for name, names in self.names.items()}
        named = frozenset(name for name in called if terms and terms <= called[name])
        if not named or len(named) == len(self.titles):
            return frozenset()
        return named if self.are_alike(named, self.having(word) - named) else frozenset()

    def are_alike(self, some: Set[str], others: Set[str]) -> bool:
        """Return whether documents are of one form with others: half of all title words match."""
        pairs = ((self.titles[name], self.titles[other]) for name in some for other in others)
        return bool(some) and all(of_one_form(*titles) for titles in pairs)


def of_one_form(title: str, other: str) -> bool:
    """Return whether two titles share half of the longer one's words: two leases, two policies."""
    mine, theirs = term_set(title), term_set(other)
    return 2 * len(mine & theirs) >= max(len(mine), len(theirs))


@lru_cache(maxsize=1 << 13)
def terms_called(names: str) -> frozenset[str]:
    """Return the terms of a document's name and title, whose words may be joined."""
    return term_set(" ".join(PIECE.findall(folded(names))))


@lru_cache(maxsize=64)
def whole(written: str) -> re.Pattern[str]:
    """Return a pattern of a whole word or number, in upper or lower case."""
    return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)", re.IGNORECASE)


class Apart(NamedTuple):
    """The documents that a question names.

    Args:
        documents: The documents; empty if the question names none, or all.
        sure: Whether a number, a file or a day names them, and not only words of a title.
        absent: The numbers and files in the question that no document has.
        outside: The words that name them, each with its replacement inside the documents.
    """

    documents: list[str]
    sure: bool
    absent: list[str]
    outside: Mapping[str, str]


class _Mark(NamedTuple):
    """A name in a question.

    Args:
        documents: The documents with the name.
        written: The number, file or day, to be reported if no document has it.
        phrase: The words to be replaced inside the documents, or "".
        instead: Their replacement.
    """

    documents: frozenset[str]
    written: str
    phrase: str
    instead: str


def told_apart(text: str, view: View) -> Apart:
    """Return the documents that a question names, and the names that no document has."""
    heads = Heads(view)
    exact = [*_files(text, heads), *_numbers(text, heads), *_days(text, heads)]
    absent = list(dict.fromkeys(mark.written for mark in exact if not mark.documents))
    marks = [mark for mark in exact if mark.documents]
    marks += [*_names(text, heads), *_parties(text, heads)]
    named = frozenset[str]()
    for mark in marks:
        named = (named & mark.documents) or named | mark.documents
    if len(named) == len(view.documents):
        named = frozenset()
    outside = {m.phrase: m.instead for m in marks if m.phrase} if len(named) == 1 else {}
    return Apart(sorted(named), bool(absent or (named and exact)), absent, outside)


def inside(text: str, outside: Mapping[str, str]) -> str:
    """Return a question, or a part of one, as it is asked inside the documents that it names."""
    for phrase, instead in outside.items():
        text = text.replace(phrase, instead)
    text = text.strip(" ,")
    return text if tokenize(text) else ""


def _files(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the files that a question names, including files that do not exist."""
    suffixes = {name.rpartition(".")[2].lower() for name in heads.titles if "." in name}
    last_parts = {name: f" {name.rpartition('/')[2]}".lower() for name in heads.titles}
    for match in _FILE.finditer(text):
        if match["suffix"].lower() not in suffixes:
            continue
        before = f" {text[: match.end()].lower()}"
        named = [n for n, last in last_parts.items() if before.endswith((f" {n}".lower(), last))]
        longest = max((len(last_parts[name]) for name in named), default=0) - 1
        begin = min(match.start(), match.end() - longest)
        lead = _before(_LED, text, begin)
        phrase = text[lead.start() if lead else begin : match.end()]
        yield _Mark(frozenset(named), match.group(), phrase, "" if lead else "it")


def _numbers(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the numbers that a question uses as names."""
    taken = [range(r.start, r.end) for r in (*find_references(text), *loose_numbers(text))]
    taken += [range(*day.span()) for day in _DAY.finditer(text)]
    last = -1
    for match in IDENTIFIER.finditer(text):
        if any(match.start("id") in span for span in taken):
            continue
        noun = _before(_NOUN, text, match.start())
        joined = last >= 0 and _JOINED.fullmatch(text, last, match.start()) is not None
        if not joined and not _is_name(text, match, noun, heads):
            continue
        last = match.end()
        number = match["id"]
        named = heads.with_id(number)
        others = heads.holding(number) - named
        if (others and not heads.are_alike(named, others)) or (not named and _is_year(number)):
            continue
        phrase, instead = match.group(), "this document"
        if noun and noun["noun"].lower() not in STOP_WORDS:
            phrase = text[noun.start() : match.end()]
            led = _word_before(text, noun.start())
            determined = noun["det"] or not led.isalnum() or led in STOP_WORDS
            instead = f"{noun['det'] or 'the'} {noun['noun']}" if determined else noun["noun"]
        # a number only in a document's text may be one of several there
        titled = all(whole(number).search(heads.names[name]) for name in named)
        yield _Mark(named, number, phrase if titled else "", instead)


def _is_name(text: str, match: re.Match[str], noun: re.Match[str] | None, heads: Heads) -> bool:
    """Return whether a number is a name: by its form, the documents' names, or its place."""
    number, behind = match["id"], text[match.end() :]
    if match["no"] or _LETTERED.match(number):
        return True
    counts = not number[-1].isdigit() or _COUNTED.match(behind.lstrip())
    if noun is None or noun["noun"].lower() in STOP_WORDS or counts:
        return False
    if heads.numbers(noun["noun"]):
        return True
    if not number.isdigit() or len(number) < _LONG or _is_year(number):
        return False
    led = _word_before(text, noun.start())
    ends = not behind[:1].isspace() or not STOP_WORDS.isdisjoint(words(behind)[:1])
    return led in _DOES or (ends and led in _OF)


def _before(pattern: re.Pattern[str], text: str, end: int) -> re.Match[str] | None:
    """Return the match of a pattern right before an offset; only a few characters are searched."""
    return pattern.search(text, max(0, end - _NEAR), end)


def _word_before(text: str, end: int) -> str:
    """Return the word that ends right before an offset, in lower case."""
    return (text[max(0, end - _NEAR) : end].split() or [""])[-1].lower()


def _is_year(written: str) -> bool:
    return written.isdecimal() and 1600 <= int(written) < 2100


def _days(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the days by which a question names documents: "the lease of 3 May 2021"."""
    for match in _DAY.finditer(text):
        led = _word_before(text, match.start())
        if led in _DATING:
            written = text[text.lower().rindex(led, 0, match.start()) : match.end()]
            days = dates(written) | {written[-4:]}
            few = [*heads.titles][:_FEW]
            named = [n for n in few if days <= _days_of(f"{heads.names[n]}\n{heads.opening(n)}")]
            if 0 < len(named) < len(heads.titles):
                yield _Mark(frozenset(named), written, f" {written}", "")


@lru_cache(maxsize=1 << 10)
def _days_of(opening: str) -> Set[str]:
    return dates(opening) | set(re.findall(r"\b\d{4}\b", opening))


def _names(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the words of titles and file names by which a question names documents."""
    if not 1 < len(heads.titles) <= _TITLES:
        return
    for match in _THE.finditer(text):
        pieces = PIECE.finditer(text, *match.span("words"))
        phrase = [*takewhile(lambda m: m.group().lower() not in STOP_WORDS, pieces)]
        telling = [named for word in phrase if (named := heads.singled_out(word.group()))]
        if telling:
            named = frozenset.intersection(*telling) or frozenset[str]().union(*telling)
            yield _Mark(named, "", *_outside(text, match, phrase))


def _parties(text: str, heads: Heads) -> Iterator[_Mark]:
    """Yield the words of parties' names that only these parties' documents have."""
    if len(heads.titles) < 2:
        return
    every = frozenset(heads.titles)
    for word in dict.fromkeys(re.findall(r"[^\W\d_]{3,}", text.lower())):
        having = every if word in STOP_WORDS else heads.having(word)
        few = having < every and 0 < len(having) <= _READ
        if few and all(term_set(word) <= heads.parties(name) for name in having):
            yield _Mark(having, "", "", "")


def _outside(text: str, match: re.Match[str], phrase: Sequence[re.Match[str]]) -> tuple[str, str]:
    """Return the words of a question that only name the document, and their replacement.

    Such as "of the ferry", and "ferry's" of "the ferry's licensee".
    """
    end = phrase[-1].end()
    if text.startswith(("'s ", "’s "), end):
        return text[phrase[0].start() : end + len("'s ")], ""
    lead = _before(_LED, text, match.start())
    return (text[lead.start() : end], "") if lead else ("", "")
