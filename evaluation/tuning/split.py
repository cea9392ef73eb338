"""Which gold questions tune and which report: near-duplicates stay together, types are shared out.

A question that is worded like one of the other part would be reported on after having been tuned
on, so whole groups of near-duplicates are dealt.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lexloop.core.errors import InputError
from lexloop.corpus.text.tokens import words
from lexloop.evaluation.case import Case

TUNED_SHARE = 0.6
"""The rest reports, as in Sultania et al."""
SAME_QUESTION, SAME_ANSWER, ALIKE = 0.8, 0.9, 0.4
"""Shares of common words: of two questions; of two answers, where the questions are alike."""


@dataclass(frozen=True)
class Split:
    """The questions of each part, in the file's order; ``groups`` has the group of every id."""

    tuning: tuple[Case, ...]
    held_out: tuple[Case, ...]
    groups: dict[str, int]


def split(gold: Sequence[Case], seed: int, share: float = TUNED_SHARE) -> Split:
    """Deal whole groups to the two parts, so that each question type is shared out evenly.

    Args:
        gold: The questions.
        seed: Decides which groups go where.
        share: The part of the questions that tunes, about.

    Raises:
        InputError: One of the parts would be empty.
    """
    groups = near_duplicates(gold)
    members: dict[int, list[Case]] = defaultdict(list)
    for question in gold:
        members[groups[question.id]].append(question)
    order = sorted(members)
    random.Random(seed).shuffle(order)  # noqa: S311 - a split is no secret
    order.sort(key=lambda group: -len(members[group]))
    wanted = Counter(question.question_type for question in gold)
    taken: Counter[str] = Counter()
    tuning: set[str] = set()
    for group in order:
        types = Counter(question.question_type for question in members[group])
        missing = sum(n * (share * wanted[name] - taken[name]) for name, n in types.items())
        if 2 * missing >= sum(n * n for n in types.values()):
            taken += types
            tuning |= {question.id for question in members[group]}
    parts = Split(
        tuple(question for question in gold if question.id in tuning),
        tuple(question for question in gold if question.id not in tuning),
        groups,
    )
    if not parts.tuning or not parts.held_out:
        raise InputError(
            f"{len(gold)} questions in {len(members)} groups of near-duplicates cannot be split.",
            "Give questions that differ, at least a few dozen of them.",
        )
    return parts


def near_duplicates(gold: Sequence[Case]) -> dict[str, int]:
    """The group of every question, by its id.

    Two questions belong together when most of their words, with the user's turns before them, are
    the same; or when their answers are nearly the same and the questions somewhat. The answers of
    questions out of scope, which all say the same, do not count.
    """
    asked = [frozenset(words(_said(question))) for question in gold]
    answers = [
        frozenset() if question.out_of_scope else frozenset(words(question.reference_answer or ""))
        for question in gold
    ]
    leader = list(range(len(gold)))

    def first(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for i in range(len(gold)):
        for j in range(i):
            alike = _common(asked[i], asked[j])
            if alike >= SAME_QUESTION or (
                alike >= ALIKE and _common(answers[i], answers[j]) >= SAME_ANSWER
            ):
                one, other = sorted((first(i), first(j)))
                leader[other] = one
    return {question.id: first(place) for place, question in enumerate(gold)}


def _said(question: Case) -> str:
    before = [turn.content for turn in question.conversation_history if turn.role == "user"]
    return " ".join([*before, question.question])


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index; 0 where there are no words."""
    return len(one & other) / len(one | other) if one and other else 0.0
