"""What tells documents apart: the numbers, files, days and names by which a question means some.

A number is a name where the documents use it so or the question does: "contract 4712", "No. 12/24",
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
from lexloop.documents.text.tokens import STOP_WORDS, term_set, tokenize
from lexloop.store.view import View

_LONG = 4
"""The digits of a number that is a name where no document shows it."""
_OPENING, _HEADS, _TITLES, _READ = 1_500, 200, 2_000, 20
"""Characters in which a document names itself, the most documents whose opening is read, the
most whose titles are, and the most that are read for how they use a noun."""
_NUMBERED = r"(?:numbers?\s|nos?\b\.?|nr\b\.?|nº|n°|№|#)\s*"
_IDENTIFIER = re.compile(
    rf"(?<![\w.,/$€£¥(-])(?P<no>{_NUMBERED})?(?P<id>[A-Za-z]{{0,9}}[-/]?\d[\w]*(?:[-/.]\w+)*)(?![\w%°])",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"(?:{TIMES}|%|[ap]\.?m\b|{'|'.join(MONTHS)}|[^\W\d_]+s\b)",
    re.IGNORECASE,
)
"""What stands behind a number that counts something, or is a time."""
_LETTERED = re.compile(r"[A-Za-z]+(?:[-/]\w|\d\d)")
_YEAR = re.compile(r"(?:1[6-9]|20)\d\d$")
_NOUN = re.compile(
    r"(?:(?P<det>the|this|that|our|my|your|an?)\s+)?(?P<noun>[^\W\d_][\w'’-]*)\s+$", re.I
)
_DOES = re.compile(
    r"\b(?:do|does|did|has|have|will|must|may|can|shall|should)\s+(?:the\s+)?$", re.I
)
_OF = re.compile(r"\b(?:of|under|in|for|on|by|with|from)\s+(?:the\s+)?$", re.IGNORECASE)
_WORD = re.compile(r"\s+(?P<word>\w+)")
_THE = re.compile(r"\b(?:the|this|that|our|my|your)(?=\s+(?P<words>\w+(?:[\s-]+\w+){0,3}))", re.I)
_ADJECTIVE = re.compile(rf"\b(?!(?:{'|'.join(sorted(STOP_WORDS))})\b)\w+\s+$", re.IGNORECASE)
_OWNED = re.compile(r"['’]s\s+")
_JOINED = re.compile(r"\s*(?:,|,?\s*(?:and|or|with|to|und|et|e|y)\s)\s*", re.IGNORECASE)
_MONTHS = "|".join(MONTHS)
_DAY = re.compile(
    rf"\b(?:\d{{1,2}}\s+(?:{_MONTHS})|(?:{_MONTHS})(?:\s+\d{{1,2}})?),?\s+\d{{4}}\b", re.IGNORECASE
)
_DATED = re.compile(rf"\b(?:of|dated|from)\s+{_DAY.pattern}", re.IGNORECASE)
_PIECE = re.compile(r"[^\W_]+")
_BEHIND = re.compile(r"\s+(?:of|for|in|at|under|on|by)\s+$", re.IGNORECASE)
_LED = re.compile(r"(?:^|\s+)(?:in|under|by|per|according to|of|from)\s+(?:the\s+file\s+)?$", re.I)


class Apart(NamedTuple):
    """What a question names documents by.

    Args:
        documents: Those that are meant; none where nothing tells them apart.
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
    heads = _Heads(view)
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


