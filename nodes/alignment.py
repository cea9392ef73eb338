"""Where a claim that copies a sentence says something else: word by word beside it.

Words that bind ("must", "at least", "every", "or", "unless") are read as operators: each is of a
kind and, in it, of a class. Two words of one class say the same; an operator that is exchanged for
one of another class of its kind changes what is said, as does a restriction put in or left out.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from lexloop.documents.text.quantities import UNITS, dates, number_of
from lexloop.documents.text.tokens import tokenize

LIKE = 0.7
"""The share of the shorter text that the longer must hold in order to be its copy."""
_LONGEST = 4
OPERATORS: dict[str, dict[str, str]] = {
    "modal": {
        "must": r"must|shall|(?:is|are|be) (?:required|obliged|obligated) to|ha(?:s|ve) to"
        r"|needs? to",
        "may": r"may|can|(?:is|are) (?:permitted|allowed|free|entitled) to",
        "should": r"should|ought to|(?:is|are) (?:encouraged|advised) to",
    },
    "bound": {
        "at_least": r"at least|a minimum of|not? (?:fewer|less|earlier|sooner) than"
        r"|not? later than(?=(?: [\w-]+){1,4} (?:before|prior to)\b)",
        "at_most": r"at most|not? (?:more|greater|longer|later) than|up to|a maximum of"
        r"|within|not to exceed|not exceeding|not in excess of",
        "above": r"(?:more|greater|longer|later) than|exceeding|in excess of|over|above|after"
        r"|following",
        "below": r"(?:less|fewer|shorter|earlier) than|under|below|before|prior to",
    },
    "quantifier": {
        "all": r"all(?: of)?|every|each(?: of)?|any(?: of)?",
        "some": r"some(?: of)?|certain|several|a few|few|many|most(?: of)?",
        "none": r"no|none(?: of)?|neither",
    },
    "junction": {"and": r"and|as well as", "or": r"or"},
    "permission": {
        "allowed": r"allowed|permitted|permissible|lawful|legal|authori[sz]ed",
        "forbidden": r"prohibited|forbidden|unlawful|illegal|barred|banned",
    },
    "ordinal": {
        name: name
        for name in "first second third fourth fifth sixth seventh eighth ninth tenth last".split()
    },
    "restriction": {
        "only": r"only|solely|exclusively",
        "unless": r"unless|except(?: for| where| that| in| when| if)?|save(?: for| where| that| as)"
        r"|other than|with the exception of",
        "if": r"if|provided that|on condition that|in so far as|insofar as|to the extent that"
        r"|so long as|as long as|subject to|where|when|until",
        "without": r"without",
    },
}
_SAME_WAY = {"at_least": "above", "at_most": "below"}
"""Bounds that point the same way are taken for one another."""
NEGATORS = frozenset("not no never none nor neither without cannot nobody nothing nowhere".split())
_ADDED = {"restriction", "ordinal"}
_READ = re.compile(
    "|".join(
        rf"\b(?P<{kind}_{name}>{pattern})\b"
        for kind, classes in OPERATORS.items()
        for name, pattern in classes.items()
    ),
    re.IGNORECASE,
)
_IRREGULAR = {"feet": "foot", "inches": "inch", "centuries": "century"}
_WORD = re.compile(r"[a-z_]+(?:-[a-z]+)*|\d+(?:[.,]\d+)*")
_SUBJECT = re.compile(
    r"(?<![a-z])(?<![a-z]-)([a-z]+(?:-[a-z]+)*)"
    r" (?:must|shall|may|can|should|will|has|have|is|are)\b",
    re.IGNORECASE,
)
AGENT = re.compile(r"(?:[^aeiou]er|or|ee|ant|ist|ian)s?$")
"""The endings of nouns that name who acts."""


class Word(NamedTuple):
    """A word of a text, or an operator.

    Args:
        said: As it is written, in small letters.
        kind: Of the operator; empty for another word.
        means: The class of the operator, or the word.
    """

    said: str
    kind: str
    means: str


def read_words(text: str) -> list[Word]:
    """Split a text into words in small letters, operators as one word each."""
    found: list[Word] = []
    flat, end = " ".join(text.split()), 0
    for match in _READ.finditer(flat):
        found += [Word(word, "", word) for word in _WORD.findall(flat[end : match.start()].lower())]
        kind, _, name = str(match.lastgroup).partition("_")
        found.append(Word(match.group().lower(), kind, _SAME_WAY.get(name, name)))
        end = match.end()
    return [*found, *(Word(word, "", word) for word in _WORD.findall(flat[end:].lower()))]


@dataclass(frozen=True)
class Aligned:
    """A claim beside a sentence.

    Args:
        shared: How many words both have, in their order.
    """

    theirs: list[Word]
    ours: list[Word]
    spans: Sequence[tuple[str, int, int, int, int]]
    shared: int

    @property
    def share(self) -> float:
        """How much of the shorter one the other has, in [0, 1]."""
        return self.shared / max(1, min(len(self.theirs), len(self.ours)))


def aligned(sentence: str, claim: str) -> Aligned:
    """Lay a claim beside a sentence; operators of one class are the same word."""
    theirs, ours = read_words(sentence), read_words(claim)
    laid = SequenceMatcher(None, [w[1:] for w in theirs], [w[1:] for w in ours], autojunk=False)
    shared = sum(block.size for block in laid.get_matching_blocks())
    return Aligned(theirs, ours, laid.get_opcodes(), shared)


# carries, by benchmarks/altered.py, most of the statements with one word exchanged or added
def alterations(claim: str, sentences: Sequence[str], evidence: str) -> list[str]:
    """Return the changes of meaning between a claim and the sentence that it is a copy of.

    The claim is aligned with the sentences that say nearly the same. What is left out is told by
    ``left_out``. Parties and further words are told from all of the ``evidence``. None where the
    claim is no copy.
    """
    laid = [aligned(sentence, claim) for sentence in sentences]
    best = max((one.share for one in laid), default=0.0)
    if best < LIKE:
        return []
    parties, known = parties_of(evidence), _flat(evidence)
    near = [one for one in laid if one.share == best]
    return min(([*_changes(one, parties, known)] for one in near), key=len)


def contradictions(one: str, other: str) -> list[str]:
    """Return what a statement ("it") contradicts another in, of which it is a copy.

    What one of them leaves out counts where it restricts what is said.
    """
    laid = aligned(other, one)
    if laid.share < LIKE:
        return []
    changes = _changes(laid, parties_of(f"{one}\n{other}"), _flat(other))
    if found := [*changes] or [*_denied(laid)] or [*_days(one, other)]:
        return found
    return [f"it leaves out “{lost}”"] if (lost := restriction_left_out(one, other)) else []


def _days(one: str, other: str) -> Iterator[str]:
    """Yield the day of one of two copies where the other names another one."""
    mine, theirs = dates(one), dates(other)
    if mine and theirs and not mine & theirs:
        yield f"it says {min(mine).title()}, where there is {min(theirs).title()}"


def _denied(one: Aligned) -> Iterator[str]:
    """Yield the first word by which one of two copies alone denies something."""
    for kind, first, end, start, stop in one.spans:
        sides = one.ours[start:stop], one.theirs[first:end]
        mine, theirs = ([w.said for w in words if w.said in NEGATORS] for words in sides)
        if kind != "equal" and len(mine) != len(theirs):
            yield f"it says “{mine[0]}”" if mine else f"it leaves out “{theirs[0]}”"
            return


def _changes(one: Aligned, parties: Set[str], known: str) -> Iterator[str]:
    for kind, first, end, start, stop in one.spans:
        was, now = one.theirs[first:end], one.ours[start:stop]
        if kind == "replace" and max(len(was), len(now)) <= _LONGEST:
            around = [*one.theirs[end : end + 1], *one.ours[stop : stop + 1]]
            yield from _exchanged(was, now, around)
            yield from _unit(was, now)
            yield from _number(was, now)
            yield from _party(was, now, parties)
        if kind in ("replace", "insert"):
            yield from _added(was, now, known)


def _exchanged(was: Sequence[Word], now: Sequence[Word], around: Sequence[Word]) -> Iterator[str]:
    """Yield operators of one kind that are of different classes; before "not" modals may be."""
    denied = any(word.said == "not" for word in (*was, *now, *around))
    for kind in OPERATORS:
        mine, theirs = ({w.means: w.said for w in words if w.kind == kind} for words in (now, was))
        if not (mine and theirs) or mine.keys() & theirs.keys() or (denied and kind == "modal"):
            continue
        yield f"it says “{min(mine.values())}”, where there is “{min(theirs.values())}”"


def _added(was: Sequence[Word], now: Sequence[Word], known: str) -> Iterator[str]:
    """Yield what a claim puts in that restricts it, and stands nowhere in the evidence."""
    held = {word.kind for word in was}
    for place, word in enumerate(now):
        if word.kind in _ADDED - held:
            said = " ".join(one.said for one in now[place:])
            if said not in known:
                yield f"it adds “{said}”"
                return


def _unit(was: Sequence[Word], now: Sequence[Word]) -> Iterator[str]:
    for group in UNITS:
        mine, theirs = (
            {_IRREGULAR.get(w.said) or w.said.removesuffix("s") for w in words} & group
            for words in (now, was)
        )
        if mine and theirs and not mine & theirs:
            yield f"it says {min(mine)}, where there is {min(theirs)}"


def _number(was: Sequence[Word], now: Sequence[Word]) -> Iterator[str]:
    mine, theirs = ({n for w in words if (n := number_of(w.said))} for words in (now, was))
    if mine and theirs and not mine & theirs:
        yield f"it says {min(mine)}, where there is {min(theirs)}"


def _party(was: Sequence[Word], now: Sequence[Word], parties: Set[str]) -> Iterator[str]:
    said, there = (" ".join(word.said for word in words) for words in (now, was))
    mine, theirs = (frozenset(tokenize(text)) & parties for text in (said, there))
    if mine - theirs and theirs - mine:
        yield f"it says “{said}”, where there is “{there}”"


def restriction_left_out(claim: str, sentence: str) -> str:
    """Return the words of a sentence that restrict it and that its copy does without.

    Empty where there are none.
    """
    one = aligned(sentence, claim)
    for kind, first, end, start, stop in one.spans:
        was, now = one.theirs[first:end], one.ours[start:stop]
        if kind == "equal" or any(word.kind == "restriction" for word in now):
            continue
        # behind "where:" the claim is the condition
        ends = len(was) - 1
        places = [
            n
            for n, word in enumerate(was)
            if word.kind == "restriction" and (n < ends or word.means == "unless")
        ]
        # the claim has the rest, and is no point of a list that this leads in
        rest = len(one.theirs) - len(was)
        if places and (first or len(was) <= one.shared) and one.shared >= LIKE * rest:
            return " ".join(word.said for word in was[places[0] :])
    return ""


@lru_cache(maxsize=64)
def _flat(evidence: str) -> str:
    return " ".join(word.said for word in read_words(evidence))


@lru_cache(maxsize=64)
def parties_of(evidence: str) -> frozenset[str]:
    """Return the search terms of the parties: the words before a modal verb, and agent nouns."""
    found = _SUBJECT.findall(evidence)
    found += [word for word in evidence.split() if AGENT.search(word.strip(".,;:()").lower())]
    return frozenset(term for word in found for term in tokenize(word))
