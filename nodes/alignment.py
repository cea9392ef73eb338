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
from itertools import pairwise
from typing import NamedTuple

from lexloop.documents.text.exceptions import LIMITING
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
CLAUSE = re.compile(r"[,;:.()](?:\s|$)")
_MOST_UNSAID = 0.5
"""The share of the terms of a condition that a sentence may hold without saying it."""
_ASIDES = frozenset(
    "the a an each every any either neither other another his her its their also then not".split()
)
"""Words between who acts and the verb, or before them, that say nothing of either."""
_JOINED = 4
"""The most words from one who acts to the next that is joined with him."""
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
    ``left_out``. Parties and further words are told from all of the ``evidence``. None if the
    claim is no copy.
    """
    laid = [aligned(sentence, claim) for sentence in sentences]
    best = max((one.share for one in laid), default=0.0)
    if best < LIKE:
        return []
    parties, known = parties_of(evidence), _flat(evidence)
    near = [one for one in laid if one.share == best]
    added = added_restrictions(claim, [*map(_terms, sentences)], copied=True)
    return [*min(([*_changes(one, parties, known)] for one in near), key=len), *added]


def contradictions(one: str, other: str) -> list[str]:
    """Return what a statement ("it") contradicts another in, of which it is a copy.

    What one of them leaves out counts if it restricts what is said.
    """
    laid = aligned(other, one)
    if laid.share < LIKE:
        return []
    changes = _changes(laid, parties_of(f"{one}\n{other}"), _flat(other))
    added = added_restrictions(one, [frozenset(tokenize(other))], copied=True)
    if found := [*changes, *added] or [*_denied(laid)] or [*_days(one, other)]:
        return found
    return [f"it leaves out “{lost}”"] if (lost := restriction_left_out(one, other)) else []


def _days(one: str, other: str) -> Iterator[str]:
    """Yield the day of one of two copies if the other names another one."""
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
    """Yield an "only" or an ordinal that a claim puts in, and that stands nowhere in the evidence.

    Other restrictions are told by ``added_restrictions``.
    """
    held = {word.kind for word in was}
    for place, word in enumerate(now):
        if word.kind in _ADDED - held and (word.kind == "ordinal" or word.means == "only"):
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


def added_restrictions(
    claim: str, terms: Sequence[Set[str]], *, copied: bool = False
) -> Iterator[str]:
    """Yield the exceptions and conditions of a claim that no sentence has the words of.

    Args:
        claim: A claim.
        terms: The search terms of each sentence that may bear it out.
        copied: Whether it is a copy of one. In other words "when" and "if" may tell what holds.
    """
    for clause in CLAUSE.split(claim):
        spoken = read_words(clause)
        places = [n for n, word in enumerate(spoken) if word.kind == "restriction"]
        for place, end in pairwise([*places, len(spoken)]):
            if not (copied or LIMITING.search(spoken[place].said)):
                continue
            said = " ".join(word.said for word in spoken[place:end])
            words = (word.said for word in spoken[place + 1 : end] if not word.said[0].isdigit())
            own = frozenset(tokenize(" ".join(words)))
            if own and max(len(own & held) for held in terms) <= len(own) * _MOST_UNSAID:
                yield f"it adds “{said}”"


def exchanged_junctions(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield an "and" of a claim for an "or" between the same words in all sentences, and reverse.

    A negation makes one of the other: nothing is told then.
    """
    ours = dict(_junctions(claim))
    found = [dict(_junctions(sentence)) for sentence in sentences]
    for around, joint in ours.items():
        theirs = {one[around] for one in found if around in one}
        if theirs and joint not in theirs:
            yield f"it says “{joint}”, where there is “{min(theirs)}”"


def _junctions(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the two terms around each "and" and "or" of a text that denies nothing."""
    spoken = read_words(text)
    if any(word.said in NEGATORS or word.means == "forbidden" for word in spoken):
        return
    for place, word in enumerate(spoken):
        if word.kind == "junction":
            before, behind = spoken[:place], spoken[place + 1 :]
            left = next((one for w in reversed(before) for one in tokenize(w.said)), "")
            right = next((one for w in behind for one in tokenize(w.said)), "")
            yield frozenset((left, right)), word.means


def other_actors(claim: str, sentences: Sequence[str], parties: Set[str]) -> Iterator[str]:
    """Yield a party of which a claim says what all sentences that say it say of another."""
    ours, theirs = _acting(claim, parties), [_acting(one, parties) for one in sentences]
    for does in ours.keys() & {verb for one in theirs for verb in one}:
        there = frozenset().union(*(one.get(does, frozenset()) for one in theirs))
        if ours[does].isdisjoint(there):
            yield f"it says of “{min(ours[does])}” what is said of “{min(there)}”"


def _acting(text: str, parties: Set[str]) -> dict[str, frozenset[str]]:
    """Return who does what in a text: by the term of each verb, the parties before it.

    Of the passive it is who stands behind "by". Those that "and" or "or" join do the same.
    """
    found: dict[str, frozenset[str]] = {}
    spoken = [w for w in read_words(text) if w.said not in _ASIDES]
    terms = ["" if w.kind else next(iter(tokenize(w.said)), "") for w in spoken]
    following = ""  # what the next party does
    near = len(spoken)  # where it stands
    for place in range(len(spoken) - 1, -1, -1):
        if terms[place] not in parties:
            continue
        behind = place + 1
        while behind < len(spoken) and spoken[behind].kind == "modal":
            behind += 1
        verb = terms[behind] if behind < len(spoken) else ""
        if spoken[place - 1 : place] and spoken[place - 1].said == "by":
            verb = terms[place - 2] if place > 1 else ""
        elif {w.said for w in spoken[behind + 1 : behind + 2]} == {"by"}:
            verb = ""  # the passive: nothing acts
        elif near == place + 1:
            verb = following  # "employment agency" is one
        elif {w.kind for w in spoken[place + 1 : place + 2]} == {"junction"}:
            verb = following if near - place <= _JOINED else ""
        following, near = verb, place
        if verb:
            found[verb] = found.get(verb, frozenset()) | {terms[place]}
    return found


def restriction_left_out(claim: str, sentence: str) -> str:
    """Return the words of a sentence that restrict it and that its copy does without.

    Empty if there are none.
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


@lru_cache(maxsize=1 << 10)
def _terms(sentence: str) -> frozenset[str]:
    return frozenset(tokenize(sentence))


@lru_cache(maxsize=64)
def _flat(evidence: str) -> str:
    return " ".join(word.said for word in read_words(evidence))


@lru_cache(maxsize=64)
def parties_of(evidence: str) -> frozenset[str]:
    """Return the search terms of the parties: the words before a modal verb, and agent nouns."""
    found = _SUBJECT.findall(evidence)
    found += [word for word in evidence.split() if AGENT.search(word.strip(".,;:()").lower())]
    return frozenset(term for word in found for term in tokenize(word))
