"""How well labels agree: those of a judge with people's, or those of two people.

The figures are those of HyPA-RAG's figures 2, 8 and 9 (Spearman's coefficient with its p value,
macro precision, recall and F1, the share that is equal), and Cohen's kappa.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from lexloop_eval.score import Score, Unresolved
from lexloop_eval.statistics import (
    Estimate,
    correlation,
    correlation_p,
    estimate,
    interval_of,
    mean,
    paired_randomisation,
)

Labels = tuple[int, int]
"""What the judge calls an answer, and what the person does."""
_NONE = Unresolved("no answer has both labels")
_ONE_LABEL = Unresolved("only one label occurs")
_RESAMPLES = 200


@dataclass(frozen=True)
class Judged:
    """One answer by a judge and by people.

    Args:
        question: What it answers; whole questions are resampled.
        question_type: Of the question.
        score: As the judge gave it.
        label: That score as a label of the people's scale.
        people: The label of each person, of one at least.
    """

    question: Hashable
    question_type: str
    score: float
    label: int
    people: tuple[int, ...]


@dataclass(frozen=True)
class Agreement:
    """How well a judge agrees with people.

    Args:
        answers: How many both judged.
        figures: Each of ``FIGURES``, ``spearman`` and ``difference`` (the judge's label less the
            mean of the people's) with its interval.
        p: Of Spearman's coefficient, as scipy approximates it.
        p_difference: Of the difference, by a paired randomisation test.
    """

    answers: int
    figures: dict[str, Estimate | Unresolved]
    p: Score
    p_difference: Score


def agreement(rows: Sequence[Judged]) -> Agreement:
    """Return how well a judge agrees with people.

    Of labels, every person's counts by itself; correlation and difference take the mean of an
    answer's people. Intervals resample whole questions.
    """
    pairs = [(row.label, given) for row in rows for given in row.people]
    owners = [row.question for row in rows for _ in row.people]
    questions = [row.question for row in rows]
    means = [mean(row.people) for row in rows]
    scored = [(row.score, given) for row, given in zip(rows, means, strict=True)]
    figures = {
        name: interval_of(figure, pairs, owners, _RESAMPLES) for name, figure in FIGURES.items()
    }
    spearman = partial(correlation, "spearman")
    differences = [row.label - given for row, given in zip(rows, means, strict=True)]
    figures["spearman"] = interval_of(spearman, scored, questions, _RESAMPLES)
    figures["difference"] = (
        interval_of(mean, differences, questions, _RESAMPLES) if rows else estimate([])
    )
    p_difference = paired_randomisation(means, [row.label for row in rows], questions)
    return Agreement(len(rows), figures, correlation_p("spearman", scored), p_difference)


def by_type(rows: Sequence[Judged]) -> dict[str, Agreement]:
    """Return the agreement on the questions of each type."""
    found: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        found[row.question_type].append(row)
    return {name: agreement(found[name]) for name in sorted(found)}


def precision(pairs: Sequence[Labels]) -> Score:
    """Return the mean over labels of how many that the judge calls so people do, too.

    A label that the judge never gives has 0, as in scikit-learn.
    """
    return _macro(pairs, lambda both, judge, person: both / max(judge, 1))


def recall(pairs: Sequence[Labels]) -> Score:
    """Return the mean over labels of how many that people call so the judge does, too."""
    return _macro(pairs, lambda both, judge, person: both / max(person, 1))


def f1(pairs: Sequence[Labels]) -> Score:
    """Return the mean over labels of the harmonic mean of precision and recall."""
    return _macro(pairs, lambda both, judge, person: 2 * both / (judge + person))


def equal(pairs: Sequence[Labels]) -> Score:
    """Return the share of pairs whose labels are the same."""
    return mean([float(judge == person) for judge, person in pairs]) if pairs else _NONE


def kappa(pairs: Sequence[Labels]) -> Score:
    """Return Cohen's kappa: agreement beyond what chance alone would bring (Cohen 1960)."""
    return _kappa(pairs, lambda judge, person: float(judge != person))


def weighted_kappa(pairs: Sequence[Labels]) -> Score:
    """Return kappa where labels further apart disagree more, by the square (Cohen 1968)."""
    return _kappa(pairs, lambda judge, person: float((judge - person) ** 2))


FIGURES: dict[str, Callable[[Sequence[Labels]], Score]] = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "agreement": equal,
    "kappa": kappa,
    "weighted_kappa": weighted_kappa,
}
"""The figures of labels, by name."""


def _macro(pairs: Sequence[Labels], of_label: Callable[[int, int, int], float]) -> Score:
    """The mean over the labels that occur, by how often both, judge and person give each.

    Plain numbers, as there are five labels at most and many resamples: arrays take longer.
    """
    if not pairs:
        return _NONE
    both, judge, person = _counted(pairs)
    labels = judge.keys() | person.keys()
    return mean([of_label(both[one, one], judge[one], person[one]) for one in sorted(labels)])


def _kappa(pairs: Sequence[Labels], weigh: Callable[[int, int], float]) -> Score:
    if not pairs:
        return _NONE
    both, judge, person = _counted(pairs)
    seen = sum(count * weigh(*pair) for pair, count in both.items())
    chance = sum(
        judge[one] * person[other] * weigh(one, other) for one in judge for other in person
    )
    return 1.0 - seen * len(pairs) / chance if chance else _ONE_LABEL


def _counted(pairs: Sequence[Labels]) -> tuple[Counter[Labels], Counter[int], Counter[int]]:
    """How often each pair occurs, and each label by the judge and by people."""
    both = Counter(pairs)
    judge, person = Counter[int](), Counter[int]()
    for (one, other), count in both.items():
        judge[one] += count
        person[other] += count
    return both, judge, person
