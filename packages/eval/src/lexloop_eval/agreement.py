"""How well labels agree: those of a judge with people's, or those of two people.

The figures are those of HyPA-RAG's figures 2, 8 and 9 (Spearman's coefficient with its p value,
macro precision, recall and F1, the share of equal labels), and Cohen's kappa.
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
"""The judge's label of an answer, and the person's."""
Figure = Callable[[Sequence[Labels]], Score]
_NONE = Unresolved("no answer has both labels")
_ONE_LABEL = Unresolved("only one label occurs")
_RESAMPLES = 200


@dataclass(frozen=True)
class Judged:
    """One answer with the labels of a judge and of people.

    Args:
        question: The question. Whole questions are resampled.
        question_type: The type of the question.
        score: The judge's score.
        label: This score as a label of the people's scale.
        people: The label of each person, at least one.
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
    pairs = [(row.label, label) for row in rows for label in row.people]
    owners = [row.question for row in rows for _ in row.people]
    questions = [row.question for row in rows]
    means = [mean(row.people) for row in rows]
    scored = [(row.score, label_mean) for row, label_mean in zip(rows, means, strict=True)]
    figures = {
        name: interval_of(figure, pairs, owners, _RESAMPLES) for name, figure in FIGURES.items()
    }
    spearman = partial(correlation, "spearman")
    differences = [row.label - label_mean for row, label_mean in zip(rows, means, strict=True)]
    figures["spearman"] = interval_of(spearman, scored, questions, _RESAMPLES)
    figures["difference"] = (
        interval_of(mean, differences, questions, _RESAMPLES) if rows else estimate([])
    )
    p_difference = paired_randomisation(means, [row.label for row in rows], questions)
    return Agreement(len(rows), figures, correlation_p("spearman", scored), p_difference)


def by_type(rows: Sequence[Judged]) -> dict[str, Agreement]:
    """Return the agreement on the questions of each type."""
    by_question_type: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        by_question_type[row.question_type].append(row)
    return {name: agreement(by_question_type[name]) for name in sorted(by_question_type)}


def _macro(share_of: Callable[[int, int, int], float]) -> Figure:
    """Return the mean over the labels that occur of a share of both, the judge's and people's.

    Plain numbers, as there are five labels at most and many resamples: arrays take longer.
    """

    def figure(pairs: Sequence[Labels]) -> Score:
        both, judge, person = _counted(pairs)
        labels = sorted(judge.keys() | person.keys())
        shares = [share_of(both[label, label], judge[label], person[label]) for label in labels]
        return mean(shares) if shares else _NONE

    return figure


def _kappa(weigh: Callable[[int, int], float]) -> Figure:
    """Return agreement beyond chance, with a weight for each disagreement."""

    def figure(pairs: Sequence[Labels]) -> Score:
        if not pairs:
            return _NONE
        both, judge, person = _counted(pairs)
        observed = sum(count * weigh(*pair) for pair, count in both.items())
        chance = sum(judge[x] * person[y] * weigh(x, y) for x in judge for y in person)
        return 1.0 - observed * len(pairs) / chance if chance else _ONE_LABEL

    return figure


def _equal(pairs: Sequence[Labels]) -> Score:
    return mean([float(judge == person) for judge, person in pairs]) if pairs else _NONE


FIGURES: dict[str, Figure] = {
    # means over labels, as in scikit-learn: one that is never given counts as 0
    "precision": _macro(lambda both, judge, person: both / max(judge, 1)),
    "recall": _macro(lambda both, judge, person: both / max(person, 1)),
    "f1": _macro(lambda both, judge, person: 2 * both / (judge + person)),
    "agreement": _equal,
    "kappa": _kappa(lambda judge, person: float(judge != person)),  # Cohen 1960
    "weighted_kappa": _kappa(lambda judge, person: float((judge - person) ** 2)),  # Cohen 1968
}
"""The figures of labels, by name."""


def _counted(pairs: Sequence[Labels]) -> tuple[Counter[Labels], Counter[int], Counter[int]]:
    """How often each pair occurs, and each label by the judge and by people."""
    judge, person = Counter(label for label, _ in pairs), Counter(label for _, label in pairs)
    return Counter(pairs), judge, person
