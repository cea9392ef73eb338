"""Comparing a claim with the sentence that it copies, word by word, to find changes of meaning.

Words that bind ("must", "at least", "every", "or", "unless") are operators. Each has a kind and a
class within it. Words of one class mean the same. Exchanging an operator for one of another class
of its kind changes the meaning, and so does adding or leaving out a restriction.
"""

import re
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lexloop.documents.text.exceptions import LIMITING
from lexloop.documents.text.quantities import UNITS, dates, number_of
from lexloop.documents.text.tokens import term_set, tokenize, words

LIKE = 0.7
"""The least share of the shorter text that a copy must have."""
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
"""Bounds of the same direction count as the same."""
NEGATORS = frozenset("not no never none nor neither without cannot nobody nothing nowhere".split())
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
"""The most of a condition's terms that a sentence without the condition may have."""
_ASIDES = frozenset(
    "the a an each every any either neither other another his her its their also then not".split()
)
"""Words around an actor and a verb that do not change either."""
_JOINED = 4
"""The most words between two joined actors."""
_IRREGULAR = {"feet": "foot", "inches": "inch", "centuries": "century"}
_WORD = re.compile(r"[a-z_]+(?:-[a-z]+)*|\d+(?:[.,]\d+)*")
_SUBJECT = re.compile(
    r"(?<![a-z])(?<![a-z]-)([a-z]+(?:-[a-z]+)*)"
    r" (?:must|shall|may|can|should|will|has|have|is|are)\b",
    re.IGNORECASE,
)
AGENT = re.compile(r"(?:[^aeiou]er|or|ee|ant|ist|ian)s?$")
"""Matches nouns that name an actor, by their endings."""


class Word(NamedTuple):
    """A word of a text, or an operator.

    Args:
        text: The word as written, in lower case.
        kind: Kind of the operator; "" for another word.
        means: Class of the operator, or the word itself.
    """

    text: str
    kind: str
    means: str


@lru_cache(maxsize=1 << 10)
def read_words(text: str) -> tuple[Word, ...]:
    """Split a text into words in lower case; an operator is one word."""
    parsed: list[Word] = []
    flat, end = " ".join(text.split()), 0
    for match in _READ.finditer(flat):
        parsed += _plain_words(flat[end : match.start()])
        kind, _, name = str(match.lastgroup).partition("_")
        parsed.append(Word(match.group().lower(), kind, _SAME_WAY.get(name, name)))
        end = match.end()
    return (*parsed, *_plain_words(flat[end:]))


def _plain_words(text: str) -> Iterator[Word]:
    return (Word(word, "", word) for word in _WORD.findall(text.lower()))


