"""Whether a claim denies what its evidence says, or says what its evidence denies."""

import re
from collections.abc import Set

from lexloop.corpus.text.tokens import tokenize, words

_NEGATORS = frozenset("not no never none nor neither without cannot nobody nothing nowhere".split())
_SOFT = re.compile(
    r"\b(?:un(?:lawful|able|less|like)\w*|prohibit\w*|forbid\w*|forbidden|illegal\w*|bann?(?:ed|s)?"
    r"|fail\w*|refus\w*|reject\w*|den(?:y|ies|ied)|exempt\w*|except\w*|exclud\w*|lack\w*|avoid\w*"
    r"|absen\w+|prevent\w*|declin\w*|insufficien\w+|left out|leav\w+ out|rather|instead|only|few"
    r"|hardly|little|free)\b",
    re.IGNORECASE,
)
"""Words that may say what a negation says, in claim or evidence: with one, nothing is flagged."""
_BOUNDS_AND_IDIOMS = re.compile(
    r"\b(?:no|not)\s+(?:\w+\s+)?(?:more|later|longer|greater|less|fewer|earlier|sooner|higher|lower)"
    r"\s+than\b|\b(?:no|not)\s+(?:longer|doubt|matter)\b|\bno\.\s*\d|\bnot\s+(?:to\s+exceed|exceed|in\s+excess)\w*"
    r"|\bnot\s+(?:only|just|merely|limited|necessarily)\b|\b(?:whether|or|if)\s+not\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?P<deny>(?:no|not)\s+)?(?P<than>more|later|longer|greater|less|fewer|earlier|sooner|higher"
    r"|lower)\s+than\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"^\s*(?:no|yes)[.,]\s", re.IGNORECASE)
_REACH = 5


def denied(text: str) -> frozenset[str]:
    """The search terms that a negation in ``text`` stands before.

    Bounds ("not more than"), idioms ("not only") and a "No." before the rest deny nothing.
    """
    found: set[str] = set()
    following = words(_BOUNDS_AND_IDIOMS.sub(" ", _VERDICT.sub("", text)))
    for place, word in enumerate(following):
        if word in _NEGATORS or re.search(r"n['’]t$", word):
            near = (tokenize(other) for other in following[place + 1 : place + 1 + _REACH])
            found |= set(next(filter(None, near), ()))
    return frozenset(found)


def negated(text: str) -> bool:
    """Whether ``text`` denies anything, be it by a word that only implies it."""
    return bool(denied(text)) or _SOFT.search(text) is not None


def contradicts(claim: str, sentences: list[str], wanted: Set[str]) -> str | None:
    """The term over which a claim and the sentences that come closest to it disagree.

    Args:
        claim: The claim.
        sentences: Those that hold nearly the most of its terms.
        wanted: The claim's search terms.
    """
    ours, theirs = denied(claim), [denied(sentence) for sentence in sentences]
    if ours:
        if any(
            negated(s) and (not d or d & wanted) for s, d in zip(sentences, theirs, strict=True)
        ):
            return None
        return min(ours, default=None)
    if _SOFT.search(claim):
        return None
    over = [d & wanted for d in theirs]
    return min(frozenset.intersection(*over), default=None) if over else None


def turned(claim: str, sentence: str, wanted: Set[str]) -> str | None:
    """The term that only one of a claim and a sentence in the same words denies.

    Args:
        claim: The claim.
        sentence: One that holds nearly all of its terms.
        wanted: The claim's search terms.
    """
    if {word.lower() for word in _SOFT.findall(claim)} - {
        word.lower() for word in _SOFT.findall(sentence)
    }:
        return None
    ours, theirs = _bounds(claim), _bounds(sentence)
    for deny, than in sorted(ours - theirs):
        if (not deny, than) in theirs:
            return f"{than} than"
    held = frozenset(tokenize(sentence))
    return min((denied(claim) & held) ^ (denied(sentence) & wanted), default=None)


def _bounds(text: str) -> set[tuple[bool, str]]:
    return {(bool(bound["deny"]), bound["than"].lower()) for bound in _BOUND.finditer(text)}
