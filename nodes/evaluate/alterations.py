"""Whether a near-copy of a sentence was altered: another modal, bound, unit or party.

A claim is laid beside the sentence it comes closest to, word by word; what was put in the place of
something else is looked at, and nothing of what was left out or added.
"""

import re
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import lru_cache

from lexloop.corpus.text.tokens import tokenize

_LIKE = 0.7
"""How much of both must be the same, in the same order, for one to be a copy of the other."""
_LONGEST = 4
_MODALS = {
    "must": r"must|shall|(?:is|are|be) (?:required|obliged|obligated) to|ha(?:s|ve) to|needs? to",
    "may": r"may|can|(?:is|are) (?:permitted|allowed|free|entitled) to",
    "should": r"should|ought to|(?:is|are) (?:encouraged|advised) to",
}
_BOUNDS = {
    "at_least": r"(?:at least|a minimum of|not? (?:fewer|less|earlier|sooner) than)",
    "at_most": r"(?:at most|not? (?:more|greater|longer|later) than|up to|a maximum of"
    r"|within|not to exceed|not exceeding|not in excess of)",
    "above": r"(?:(?:more|greater|longer|later) than|exceeding|in excess of|over|above|after"
    r"|following)",
    "below": r"(?:(?:less|fewer|shorter|earlier) than|under|below|before|prior to)",
}
_UPWARD = {"at_least": True, "above": True, "at_most": False, "below": False}
_PHRASES = re.compile(
    "|".join(rf"\b(?P<{name}>{pattern})\b" for name, pattern in {**_BOUNDS, **_MODALS}.items()),
    re.IGNORECASE,
)
_UNITS = [
    frozenset(group.split())
    for group in (
        "second minute hour day week month quarter year decade",
        "business calendar working",
        "percent dollar euro pound cent",
        "inch foot yard mile meter metre kilometer kilometre centimeter centimetre acre hectare",
        "ounce gram kilogram ton tonne gallon liter litre",
    )
]
_IRREGULAR = {"feet": "foot", "inches": "inch", "centuries": "century"}
_WORD = re.compile(r"[a-z_]+(?:-[a-z]+)*|\d[\d.,]*")
_SUBJECT = re.compile(
    r"([a-z]+(?:-[a-z]+)*) (?:must|shall|may|can|should|will|has|have|is|are)\b", re.IGNORECASE
)
_AGENT = re.compile(r"(?:[^aeiou]er|or|ee|ant|ist|ian)s?$")


def altered(claim: str, sentences: Sequence[str], evidence: str) -> list[str]:
    """What a claim says otherwise than the sentence that it is nearest to word by word.

    Args:
        claim: The claim.
        sentences: Those that say nearly the same.
        evidence: All there is, which tells who the parties are.

    Returns:
        Reasons to read; none where the claim is no copy, or says nothing else.
    """
    ours = _words(claim)
    laid = [(theirs, _laid(theirs, ours)) for theirs in map(_words, sentences)]
    shares = [_share(one, min(len(theirs), len(ours))) for theirs, one in laid]
    if max(shares, default=0.0) < _LIKE:
        return []
    parties = _parties(evidence)
    nearest = (one for one, share in zip(laid, shares, strict=True) if share == max(shares))
    return min((_otherwise(theirs, ours, one, parties) for theirs, one in nearest), key=len)


def _laid(theirs: list[str], ours: list[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, theirs, ours, autojunk=False)


def _share(laid: SequenceMatcher[str], length: int) -> float:
    """How much of the shorter text stands in the longer one, in its order."""
    return sum(block.size for block in laid.get_matching_blocks()) / max(1, length)


def _otherwise(
    theirs: list[str], ours: list[str], laid: SequenceMatcher[str], parties: Set[str]
) -> list[str]:
    found: list[str] = []
    for kind, first, end, start, stop in laid.get_opcodes():
        if kind == "replace" and max(end - first, stop - start) <= _LONGEST:
            was, now = theirs[first:end], ours[start:stop]
            found += _modal(was, now, [*theirs[end : end + 1], *ours[stop : stop + 1]])
            found += _bound(was, now)
            found += _unit(was, now)
            found += _party(was, now, parties)
    return found


def _words(text: str) -> list[str]:
    """Words in small letters, what means one thing in several words as one."""
    whole = _PHRASES.sub(lambda match: str(match.lastgroup), " ".join(text.split()))
    return _WORD.findall(whole.lower())


def _modal(was: list[str], now: list[str], after: list[str]) -> Iterator[str]:
    """Before "not" must and may say the same."""
    if "not" in (*was, *now, *after):
        return
    mine, theirs = set(now) & _MODALS.keys(), set(was) & _MODALS.keys()
    if mine and theirs and mine != theirs:
        yield f"it says “{min(mine)}”, where there is “{min(theirs)}”"


def _bound(was: list[str], now: list[str]) -> Iterator[str]:
    mine = {_UPWARD[word] for word in now if word in _UPWARD}
    theirs = {_UPWARD[word] for word in was if word in _UPWARD}
    if mine and theirs and not mine & theirs:
        yield "it says the other bound"


def _unit(was: list[str], now: list[str]) -> Iterator[str]:
    for group in _UNITS:
        mine, theirs = ({_singular(word) for word in words} & group for words in (now, was))
        if mine and theirs and not mine & theirs:
            yield f"it says {min(mine)}, where there is {min(theirs)}"


def _singular(word: str) -> str:
    return _IRREGULAR.get(word) or (word[:-1] if word.endswith("s") else word)


def _party(was: list[str], now: list[str], parties: Set[str]) -> Iterator[str]:
    mine, theirs = (frozenset(tokenize(" ".join(words))) & parties for words in (now, was))
    if mine - theirs and theirs - mine:
        yield f"it says “{' '.join(now)}”, where there is “{' '.join(was)}”"


@lru_cache(maxsize=64)
def _parties(evidence: str) -> frozenset[str]:
    """The search terms of those who do something: what stands before a modal, and agents."""
    found = _SUBJECT.findall(evidence)
    found += [word for word in evidence.split() if _AGENT.search(word.strip(".,;:()").lower())]
    return frozenset(term for word in found for term in tokenize(word))
