"""Agreement of people's labels with each other and with each judge, as figures and text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

from lexloop.core.settings_groups import EMBEDDED_MARKS
from lexloop_eval.agreement import Agreement, Judged, agreement, by_type
from lexloop_eval.correctness import GOOD, HIGHEST, LOWEST
from lexloop_eval.labels import SCALES, Asked, Key, RunAnswer, RunAnswers, label_of
from lexloop_eval.record import Label
from lexloop_eval.report.tables import (
    Cell,
    Figures,
    Table,
    Value,
    as_markdown,
    interval,
    number,
    of_estimate,
    plain_cell,
    probability,
    rounded,
)
from lexloop_eval.score import is_resolved

Given = dict[str, dict[Key, int]]
"""The labels of one question, by person and by the answer's key."""
_MARK = EMBEDDED_MARKS.groundedness
_MARKS = {
    **dict.fromkeys(("groundedness", "model_groundedness", "model_groundedness_tenths"), _MARK),
    **dict.fromkeys(("faithfulness", "model_faithfulness", "passed"), 1.0),
}
"""From which score on a judge says that an answer is supported; of shares of claims all count."""
_CORRECTNESS = ("correctness", "model_correctness_")
_BINARY = "model_correct_or_not"
_HEADS = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "agreement": "Agreement",
    "kappa": "Kappa",
    "weighted_kappa": "Weighted kappa",
    "spearman": "Spearman",
}
_BETWEEN = ("agreement", "kappa", "weighted_kappa", "spearman")
_BY_TYPE = ("precision", "recall", "f1", "agreement", "spearman")
_NOTE = (
    "[95 % bootstrap interval, questions resampled whole]. Precision, recall and F1 are means over "
    "the labels; kappa is weighted by the square. p: of Spearman's coefficient."
)
_TITLES: dict[Asked, str] = {"correct": "Correct, 1 to 5", "supported": "Supported, no or yes"}


class _Judge(NamedTuple):
    """A score read as a label; ``of_person`` is the same of a person's."""

    name: str
    score: str
    label: Callable[[float], int]
    of_person: Callable[[int], int]


def summarise(run: RunAnswers, labels: Mapping[str, Mapping[Key, Label]]) -> Figures:
    """Return the figures of people's labels.

    Returns:
        ``people``: the number of answers that each person labelled. ``correct`` and ``supported``,
        if anybody was asked: ``between``, a row for every two people, and ``judges``, a row for
        every judge and then for each question type.
    """
    labels_by_question: dict[Asked, Given] = {asked: _given(labels, asked) for asked in SCALES}
    people = {
        person: {asked: len(labels_by_question[asked].get(person, {})) for asked in SCALES}
        for person in labels
    }
    summary: Figures = {"run": str(run.folder), "people": people}
    for asked, own in labels_by_question.items():
        if own:
            summary[asked] = {"between": _between(run, own), "judges": _judged(run, own, asked)}
    return summary


def _given(labels: Mapping[str, Mapping[Key, Label]], asked: Asked) -> Given:
    by_person: Given = {}
    for person, lines in labels.items():
        labels_of_person = {key: label_of(line, asked) for key, line in lines.items()}
        if own := {key: label for key, label in labels_of_person.items() if label is not None}:
            by_person[person] = own
    return by_person


def _between(run: RunAnswers, by_person: Given) -> list[Figures]:
    """A row for every two people, on the answers that both labelled."""
    rows: list[Figures] = []
    for first, second in combinations(by_person, 2):
        shared = [key for key in by_person[first] if key in by_person[second]]
        pairs = [
            _row(
                run.by_key[key],
                float(by_person[first][key]),
                by_person[first][key],
                [by_person[second][key]],
            )
            for key in shared
        ]
        rows.append({"people": [first, second], **_figures(agreement(pairs))})
    return rows


def _judged(run: RunAnswers, by_person: Given, asked: Asked) -> list[Figures]:
    """A row for every judge over all questions, then one for each of their types."""
    keys = list(dict.fromkeys(key for own in by_person.values() for key in own))
    labelled = [run.by_key[key] for key in keys]
    overall: list[Figures] = []
    parts: list[Figures] = []
    for judge in _judges(asked, labelled):
        rows = []
        for answer in labelled:
            score = answer.scores.get(judge.score)
            if score is None or not is_resolved(score):
                continue
            people = [own[answer.key] for own in by_person.values() if answer.key in own]
            scores = [judge.of_person(label) for label in people]
            rows.append(_row(answer, score, judge.label(score), scores))
        head: Figures = {"judge": judge.name, "question_type": None}
        overall.append(head | _figures(agreement(rows)))
        types = by_type(rows)
        if len(types) > 1:
            parts += [
                head | {"question_type": t} | _figures(estimate) for t, estimate in types.items()
            ]
    return overall + parts