def _text_of(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


class Aligned(NamedTuple):
    """A claim aligned with a sentence.

    Args:
        theirs: The words of the sentence.
        ours: The words of the claim.
        spans: The operations of ``SequenceMatcher`` that turn the sentence into the claim.
        shared: The number of common words, in order.
    """

    theirs: Sequence[Word]
    ours: Sequence[Word]
    spans: Sequence[tuple[str, int, int, int, int]]
    shared: int

    @property
    def share(self) -> float:
        """The share of the shorter text that the other has, in [0, 1]."""
        return self.shared / max(1, min(len(self.theirs), len(self.ours)))

    def changes(self) -> Iterator[tuple[str, Sequence[Word], Sequence[Word], Sequence[Word]]]:
        """Yield each operation that changes words, the old and new words, and the words after."""
        for operation, first, end, start, stop in self.spans:
            if operation != "equal":
                behind = [*self.theirs[end : end + 1], *self.ours[stop : stop + 1]]
                yield operation, self.theirs[first:end], self.ours[start:stop], behind


def aligned(sentence: str, claim: str) -> Aligned:
    """Align a claim with a sentence; operators of one class are equal."""
    theirs, ours = read_words(sentence), read_words(claim)
    matcher = SequenceMatcher(None, [w[1:] for w in theirs], [w[1:] for w in ours], autojunk=False)
    shared = sum(block.size for block in matcher.get_matching_blocks())
    return Aligned(theirs, ours, matcher.get_opcodes(), shared)


# carries, by benchmarks/altered.py, most of the statements with one word exchanged or added
def alterations(claim: str, sentences: Sequence[str], evidence: str) -> list[str]:
    """Return the changes of meaning between a claim and the sentence that it copies.

    The claim is aligned with the nearest sentences. Parties and added words are looked up in all of
    the ``evidence``. Empty if the claim is not a copy. ``left_out`` returns what is left out.
    """
    candidates = [aligned(sentence, claim) for sentence in sentences]
    best = max((candidate.share for candidate in candidates), default=0.0)
    if best < LIKE:
        return []
    parties, known = parties_of(evidence), _flat(evidence)
    nearest = [candidate for candidate in candidates if candidate.share == best]
    added = added_restrictions(claim, [*map(term_set, sentences)], copied=True)
    return [*min(([*_changes(each, parties, known)] for each in nearest), key=len), *added]


def contradictions(statement: str, other: str) -> list[str]:
    """Return how a statement ("it") contradicts another one that it copies.

    Leaving out a restriction is a contradiction.
    """
    copy = aligned(other, statement)
    if copy.share < LIKE:
        return []
    changes = [
        *_changes(copy, parties_of(f"{statement}\n{other}"), _flat(other)),
        *added_restrictions(statement, [term_set(other)], copied=True),
    ]
    days = ({day.title() for day in dates(text)} for text in (statement, other))
    if changes := changes or [*_denied(copy)] or [*_different(*days)]:
        return changes
    return [f"it leaves out “{lost}”"] if (lost := restriction_left_out(statement, other)) else []


def _denied(copy: Aligned) -> Iterator[str]:
    """Yield the first negation that only one of two copies has."""
    for _, was, now, _ in copy.changes():
        mine, theirs = ([w.text for w in words if w.text in NEGATORS] for words in (now, was))
        if len(mine) != len(theirs):
            yield f"it says “{mine[0]}”" if mine else f"it leaves out “{theirs[0]}”"
            return


def _changes(copy: Aligned, parties: Set[str], known: str) -> Iterator[str]:
    """Yield the exchanged operators, units, numbers and parties, and what is added."""
    for operation, was, now, behind in copy.changes():
        if operation == "replace" and max(len(was), len(now)) <= _LONGEST:
            yield from _exchanged(was, now, behind)
            units = [
                {_IRREGULAR.get(word.text) or word.text.removesuffix("s") for word in words}
                for words in (now, was)
            ]
            for group in UNITS:
                yield from _different(*(side & group for side in units))
            yield from _different(
                *({n for w in words if (n := number_of(w.text))} for words in (now, was))
            )
            mine, theirs = (term_set(_text_of(words)) & parties for words in (now, was))
            if mine - theirs and theirs - mine:
                yield f"it says “{_text_of(now)}”, where there is “{_text_of(was)}”"
        if operation != "delete":
            yield from _added(was, now, known)


def _exchanged(was: Sequence[Word], now: Sequence[Word], behind: Sequence[Word]) -> Iterator[str]:
    """Yield operators of one kind and different classes, except modal verbs beside "not"."""
    denied = any(word.text == "not" for word in (*was, *now, *behind))
    for kind in OPERATORS:
        mine, theirs = ({w.means: w.text for w in words if w.kind == kind} for words in (now, was))
        if mine and theirs and not mine.keys() & theirs.keys() and not (denied and kind == "modal"):
            yield f"it says “{min(mine.values())}”, where there is “{min(theirs.values())}”"


def _added(was: Sequence[Word], now: Sequence[Word], known: str) -> Iterator[str]:
    """Yield an added "only" or ordinal whose words are nowhere in the evidence.

    ``added_restrictions`` yields other restrictions.
    """
    kinds = {word.kind for word in was}
    for place, word in enumerate(now):
        counts = word.kind == "ordinal" or (word.kind == "restriction" and word.means == "only")
        if counts and word.kind not in kinds and (words := _text_of(now[place:])) not in known:
            yield f"it adds “{words}”"
            return


def _different(mine: Set[str], theirs: Set[str]) -> Iterator[str]:
    if mine and theirs and not mine & theirs:
        yield f"it says {min(mine)}, where there is {min(theirs)}"


def added_restrictions(
    claim: str, terms: Sequence[Set[str]], *, copied: bool = False
) -> Iterator[str]:
    """Yield a claim's exceptions and conditions whose words are in no sentence.

    Args:
        claim: The claim.
        terms: The search terms of each sentence that may support it.
        copied: Whether the claim copies a sentence. In other claims "when" and "if" may not be
            conditions.
    """
    for clause in CLAUSE.split(claim):
        words = read_words(clause)
        places = [n for n, word in enumerate(words) if word.kind == "restriction"]
        for place, end in pairwise([*places, len(words)]):
            if copied or LIMITING.search(words[place].text):
                behind = [word for word in words[place + 1 : end] if not word.text[0].isdigit()]
                own = term_set(_text_of(behind))
                if own and max(len(own & held) for held in terms) <= len(own) * _MOST_UNSAID:
                    yield f"it adds “{_text_of(words[place:end])}”"


def exchanged_junctions(claim: str, sentences: Sequence[str]) -> Iterator[str]:
    """Yield an "and" of a claim that is "or" between the same words elsewhere, and the reverse.

    Texts with a negation are left out: it turns one into the other.
    """
    junctions = [dict(_junctions(sentence)) for sentence in sentences]
    for around, junction in dict(_junctions(claim)).items():
        theirs = {its[around] for its in junctions if around in its}
        if theirs and junction not in theirs:
            yield f"it says “{junction}”, where there is “{min(theirs)}”"


def _junctions(text: str) -> Iterator[tuple[frozenset[str], str]]:
    """Yield the two terms around each "and" and "or" of a text without negations."""
    words = read_words(text)
    if any(word.text in NEGATORS or word.means == "forbidden" for word in words):
        return
    for place, word in enumerate(words):
        if word.kind == "junction":
            sides = reversed(words[:place]), words[place + 1 :]
            around = (next((t for w in side for t in tokenize(w.text)), "") for side in sides)
            yield frozenset(around), word.means


def other_actors(claim: str, sentences: Sequence[str], parties: Set[str]) -> Iterator[str]:
    """Yield a party to whom a claim ascribes what all sentences ascribe to another."""
    ours, theirs = _acting(claim, parties), [_acting(each, parties) for each in sentences]
    for verb, actors in ours.items():
        others = frozenset[str]().union(*(their.get(verb, ()) for their in theirs))
        if others and actors.isdisjoint(others):
            yield f"it says of “{min(actors)}” what is said of “{min(others)}”"


def _acting(text: str, parties: Set[str]) -> dict[str, frozenset[str]]:
    """Return the parties that do something in a text, by the term of each verb.

    An actor stands before the verb, or after "by" in the passive. Actors joined by "and" or "or"
    do the same.
    """
    actors: dict[str, frozenset[str]] = {}
    words = [word for word in read_words(text) if word.text not in _ASIDES]
    terms = ["" if word.kind else next(iter(tokenize(word.text)), "") for word in words]
    next_verb = ""  # the verb of the next party
    next_place = len(words)
    for place in range(len(words) - 1, -1, -1):
        if terms[place] not in parties:
            continue
        behind = place + 1
        while behind < len(words) and words[behind].kind == "modal":
            behind += 1
        verb = terms[behind] if behind < len(words) else ""
        if place and words[place - 1].text == "by":
            verb = terms[place - 2] if place > 1 else ""
        elif {word.text for word in words[behind + 1 : behind + 2]} == {"by"}:
            verb = ""  # the passive has its actor after "by"
        elif next_place == place + 1:
            verb = next_verb  # "employment agency" is one party
        elif {word.kind for word in words[place + 1 : place + 2]} == {"junction"}:
            verb = next_verb if next_place - place <= _JOINED else ""
        next_verb, next_place = verb, place
        if verb:
            actors[verb] = actors.get(verb, frozenset()) | {terms[place]}
    return actors


def restriction_left_out(claim: str, sentence: str) -> str:
    """Return the words of a restriction in a sentence that its copy lacks, or ""."""
    copy = aligned(sentence, claim)
    for operation, first, end, start, stop in copy.spans:
        was, now = copy.theirs[first:end], copy.ours[start:stop]
        if operation == "equal" or any(word.kind == "restriction" for word in now):
            continue
        # after a final "where:" the claim is the condition
        places = [
            n
            for n, word in enumerate(was)
            if word.kind == "restriction" and (n < len(was) - 1 or word.means == "unless")
        ]
        # the claim has the rest, and is not an item of a list that this leads into
        rest = len(copy.theirs) - len(was)
        if places and (first or len(was) <= copy.shared) and copy.shared >= LIKE * rest:
            return _text_of(was[places[0] :])
    return ""


@lru_cache(maxsize=64)
def _flat(evidence: str) -> str:
    return _text_of(read_words(evidence))


@lru_cache(maxsize=64)
def parties_of(evidence: str) -> frozenset[str]:
    """Return the search terms of the parties: the words before a modal verb, and agent nouns."""
    nouns = _SUBJECT.findall(evidence)
    nouns += [word for word in evidence.split() if AGENT.search(word.strip(".,;:()").lower())]
    return frozenset(term for noun in nouns for term in tokenize(noun))


_BOUNDS_AND_IDIOMS = re.compile(
    r"\b(?:no|not)\s+(?:\w+\s+)?(?:more|later|longer|greater|less|fewer|earlier|sooner|higher|lower)"
    r"\s+than\b|\b(?:no|not)\s+(?:longer|doubt|matter)\b|\bno\.\s*\d|\bnot\s+(?:to\s+exceed|exceed|in\s+excess)\w*"
    r"|\bnot\s+(?:only|just|merely|limited|necessarily)\b|\b(?:whether|or|if)\s+not\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"^\s*(?:no|yes)[.,]\s", re.IGNORECASE)
_REACH = 5


def negated_terms(text: str) -> frozenset[str]:
    """Return the search terms after a negation in ``text``.

    Bounds ("not more than"), idioms ("not only") and an initial "No." do not negate anything.
    """
    negated: set[str] = set()
    plain = words(_BOUNDS_AND_IDIOMS.sub(" ", _VERDICT.sub("", text)))
    for place, word in enumerate(plain):
        if word in NEGATORS or re.search(r"n['’]t$", word):
            reach = plain[place + 1 : place + 1 + _REACH]
            terms = (tokenize(other) for other in reach if not other[0].isdigit())
            negated |= set(next(filter(None, terms), ()))
    return frozenset(negated)