class _Heads:
    """What the documents are called, and in which of them words stand."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.titles = view.titles
        self.called = {name: f"{name} {title}" for name, title in view.titles.items()}

    def with_id(self, written: str) -> frozenset[str]:
        """Return the documents that have a number in their name or title, else their opening."""
        has = _whole(written).search
        titled = frozenset(name for name, called in self.called.items() if has(called))
        return titled or frozenset(name for name in self._few(written) if has(self.opening(name)))

    def holding(self, written: str) -> frozenset[str]:
        """Return the documents that have a number, wherever it stands."""
        has, few = _whole(written).search, self._few(written)
        texts = zip(few, self._view.texts_of(few), strict=True)
        return frozenset(name for name, text in texts if has(text))

    def _few(self, written: str) -> Sequence[str]:
        longest = max(_PIECE.findall(written), key=len)
        return self._view.having([longest])[:_HEADS]

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
        has = re.compile(rf"\b{stem}s?[\s_-]+(?:{_NUMBERED})?\d", re.IGNORECASE).search
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
        pairs = ((_title(self.titles[a]), _title(self.titles[b])) for a in others for b in some)
        return bool(some) and all(
            2 * len(one & other) >= max(len(one), len(other)) for one, other in pairs
        )


@lru_cache(maxsize=1 << 13)
def _title(title: str) -> frozenset[str]:
    return frozenset(tokenize(title))


@lru_cache(maxsize=1 << 13)
def _called(called: str) -> frozenset[str]:
    return term_set(" ".join(_PIECE.findall(folded(called))))


@lru_cache(maxsize=64)
def _whole(written: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)", re.IGNORECASE)


def _files(text: str, heads: _Heads) -> Iterator[_Mark]:
    """Yield the files that a question names, those that are not there among them."""
    suffixes = {name.rpartition(".")[2].lower() for name in heads.titles if "." in name}
    for found in re.finditer(r"[\w./\\-]*\w\.(?P<suffix>[A-Za-z]\w{1,4})\b", text):
        if found["suffix"].lower() in suffixes:
            said = found.group().lower()
            of = [n for n in heads.titles if f"/{n.lower()}".endswith(f"/{said}")]
            lead = _LED.search(text, 0, found.start())
            begin = lead.start() if lead else found.start()
            yield _Mark(
                frozenset(of), found.group(), text[begin : found.end()], "" if lead else "it"
            )


def _numbers(text: str, heads: _Heads) -> Iterator[_Mark]:
    """Yield the numbers that a question uses as names."""
    taken = [range(r.start, r.end) for r in (*find_references(text), *loose_numbers(text))]
    taken += [range(*found.span()) for found in _DAY.finditer(text)]
    last = -1
    for found in _IDENTIFIER.finditer(text):
        if any(found.start("id") in span for span in taken):
            continue
        noun = _NOUN.search(text, 0, found.start())
        goes_on = last >= 0 and _JOINED.fullmatch(text, last, found.start()) is not None
        if not goes_on and not _is_name(text, found, noun, heads):
            continue
        last = found.end()
        written = found["id"]
        of = heads.with_id(written)
        others = heads.holding(written) - of
        if (others and not heads.are_alike(of, others)) or (not of and _YEAR.match(written)):
            continue
        said, instead = found.group(), "this document"
        if noun and noun["noun"].lower() not in STOP_WORDS:
            said = text[noun.start() : found.end()]
            whole = noun["det"] or not _ADJECTIVE.search(text, 0, noun.start())
            instead = f"{noun['det'] or 'the'} {noun['noun']}" if whole else noun["noun"]
        yield _Mark(of, written, said, instead)


def _is_name(text: str, found: re.Match[str], noun: re.Match[str] | None, heads: _Heads) -> bool:
    """Return whether a number is a name: by its form, what documents are called, or its place."""
    written = found["id"]
    if found["no"] or _LETTERED.match(written):
        return True
    counts = not written[-1].isdigit() or _COUNTED.match(text[found.end() :].lstrip())
    if noun is None or noun["noun"].lower() in STOP_WORDS or counts:
        return False
    if heads.names_so(noun["noun"]):
        return True
    if not written.isdigit() or len(written) < _LONG or _YEAR.match(written):
        return False
    behind = _WORD.match(text, found.end())
    ends = behind is None or behind["word"].lower() in STOP_WORDS
    before = text[: noun.start()]
    return _DOES.search(before) is not None or (ends and _OF.search(before) is not None)


def _days(text: str, heads: _Heads) -> Iterator[_Mark]:
    """Yield the days that a question calls documents by: "the lease of 3 May 2021"."""
    for found in _DATED.finditer(text):
        said = dates(found.group()) | {found.group()[-4:]}
        few = [*heads.titles][:_HEADS]
        of = [n for n in few if said <= _days_of(f"{heads.called[n]}\n{heads.opening(n)}")]
        if 0 < len(of) < len(heads.titles):
            yield _Mark(frozenset(of), found.group(), f" {found.group()}", "")


@lru_cache(maxsize=1 << 10)
def _days_of(opening: str) -> Set[str]:
    return dates(opening) | set(re.findall(r"\b\d{4}\b", opening))


def _names(text: str, heads: _Heads) -> Iterator[_Mark]:
    """Yield the words of titles and file names by which a question means some documents."""
    if not 1 < len(heads.titles) <= _TITLES:
        return
    for found in _THE.finditer(text):
        phrase = [*takewhile(lambda m: m.group().lower() not in STOP_WORDS, _words_of(found))]
        telling = [of for word in phrase if (of := heads.told_by(word.group()))]
        if telling:
            of = frozenset.intersection(*telling) or frozenset[str]().union(*telling)
            yield _Mark(of, "", *_outside(text, found, phrase, len(telling)))


def _parties(text: str, heads: _Heads) -> Iterator[_Mark]:
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
    return re.compile(r"[^\W_]+").finditer(found.string, *found.span("words"))


def _outside(
    text: str, found: re.Match[str], phrase: Sequence[re.Match[str]], telling: int
) -> tuple[str, str]:
    """Return what of a question only says which document is meant, and what stands for it.

    That is "of the ferry", and "ferry's" of "the ferry's licensee".
    """
    end = phrase[-1].end()
    if owned := _OWNED.match(text, end):
        return text[phrase[0].start() : owned.end()], ""
    lead = _BEHIND.search(text, 0, found.start())
    return (text[lead.start() : end], "") if lead and telling else ("", "")
