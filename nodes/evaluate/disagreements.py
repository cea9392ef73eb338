"""Where a claim and its evidence cannot both be true: facts, quantities, places and negations."""

import re
from collections.abc import Iterable

from lexloop.corpus.text.tokens import tokenize, words
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.evaluate.facts import dates, facts, number_of, states
from lexloop.nodes.evaluate.negations import contradicts

_CLOSE, _NEARLY = 0.6, 0.8
"""A sentence is about the same as a claim when it holds this share of its terms; and so are those
that hold nearly as many."""
_REFERENCE = re.compile(r"\d+[.\-]\d")


def disagreements(claim: str, evidence: Evidence) -> list[str]:
    """What of a claim the evidence does not bear out, as reasons to read; none where it may hold.

    Args:
        claim: The claim.
        evidence: At least one sentence.
    """
    stated = facts(claim)
    missing = [fact for fact in sorted(stated - evidence.facts) if not states(evidence.text, fact)]
    found = [f"{fact} is not there" for fact in missing]
    if missing:
        return found
    found += [f"{date} is not there" for date in sorted(dates(claim) - dates(evidence.text))]
    about = _about(claim, evidence)
    if not about:
        return found
    found += _other_quantities(claim, [evidence.sentences[i] for i in about])
    found += _other_places(stated, evidence, about)
    wanted = frozenset(tokenize(claim))
    if term := contradicts(claim, [evidence.sentences[i] for i in about], wanted):
        found.append(f"one denies “{term}”, the other does not")
    return found


def _about(claim: str, evidence: Evidence) -> list[int]:
    """The sentences that say nearly what the claim says, its numbers left out."""
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit())
    if not wanted:
        return []
    shares = [len(wanted & terms) / len(wanted) for terms in evidence.terms]
    best = max(shares)
    near = [i for i, share in enumerate(shares) if share >= _NEARLY * best]
    return near if best >= _CLOSE else []


def quantities(text: str) -> set[tuple[str, str]]:
    """Every number, in digits or words, with the search term it counts."""
    following = words(text)
    found: set[tuple[str, str]] = set()
    for place, word in enumerate(following):
        number = number_of(word)
        if number is None:
            continue
        counted = (
            term
            for other in following[place + 1 : place + 4]
            for term in tokenize(other)
            if number_of(other) is None and term not in _QUALIFIERS
        )
        if unit := next(counted, ""):
            found.add((number, unit))
    return found


_QUALIFIERS = frozenset(tokenize("business calendar working full consecutive percent"))


def _other_quantities(claim: str, sentences: list[str]) -> Iterable[str]:
    """Counts for which every sentence about the same thing has another number, and none this."""
    ours = quantities(claim)
    theirs = set().union(*map(quantities, sentences))
    numbers = {number for number, _ in theirs}
    for number, unit in sorted(ours - theirs):
        others = {n for n, u in theirs if u == unit} - {n for n, u in ours if u == unit}
        if others and number not in numbers:
            yield f"{number} is {', '.join(sorted(others))} there"


def _other_places(stated: set[str], evidence: Evidence, about: list[int]) -> Iterable[str]:
    """References to sections under which the evidence says nothing of the kind."""
    named = sorted(fact for fact in stated if _REFERENCE.search(fact))
    if not named or not evidence.places or not all(evidence.places[i] for i in about):
        return
    around = "\n".join(f"{evidence.places[i]}\n{evidence.sentences[i]}" for i in about)
    for reference in named:
        if not states(around, reference) and reference.split("(")[0] not in facts(around):
            yield f"it does not stand in {reference}"
