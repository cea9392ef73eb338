"""Split the questions, search on one part, and report what was found on the other.

A question that is worded like one of the other part would be reported on after having been tuned
on, so whole groups of near-duplicates are dealt.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.settings import Connection, Settings
from lexloop.documents.reading.workers import Progress
from lexloop.documents.text.tokens import words
from lexloop.evaluation.case import Case
from lexloop.evaluation.report.tables import markdown_table
from lexloop.evaluation.score import Score, as_json
from lexloop.evaluation.statistics import (
    NO_PAIR,
    Estimate,
    clustered_estimate,
    paired,
    paired_randomisation,
)
from lexloop.evaluation.tuning.measure import OBJECTIVES, OF_RETRIEVAL, Measurer, Objective
from lexloop.evaluation.tuning.search import Search

TUNED_SHARE = 0.6
"""The rest reports, as in Sultania et al."""
SAME_QUESTION, SAME_ANSWER, ALIKE = 0.8, 0.9, 0.4
"""Shares of common words: of two questions; of two answers, where the questions are alike."""


def tune(
    gold: Sequence[Case],
    base: Settings,
    connection: Connection,
    *,
    objective: Objective,
    most: int,
    seconds: float,
    seed: int,
    chunking: bool,
    progress: Progress,
) -> dict[str, Any]:
    """Search from settings on one part of the questions and report on the other.

    Args:
        gold: The questions.
        base: The settings to start from, which stay unless something gains more than noise.
        connection: Where models are reached.
        objective: What is raised.
        most: How many settings may be measured by the objective.
        seconds: After how long no further one is begun; what is found then depends on the machine.
        seed: Of the split, and of the candidates left out where there are too many.
        chunking: Whether the corpus can be cut anew; an index cannot.
        progress: Told how far each coordinate is.

    Returns:
        The report, JSON with flat keys: the ``settings`` that it changed, how many questions tuned
        and how many are reported on, the ``trials``, why it ``stopped`` before its end. Of each
        objective on the held-out questions ``_before``, ``_after`` and the mean difference
        ``_gain``, each with its interval over groups of near-duplicates, and ``_p`` of the paired
        randomisation test; one that is not known holds its reason.

    Raises:
        InputError: The questions cannot be split or scored by the objective.
        LexloopError: The settings, the corpus or the data cannot be used.
    """
    group_of = near_duplicates(gold)
    tuning, unseen = split(gold, group_of, seed)
    measurer = Measurer(connection, progress)
    ends = time.monotonic() + seconds
    search = Search(
        measurer.measure,
        tuning,
        [group_of[question.id] for question in tuning],
        objective,
        most,
        seed,
        chunking,
        lambda: time.monotonic() > ends,
        progress,
    )
    found = search.run(base)
    late, spent = search.out_of_time(), search.spent
    answered = objective not in OF_RETRIEVAL or base.model.name is None
    before = after = measurer.measure(base, unseen, answered, "held out, before")
    if found != base:
        after = measurer.measure(found, unseen, answered, "held out, after")
    groups = [group_of[question.id] for question in unseen]
    report: dict[str, Any] = {
        "objective": objective,
        "settings": found.differing(base),
        "tuning_questions": len(tuning),
        "held_out_questions": len(unseen),
        "context_tokens_before": before.mean_tokens,
        "context_tokens_after": after.mean_tokens,
        "stopped": "the time was up" if late else "all trials were made" if spent else "",
    }
    for name in OBJECTIVES:
        report |= _held_out(name, before.scores[name], after.scores[name], groups)
    report["trials"] = [
        {
            "coordinate": trial.coordinate,
            "settings": trial.settings.differing(base),
            "mean": as_json(trial.measured.mean(objective)),
            "gain": as_json(trial.gain),
            "context_tokens": trial.measured.mean_tokens,
            "taken": trial.taken,
        }
        for trial in search.trials
    ]
    return report


def _held_out(
    name: str, before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]
) -> dict[str, Any]:
    """One objective on the held-out questions, with flat keys."""
    gains, owners = paired(before, after, groups)
    parts = {
        "before": clustered_estimate(before, groups),
        "after": clustered_estimate(after, groups),
        "gain": clustered_estimate(gains, owners) if gains else NO_PAIR,
    }
    found: dict[str, Any] = {}
    for part, value in parts.items():
        if isinstance(value, Estimate):
            figures = asdict(value)
            found[f"{name}_{part}"] = figures.pop("mean")
            found |= {f"{name}_{part}_{key}": figure for key, figure in figures.items()}
        else:
            found[f"{name}_{part}"] = as_json(value)
    return {**found, f"{name}_p": as_json(paired_randomisation(after, before, groups))}


def split(
    gold: Sequence[Case], group_of: dict[str, int], seed: int
) -> tuple[list[Case], list[Case]]:
    """Deal whole groups to two parts, so that each question type is shared out evenly.

    Args:
        gold: The questions.
        group_of: The group of each, by its id.
        seed: Decides which groups go where.

    Returns:
        Those that tune, about ``TUNED_SHARE``, and those that report, in the order of ``gold``.

    Raises:
        InputError: One of the parts would be empty.
    """
    members: dict[int, list[Case]] = defaultdict(list)
    for question in gold:
        members[group_of[question.id]].append(question)
    order = sorted(members)
    random.Random(seed).shuffle(order)  # noqa: S311 - a split is no secret
    order.sort(key=lambda group: -len(members[group]))
    wanted = Counter(question.question_type for question in gold)
    taken: Counter[str] = Counter()
    tuning: set[int] = set()
    for group in order:
        types = Counter(question.question_type for question in members[group])
        missing = sum(n * (TUNED_SHARE * wanted[name] - taken[name]) for name, n in types.items())
        if 2 * missing >= sum(n * n for n in types.values()):
            taken += types
            tuning.add(group)
    if not tuning or len(tuning) == len(members):
        raise InputError(
            f"{len(gold)} questions in {len(members)} groups of near-duplicates cannot be split.",
            "Give questions that differ, at least a few dozen of them.",
        )
    first = [question for question in gold if group_of[question.id] in tuning]
    return first, [question for question in gold if group_of[question.id] not in tuning]


def near_duplicates(gold: Sequence[Case]) -> dict[str, int]:
    """Return the group of every question, by its id.

    Two questions belong together when most of their words, with the user's turns before them, are
    the same; or when their answers are nearly the same and the questions somewhat. The answers of
    questions out of scope, which all say the same, do not count.
    """
    import networkx as nx

    asked = [frozenset(words(question.whole_question)) for question in gold]
    answers = [
        frozenset() if question.out_of_scope else frozenset(words(question.reference_answer or ""))
        for question in gold
    ]
    together = nx.Graph()
    together.add_nodes_from(range(len(gold)))
    for i, j in combinations(range(len(gold)), 2):
        alike = _common(asked[i], asked[j])
        if alike >= SAME_QUESTION or (
            alike >= ALIKE and _common(answers[i], answers[j]) >= SAME_ANSWER
        ):
            together.add_edge(i, j)
    groups = nx.connected_components(together)
    return {gold[place].id: min(places) for places in groups for place in places}


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index; 0 where there are no words."""
    return len(one & other) / len(one | other) if one and other else 0.0


