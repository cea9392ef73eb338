"""Where a claim and its evidence cannot both be true: facts, quantities, places and negations."""

import re
from collections.abc import Iterable, Iterator, Set

from lexloop.corpus.text.tokens import tokenize, words
from lexloop.nodes.evaluate.alterations import altered
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.evaluate.facts import dates, facts, number_of, states
from lexloop.nodes.evaluate.negations import contradicts, turned

_CLOSE, _SAME, _NEARLY = 0.6, 0.9, 0.8
"""A sentence that holds this share of a claim's terms is about the same thing, or says the same
in the same words; those that hold nearly as many as the best one count as well."""
_CLAUSE = re.compile(r"[,;:.()](?:\s|$)")
_QUALIFIERS = frozenset(tokenize("business calendar working full consecutive percent"))
_REFERENCE = re.compile(r"\d[.\-]\d")


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
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit())
    about = _about(wanted, evidence, _CLOSE)
    near = [evidence.sentences[i] for i in about]
    found += _other_quantities(claim, near)
    found += _other_places(stated, evidence, about)
    same = _about(wanted, evidence, _SAME)
    if same:
        found += _other_facts(stated, evidence, same)
        turns = [turned(claim, evidence.sentences[i], wanted) for i in same]
        found += [_denial(min(filter(None, turns)))] if all(turns) else []
        found += altered(claim, [evidence.sentences[i] for i in same], evidence.text)
    elif near and (term := contradicts(claim, near, wanted)):
        found.append(_denial(term))
    return list(dict.fromkeys(found))


def _denial(term: str) -> str:
    return f"one denies “{term}”, the other does not"


def _about(wanted: frozenset[str], evidence: Evidence, least: float) -> list[int]:
    """The sentences that hold at least this share of a claim's terms, and nearly the most."""
    shares = [len(wanted & terms) / max(1, len(wanted)) for terms in evidence.terms]
    bar = max(least, _NEARLY * max(shares))
    return [i for i, share in enumerate(shares) if share >= bar]


def quantities(text: str) -> set[tuple[str, str]]:
    """Every number, in digits or words, with the search term it counts."""
    return {pair for clause in _CLAUSE.split(text) for pair in _counted(words(clause))}


def _counted(following: list[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(following):
        number = number_of(word)
        terms = (
            term
            for other in following[place + 1 : place + 4]
            for term in tokenize(other)
            if number_of(other) is None and term not in _QUALIFIERS
        )
        if number is not None and (unit := next(terms, "")):
            yield number, unit


def _other_quantities(claim: str, sentences: list[str]) -> Iterable[str]:
    """Counts for which every sentence about the same thing has another number, and none this."""
    ours = quantities(claim)
    theirs = set().union(*map(quantities, sentences))
    numbers = {number for number, _ in theirs}
    for number, unit in sorted(ours - theirs):
        others = {n for n, u in theirs if u == unit} - {n for n, u in ours if u == unit}
        if others and number not in numbers:
            yield f"{number} is {', '.join(sorted(others))} there"


def _other_facts(stated: Set[str], evidence: Evidence, same: list[int]) -> Iterable[str]:
    """Facts of a claim that stand elsewhere, where others stand among the claim's own words."""
    around = "\n".join(_placed(evidence, i) for i in same)
    if not facts("\n".join(evidence.sentences[i] for i in same)) - stated:
        return ()
    return (f"{fact} is not there" for fact in sorted(stated) if not states(around, fact))


def _placed(evidence: Evidence, i: int) -> str:
    return f"{evidence.places[i] if evidence.places else ''}\n{evidence.sentences[i]}"


def _other_places(stated: Set[str], evidence: Evidence, about: list[int]) -> Iterable[str]:
    """References to sections under which the evidence says nothing of the kind."""
    named = sorted(fact for fact in stated if _REFERENCE.search(fact))
    if not (named and about and evidence.places and all(evidence.places[i] for i in about)):
        return
    around = "\n".join(_placed(evidence, i) for i in about)
    for reference in named:
        if not states(around, reference) and reference.split("(")[0] not in facts(around):
            yield f"it does not stand in {reference}"
