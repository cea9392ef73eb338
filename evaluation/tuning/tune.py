"""Split, search, and measure what was found on the questions that were kept out of it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lexloop.core.settings import Connection, Settings
from lexloop.evaluation.case import Case
from lexloop.evaluation.tuning.lab import Lab
from lexloop.evaluation.tuning.objectives import OF_RETRIEVAL, Objective
from lexloop.evaluation.tuning.outcome import Outcome, compared
from lexloop.evaluation.tuning.search import Report, Search
from lexloop.evaluation.tuning.split import split


@dataclass(frozen=True)
class Bounds:
    """How long a search may go on.

    Args:
        trials: How many settings may be measured by the objective.
        seconds: After how long no further one is begun; what is found then depends on the machine.
        seed: Of the split, and of the candidates left out where there are too many.
    """

    trials: int
    seconds: float
    seed: int


def tune(
    gold: Sequence[Case],
    base: Settings,
    connection: Connection,
    *,
    objective: Objective,
    bounds: Bounds,
    chunking: bool,
    report: Report,
) -> Outcome:
    """Search from settings on one part of the questions and report on the other.

    Args:
        gold: The questions.
        base: The settings to start from, which stay unless something gains more than noise.
        connection: Where models are reached.
        objective: What is raised.
        bounds: When to stop.
        chunking: Whether the corpus can be cut anew; an index cannot.
        report: Told how far each coordinate is.

    Raises:
        InputError: The questions cannot be split or scored by the objective.
        LexloopError: The settings, the corpus or the data cannot be used.
    """
    parts = split(gold, bounds.seed)
    lab = Lab(connection, report)
    began = time.monotonic()

    def late() -> bool:
        return time.monotonic() - began > bounds.seconds

    search = Search(
        lab,
        parts.tuning,
        [parts.groups[question.id] for question in parts.tuning],
        objective,
        bounds.trials,
        bounds.seed,
        chunking,
        late,
        report,
    )
    found = search.run(base)
    stopped = "the time was up" if late() else "all trials were made" if search.spent else ""
    answered = objective not in OF_RETRIEVAL or base.model.name is None
    unseen = parts.held_out
    before = lab.measure(base, unseen, answered, _told("before", len(unseen), report))
    after = before
    if found != base:
        after = lab.measure(found, unseen, answered, _told("after", len(unseen), report))
    groups = [parts.groups[question.id] for question in parts.held_out]
    return Outcome(
        objective,
        found.differing(base),
        len(parts.tuning),
        compared(before, after, groups),
        len(parts.held_out),
        (before.mean_tokens, after.mean_tokens),
        search.trials,
        stopped,
    )


def _told(name: str, total: int, report: Report) -> Callable[[], None]:
    """What is called after each question, and tells how many are done."""
    count = 0

    def done() -> None:
        nonlocal count
        count += 1
        report(f"held out, {name}", count, total)

    return done