def as_table(report: dict[str, Any]) -> str:
    """Return the held-out part as a Markdown table, without objectives that have no score."""
    lines: list[list[object]] = []
    for name in OBJECTIVES:
        if f"{name}_before_n" in report:
            parts = (("before", ""), ("after", ""), ("gain", "+"), ("p", ""))
            shown = [_shown(report, f"{name}_{part}", sign) for part, sign in parts]
            counts = (report[f"{name}_before_{key}"] for key in ("n", "unresolved"))
            lines.append([name, *shown, *counts])
    before, after = (report[f"context_tokens_{when}"] for when in ("before", "after"))
    spent = (f"{before:.0f}", f"{after:.0f}", f"{after - before:+.0f}")
    lines.append(["tokens of context", *spent, "", "", ""])
    head = ("", "before", "after", "gain", "p", "questions", "unresolved")
    told = f"{report['held_out_questions']} questions that tuning did not see"
    return "\n".join([told, "", *markdown_table(head, lines)])


def _shown(report: dict[str, Any], key: str, sign: str) -> str:
    if not isinstance(report[key], float):
        return "-"
    if f"{key}_low" not in report:
        return f"{report[key]:.3f}"
    mean, low, high = (f"{report[name]:{sign}.3f}" for name in (key, f"{key}_low", f"{key}_high"))
    return f"{mean} [{low}, {high}]"