def _row(answer: RunAnswer, score: float, label: int, people: Sequence[int]) -> Judged:
    return Judged(answer.question, answer.question_type, score, label, tuple(people))


def _judges(asked: Asked, answers: Iterable[RunAnswer]) -> list[_Judge]:
    """The judges whose scores can be read as labels, correctness also as HyPA-RAG's share (5.3)."""
    names = dict.fromkeys(name for answer in answers for name in answer.scores)
    if asked == "supported":
        return [
            _Judge(name, name, partial(_reaches, _MARKS[name]), int)
            for name in names
            if name in _MARKS
        ]
    judges: list[_Judge] = []
    for name in (name for name in names if name.startswith(_CORRECTNESS)):
        judges.append(_Judge(name, name, _as_grade, int))
        judges.append(_Judge(f"{name} >= {GOOD:g}", name, _is_good, _is_good))
    if _BINARY in names:
        judges.append(_Judge(_BINARY, _BINARY, int, _is_good))
    return judges


def _as_grade(score: float) -> int:
    """The nearest grade, a half counting up."""
    return int(min(HIGHEST, max(LOWEST, score + 0.5)))


def _reaches(mark: float, score: float) -> int:
    return int(score >= mark)


def _is_good(score: float) -> int:
    return int(score >= GOOD)


def _figures(estimate: Agreement) -> Figures:
    figures = {name: of_estimate(value) for name, value in estimate.figures.items()}
    return {
        "answers": estimate.answers,
        **figures,
        "p": rounded(estimate.p) if is_resolved(estimate.p) else None,
        "p_difference": rounded(estimate.p_difference)
        if is_resolved(estimate.p_difference)
        else None,
    }


def as_text(summary: Figures) -> str:
    """Return the tables of ``summarise``, as Markdown that is read on a terminal."""
    parts = [_people(summary)]
    for asked in SCALES:
        if asked in summary:
            parts += [as_markdown(table, plain_cell) for table in _tables(asked, summary[asked])]
            if not summary[asked]["between"]:
                parts.append("Kappa is not given: it takes two people, and one has answered this.")
    return "\n\n".join(parts)


def _people(summary: Figures) -> str:
    lines = [
        f"- {person}: " + ", ".join(f"{count} {asked}" for asked, count in counts.items())
        for person, counts in summary["people"].items()
    ]
    return "\n".join(["# Labels", "", *lines])


def _tables(asked: Asked, figures: Figures) -> list[Table]:
    title = _TITLES[asked]
    overall = [row for row in figures["judges"] if row["question_type"] is None]
    parts = [row for row in figures["judges"] if row["question_type"] is not None]
    tables = [
        Table(
            f"{title}: between people",
            _NOTE,
            ["People", "Answers", *(_HEADS[name] for name in _BETWEEN), "p"],
            [[" and ".join(row["people"]), *_cells(row, _BETWEEN)] for row in figures["between"]],
        ),
        Table(
            f"{title}: judges and people",
            f"{_NOTE} Difference: the judge's label less the people's mean, with the p value of a "
            "paired randomisation test.",
            ["Judge", "Answers", *_HEADS.values(), "p", "Difference"],
            [[row["judge"], *_cells(row, _HEADS), _difference(row)] for row in overall],
        ),
        Table(
            f"{title}: by question type",
            _NOTE,
            ["Judge", "Question type", "Answers", *(_HEADS[name] for name in _BY_TYPE), "p"],
            [[row["judge"], row["question_type"], *_cells(row, _BY_TYPE)] for row in parts],
        ),
    ]
    return [table for table in tables if table.rows]


def _cells(row: Figures, names: Iterable[str]) -> list[Value]:
    p = None if row["p"] is None else probability(row["p"]).removeprefix("= ")
    return [row["answers"], *(_cell(row[name]) for name in names), p]


def _cell(estimate: Figures) -> Cell | None:
    if estimate["mean"] is None:
        return None
    return Cell(number(estimate["mean"]), interval(estimate["low"], estimate["high"]))


def _difference(row: Figures) -> Cell | None:
    cell = _cell(row["difference"])
    if cell is None or row["p_difference"] is None:
        return cell
    return Cell(cell.text, cell.interval, p=f"p {probability(row['p_difference'])}")
