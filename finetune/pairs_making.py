"""From questions to pairs: repeats left out, split by document, with hard negatives."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Collection as Names
from dataclasses import dataclass, replace

from lexloop.core.errors import CorpusError
from lexloop.core.settings import Settings
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.text.tokens import term_set, words
from lexloop.evaluation.case import Case
from lexloop.finetune.checkpoints import Report
from lexloop.finetune.graph_runs import retriever
from lexloop.finetune.pairs import FEWEST, TrainingPair, split
from lexloop.finetune.questions import AnsweredQuestion, ProvisionText

MOST_ANSWERS = 3
"""A question that more provisions answer is too general to tell any of them from the rest."""
_MOST_NEGATIVES = 3
_DEPTH = 12
_SAME = 0.7
"""Of the stems of the shorter of two texts, the share from which on they say the same."""
Mine = Callable[[str, Sequence[ProvisionText], Names[str]], tuple[str, ...]]
"""From a question, its answers and the documents to look in to the texts of its negatives."""


@dataclass(frozen=True)
class MadePairs:
    """The pairs of some questions.

    Args:
        training: In the order of the documents.
        kept: Of other documents, to measure on; empty where nothing is to be kept, or where there
            would be fewer than two pairs on a side, as which they could not be used.
        left_out: How many questions were, because they repeat or are too general, or because their
            provision stands in a kept document word for word.
    """

    training: list[TrainingPair]
    kept: list[TrainingPair]
    left_out: int


def make_pairs(
    asked: Iterable[AnsweredQuestion],
    documents: Names[str],
    *,
    share: float,
    seed: int,
    mine: Mine | None = None,
    report: Report = lambda *_: None,
) -> MadePairs:
    """Make pairs of questions.

    The share of the documents that is kept for measuring may be 0. ``mine`` finds the negatives of
    a question in the documents on its side of the split; None for none.

    Raises:
        CorpusError: There are fewer than two pairs.
        InputError: The share is none, or one side of the split is empty.
    """
    questions = list(asked)
    groups = by_question(questions)
    answers = {group[0].question: [one.provision for one in group] for group in groups}
    every = [replace(one, question=group[0].question) for group in groups for one in group]
    every.sort(key=lambda one: (one.provision.document, one.provision.start))
    pairs = [
        TrainingPair(
            one.question,
            one.provision.text,
            one.provision.heading,
            one.provision.document,
            one.source,
        )
        for one in every
    ]
    if len(pairs) < FEWEST:
        raise CorpusError(
            f"The documents give {len(pairs)} pairs.",
            "They hold too little text, or none that states rules; with --model a model asks.",
        )
    training, kept = split(pairs, share, seed) if share else (pairs, [])
    if min(len(training), len(kept)) < FEWEST:
        training, kept = pairs, []
    left_out = len(questions) - len(training) - len(kept)
    if mine is not None:
        held = {pair.document for pair in kept}
        apart = [name for name in documents if name not in held]
        done = 0
        for side, allowed in ((training, apart), (kept, held)):
            found_for: dict[str, tuple[str, ...]] = {}
            for place, pair in enumerate(side):
                asking = pair.question
                if asking not in found_for:
                    found_for[asking] = mine(asking, answers[asking], frozenset(allowed))
                side[place] = replace(pair, negatives=found_for[asking])
                done += 1
                report("negatives", done, len(training) + len(kept))
    return MadePairs(training, kept, left_out)


def by_question(asked: Iterable[AnsweredQuestion]) -> list[list[AnsweredQuestion]]:
    """Return what answers each question, told by its words; a text that does so twice counts once.

    Questions that more than three texts answer are left out.
    """
    groups: dict[str, dict[str, AnsweredQuestion]] = defaultdict(dict)
    for one in asked:
        key = " ".join(words(one.question)) or one.question
        groups[key].setdefault(" ".join(words(one.provision.text)), one)
    return [[*group.values()] for group in groups.values() if len(group) <= MOST_ANSWERS]


def miner(collection: Collection, settings: Settings) -> Mine:
    """Return a function that finds hard negatives by what the graph retrieves without a model.

    They are up to three texts that do not answer, of the given documents alone, the one ranked
    highest first.
    """
    retrieve = retriever(collection, settings, _DEPTH)

    def mine(
        question: str, answers: Sequence[ProvisionText], documents: Names[str]
    ) -> tuple[str, ...]:
        said = [term_set(answer.text) for answer in answers]
        found: dict[str, None] = {}
        for passage in retrieve(Case(question=question)):
            place = passage["document"], passage["start"], passage["end"]
            apart = not any(answer.overlaps(*place) for answer in answers)
            text = " ".join(passage["text"].split())
            if apart and passage["document"] in documents and not _repeats(text, said):
                found[text] = None
            if len(found) == _MOST_NEGATIVES:
                break
        return tuple(found)

    return mine


def _repeats(text: str, said: Sequence[frozenset[str]]) -> bool:
    terms = term_set(text)
    return any(len(terms & own) >= _SAME * max(1, min(len(terms), len(own))) for own in said)
