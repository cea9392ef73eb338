"""Questions that two facts answer: double, comparing, and a situation with a further question."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

from lexloop.corpus.text.tokens import tokenize
from lexloop.evaluation.testset.ask import lowered
from lexloop.evaluation.testset.draft import Draft, asked_of_all
from lexloop.evaluation.testset.facts import Fact
from lexloop.evaluation.testset.single import roles, situation

Pair = tuple[Fact, Fact]
_COMPARISONS = (
    "What is the difference between {a} and {b}?",
    "How do {a} and {b} differ, and how are they related?",
    "What do {a} and {b} have in common, and what sets them apart?",
    "How does {a} differ from {b}?",
)
_COMPARED = ("content", "list", "time", "condition", "purpose")
_BY_SHAPE = ("content", "list")
_TELLING_CHARS = 8
_MOST_PAIRED = 400
_MOST_PAIRS = 240
_SHORT = 15


def double(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """Two questions in one sentence."""
    short = [f for f in facts if not f.ask.front and len(f.ask.direct().split()) <= _SHORT]
    for one, other in _pairs(short, rng):
        if one.kind == other.kind == "alias" or one.pieces + other.pieces > 4:
            continue
        question = f"{one.ask.direct()[:-1]}, and {lowered(other.ask.direct())}"
        yield asked_of_all([one, other], "double", question)


def compare(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """What two terms mean, or what two of a kind must do, side by side."""
    defined = [fact for fact in facts if fact.kind == "definition"]
    for one, other in _pairs(defined, rng, lambda fact: f"{fact.ask.subject} {fact.answer}"):
        a, b = _term(one), _term(other)
        if _are_kin(one, other):
            question = rng.choice(_COMPARISONS).format(a=a, b=b)
            yield asked_of_all([one, other], "compare", question)
        elif _are_tied(one, other):
            draft = asked_of_all([one, other], "compare", f"How does {a} relate to {b}?")
            yield replace(draft, spare=True)
    for one, other in _pairs([f for f in facts if f.kind in _COMPARED and not f.ask.front], rng):
        same = one.ask.opening == other.ask.opening and one.pieces == other.pieces == 1
        if same and (one.kind not in _BY_SHAPE or _shape(one) == _shape(other)):
            question = f"Compare {_matter(one)} with {_matter(other)}."
            yield replace(asked_of_all([one, other], "compare", question), spare=True)


def complex_situational(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """Who asks, a question, and a further one about the same."""
    acting = roles(facts)
    for one, other in _pairs([f for f in facts if f.kind != "alias"], rng):
        if one.pieces + other.pieces > 4 or (one.ask.front and other.ask.front):
            continue
        defining = "definition" in (one.kind, other.kind)
        same = one.ask.subject == other.ask.subject and not defining
        further = other.ask.of_it() if same else other.ask.direct()
        who = situation(one, acting, rng)
        joint = rng.choice(("Also,", "And", "In addition,"))
        question = f"{who} {one.ask.direct()} {joint} {lowered(further)}"
        yield asked_of_all([one, other], "complex_situational", question)


def _pairs(
    facts: Sequence[Fact], rng: Random, said: Callable[[Fact], str] = lambda fact: fact.ask.direct()
) -> list[Pair]:
    """Pairs that have a word in common, in random order, those with more in common first."""
    if len(facts) > _MOST_PAIRED:
        facts = rng.sample(facts, _MOST_PAIRED)
    words = [frozenset(tokenize(said(fact))) for fact in facts]
    found: list[tuple[float, float, int, int]] = []
    for i, j in combinations(range(len(facts)), 2):
        if set(facts[i].spans) & set(facts[j].spans):
            continue
        shared = len(words[i] & words[j]) / max(1, min(len(words[i]), len(words[j])))
        near = facts[i].spans[0].document == facts[j].spans[0].document
        if shared and near:
            found.append((-round(shared, 1), rng.random(), i, j))
    found.sort()
    chosen = [(i, j) if rng.random() < 0.5 else (j, i) for _, _, i, j in found[:_MOST_PAIRS]]
    return [(facts[i], facts[j]) for i, j in chosen]


def _term(fact: Fact) -> str:
    return fact.ask.subject.removeprefix("the term ")


def _are_kin(one: Fact, other: Fact) -> bool:
    """Whether two terms are of a kind: their names share a word, and neither holds the other."""
    a, b = set(tokenize(_term(one))), set(tokenize(_term(other)))
    return bool(a & b) and not (a <= b or b <= a)


def _are_tied(one: Fact, other: Fact) -> bool:
    """Whether one of two terms is explained by the other."""

    def named(term: str, answer: str) -> bool:
        plain = term.strip("'").split(" ", term.startswith(("a ", "an ", "the ")))[-1].lower()
        return len(plain) >= _TELLING_CHARS and plain in answer.lower()

    return named(_term(one), other.answer) or named(_term(other), one.answer)


def _matter(fact: Fact) -> str:
    """What is compared: "the conditions under which the Buyer may reject a delivery"."""
    told = fact.ask.indirect().replace("under what conditions", "the conditions under which")
    told = told.replace("for what purpose", "the purpose for which")
    return re.sub(r"^for how long", "how long", told)


def _shape(fact: Fact) -> tuple[str, str, str]:
    return fact.ask.opening, fact.ask.aux, fact.ask.rest
