"""From questions to pairs: repeats left out, split by document, with hard negatives."""

from collections.abc import Callable, Iterable
from collections.abc import Collection as Names
from dataclasses import dataclass, replace

from lexloop.core.errors import CorpusError
from lexloop.finetune.asked import Asked, by_question
from lexloop.finetune.pairs import FEWEST, Pair, split
from lexloop.finetune.provisions import Provision

Mine = Callable[[str, list[Provision], Names[str]], tuple[str, ...]]
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Made:
    """What was made.

    Args:
        training: In the order of the documents.
        kept: Of other documents, to measure on; empty where nothing is to be kept.
        left_out: How many questions were, because they repeat or are too general, or because their
            provision stands in a kept document word for word.
    """

    training: list[Pair]
    kept: list[Pair]
    left_out: int


def make_pairs(
    asked: Iterable[Asked],
    documents: Names[str],
    *,
    share: float,
    seed: int,
    mine: Mine | None = None,
    report: Report = lambda *_: None,
) -> Made:
    """The pairs of some questions.

    Args:
        asked: The questions, in any order.
        documents: All documents that negatives may come from.
        share: Of the documents, how many are kept for measuring; 0 for none.
        seed: Another one keeps other documents.
        mine: Finds the negatives of a question with its answers in the documents on its side of
            the split; None for none.
        report: Told how many questions of how many have their negatives.

    Raises:
        CorpusError: There are fewer than two pairs.
        InputError: The share is none, or one side of the split is empty.
    """
    questions = list(asked)
    groups = by_question(questions)
    answers = {group[0].question: [one.provision for one in group] for group in groups}
    every = [replace(one, question=group[0].question) for group in groups for one in group]
    every.sort(key=lambda one: (one.provision.document, one.provision.start))
    pairs = [one.pair() for one in every]
    if len(pairs) < FEWEST:
        raise CorpusError(
            f"The documents give {len(pairs)} pairs.",
            "They hold too little text, or none that states rules; with --model a model asks.",
        )
    training, kept = split(pairs, share, seed) if share else (pairs, [])
    left_out = len(questions) - len(training) - len(kept)
    if mine is not None:
        held = {pair.document for pair in kept}
        apart = [name for name in documents if name not in held]
        done = 0
        for side, allowed in ((training, apart), (kept, held)):
            found: dict[str, tuple[str, ...]] = {}
            for place, pair in enumerate(side):
                asking = pair.question
                if asking not in found:
                    found[asking] = mine(asking, answers[asking], frozenset(allowed))
                side[place] = replace(pair, negatives=found[asking])
                done += 1
                report("negatives", done, len(training) + len(kept))
    return Made(training, kept, left_out)
