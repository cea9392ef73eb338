"""The complexity classifier's training set: questions labelled by how much they need.

Label 0 needs one piece of information, 1 needs two, 2 needs three or more (HyPA-RAG, section 7.1).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Literal

from lexloop.core.errors import CorpusError, InputError
from lexloop.evaluation.testset.noise import NOISES
from lexloop.evaluation.testset.phrases import lowered
from lexloop.evaluation.testset.templates import Fact

Noise = Literal["paper", "independent"]
SHARES: dict[str, float] = {
    "vague": 0.10,
    "words or punctuation": 0.10,
    "words and punctuation": 0.10,
    "reordered": 0.05,
    "misspelt": 0.05,
}
"""Of all questions; besides, a quarter of label 0 is made verbose and one of label 2 shortened."""
TARGETED: dict[str, tuple[int, float]] = {"verbose": (0, 0.25), "shortened": (2, 0.25)}
NONE = "none"
_LABELS = (0, 1, 2)
_MOST_PIECES = 4
_POOL = 200_000
_FEW, _SPARE = 24, 2
_OPENINGS = ("Explain {}.", "Please describe {}.", "Tell me {}.", "I need to know {}.",
             "Can you clarify {}?", "Could you tell me {}?")  # fmt: skip
Change = Callable[[str, str, Random], str]


@dataclass(frozen=True)
class TrainingRow:
    """A question, its label, itself before noise, and which noise it got."""

    question: str
    label: int
    question_clean: str
    noise: str = NONE


def training_set(
    facts: Sequence[Fact],
    n: int,
    seed: int,
    noise: Noise = "paper",
    change: Change = lambda kind, text, rng: NOISES[kind](text, rng),
) -> list[TrainingRow]:
    """``n`` labelled questions, the labels as even as can be, in random order.

    Args:
        facts: What can be asked.
        n: How many; fewer come where the facts do not give as many.
        seed: Of every choice.
        noise: ``paper`` makes label 0 verbose and label 2 short, so that the noise gives the label
            away; ``independent`` spreads the same number of each over all labels alike.
        change: Applies a noise by name to a question.

    Raises:
        InputError: ``n`` is less than 1.
        CorpusError: The facts give no question of some label.
    """
    if n < 1:
        raise InputError(f"n is {n}.", "Ask for at least 1 question.")
    facts = [fact for fact in facts if fact.clause]
    rng = Random(f"{seed}:training")  # noqa: S311 - a choice, no secret
    rows: list[TrainingRow] = []
    for label in _LABELS:
        share = n // 3 + (label < n % 3)
        rows += [TrainingRow(text, label, text) for text in _questions(facts, label, share, rng)]
    missing = [label for label in _LABELS if n >= 3 and not any(r.label == label for r in rows)]
    if missing or not rows:
        raise CorpusError(
            f"The documents give no question of label {missing[0] if missing else 0}.",
            "They state too few facts; give more documents.",
        )
    kinds = _assigned([row.label for row in rows], noise, rng)
    noised = [
        row if kind == NONE else replace(row, question=change(kind, row.question, rng), noise=kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]
    rng.shuffle(noised)
    return noised


def _questions(facts: Sequence[Fact], label: int, wanted: int, rng: Random) -> list[str]:
    """Different questions that need ``label + 1`` pieces, or three and four for label 2."""
    pool = sorted(set(_texts(facts, label, wanted, rng)))
    rng.shuffle(pool)
    return pool[:wanted]


def _texts(facts: Sequence[Fact], label: int, wanted: int, rng: Random) -> Iterator[str]:
    for fact in facts:
        if min(fact.pieces, _LABELS[-1] + 1) == label + 1:
            yield from _worded([fact])
    single = [fact for fact in facts if fact.pieces == 1]
    sizes = {0: (), 1: (2,), 2: (3, _MOST_PIECES)}[label]
    drawn = min(wanted * _SPARE + _FEW, _POOL)
    for size in sizes:
        if len(single) < _FEW:
            groups = list(combinations(single, size))
        else:
            groups = [tuple(rng.sample(single, size)) for _ in range(drawn)]
        for group in rng.sample(groups, min(drawn, len(groups))):
            yield rng.choice(list(_worded(group)))


def _worded(facts: Sequence[Fact]) -> Iterator[str]:
    asked = [lowered(fact.question[:-1]) for fact in facts]
    told = [fact.clause for fact in facts]
    joined = _listed(asked)
    yield f"{joined[0].upper()}{joined[1:]}?"
    for opening in _OPENINGS:
        yield opening.format(_listed(told))


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 3:
        return ", and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _assigned(labels: Sequence[int], noise: Noise, rng: Random) -> list[str]:
    """The noise of each row, every share exact up to rounding.

    The kinds of ``SHARES``, and in the independent variant all of them, are spread over the labels
    in proportion, so that they say nothing of the label.
    """
    kinds = [NONE] * len(labels)
    free = {label: [i for i, own in enumerate(labels) if own == label] for label in _LABELS}
    sizes = {label: len(rows) for label, rows in free.items()}
    for rows in free.values():
        rng.shuffle(rows)
    counts = {kind: round(share * len(labels)) for kind, share in SHARES.items()}
    targeted = {
        kind: (label, round(share * sizes[label])) for kind, (label, share) in TARGETED.items()
    }
    if noise == "independent":
        counts |= {kind: count for kind, (_, count) in targeted.items()}
    else:
        for kind, (label, count) in targeted.items():
            for row in [free[label].pop() for _ in range(count)]:
                kinds[row] = kind
    drawn: dict[int, float] = dict.fromkeys(_LABELS, 0.0)
    for kind, count in counts.items():
        for label, own in _proportional(count, sizes, drawn).items():
            for row in [free[label].pop() for _ in range(min(own, len(free[label])))]:
                kinds[row] = kind
    return kinds


def _proportional(count: int, sizes: Mapping[int, int], drawn: dict[int, float]) -> dict[int, int]:
    """``count`` over the labels by their sizes; ``drawn`` carries what rounding still owes each."""
    total = sum(sizes.values())
    for label, size in sizes.items():
        drawn[label] += count * size / total
    shares = dict.fromkeys(sizes, 0)
    for _ in range(count):
        label = max(sizes, key=lambda name: (drawn[name], -name))
        shares[label] += 1
        drawn[label] -= 1
    return shares
