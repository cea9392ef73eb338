"""What a search gained on the questions that it did not see."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.core.score import Score, Unresolved, as_json
from lexloop.core.settings import Settings
from lexloop.evaluation.statistics import (
    NO_PAIR,
    Estimate,
    clustered_estimate,
    paired,
    paired_randomisation,
)
from lexloop.evaluation.tuning.lab import Measurement
from lexloop.evaluation.tuning.objectives import OBJECTIVES, Objective
from lexloop.evaluation.tuning.search import Trial


@dataclass(frozen=True)
class Compared:
    """One objective on the held-out questions, before and after.

    Args:
        before: Under the settings that tuning started from.
        after: Under those it ended with.
        gain: The mean difference; its interval, as the others, is over groups of near-duplicates.
        p: Of the paired randomisation test.
    """

    before: Estimate | Unresolved
    after: Estimate | Unresolved
    gain: Estimate | Unresolved
    p: Score


@dataclass(frozen=True)
class Outcome:
    """A search and what it is worth.

    Args:
        objective: What was raised.
        changes: The settings that it changed, as they go into a file.
        tuning: How many questions tuned.
        held_out: What is reported, by objective, on the others.
        held_out_questions: How many these are.
        tokens: Of context a question on the held-out part, before and after.
        trials: Everything that was measured.
        stopped: Why the search ended before its end; empty where it did not.
    """

    objective: Objective
    changes: dict[str, Any]
    tuning: int
    held_out: dict[Objective, Compared]
    held_out_questions: int
    tokens: tuple[float, float]
    trials: list[Trial]
    stopped: str


def compared(
    before: Measurement, after: Measurement, groups: Sequence[int]
) -> dict[Objective, Compared]:
    """Every objective of two measurements of the same questions."""
    return {name: _compared(before.scores[name], after.scores[name], groups) for name in OBJECTIVES}


def _compared(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> Compared:
    gains, owners = paired(before, after, groups)
    return Compared(
        clustered_estimate(before, groups),
        clustered_estimate(after, groups),
        clustered_estimate(gains, owners) if gains else NO_PAIR,
        paired_randomisation(after, before, groups),
    )


def write_settings(path: Path, changes: Mapping[str, Any]) -> None:
    """Write the file that ``--settings`` reads, whole or not at all.

    Raises:
        InputError: It cannot be written.
    """
    try:
        write_text(path, json.dumps(changes, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error}.", "Name a file in a folder of yours with --out."
        ) from error


def as_report(outcome: Outcome, base: Settings) -> dict[str, Any]:
    """The outcome as JSON with flat keys; an objective that is not known holds its reason."""
    found: dict[str, Any] = {
        "objective": outcome.objective,
        "settings": outcome.changes,
        "tuning_questions": outcome.tuning,
        "held_out_questions": outcome.held_out_questions,
        "context_tokens_before": outcome.tokens[0],
        "context_tokens_after": outcome.tokens[1],
        "stopped": outcome.stopped,
    }
    for name, one in outcome.held_out.items():
        for part, estimate in (("before", one.before), ("after", one.after), ("gain", one.gain)):
            found |= _flat(f"{name}_{part}", estimate)
        found[f"{name}_p"] = as_json(one.p)
    found["trials"] = [
        {
            "coordinate": trial.coordinate,
            "settings": trial.settings.differing(base),
            "mean": as_json(trial.measured.mean(outcome.objective)),
            "gain": as_json(trial.gain),
            "context_tokens": trial.measured.mean_tokens,
            "taken": trial.taken,
        }
        for trial in outcome.trials
    ]
    return found


def _flat(name: str, estimate: Estimate | Unresolved) -> dict[str, Any]:
    if isinstance(estimate, Unresolved):
        return {name: as_json(estimate)}
    figures = asdict(estimate)
    return {name: figures.pop("mean"), **{f"{name}_{key}": figures[key] for key in figures}}


def as_table(outcome: Outcome) -> str:
    """The held-out part as a Markdown table; objectives without a score are left out of it."""
    lines = [
        f"{outcome.held_out_questions} questions that tuning did not see",
        "",
        "| | before | after | gain | p | questions | unresolved |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in outcome.held_out.items():
        if isinstance(one.before, Unresolved):
            continue
        p = one.p if isinstance(one.p, float) else None
        cells = [
            name,
            _shown(one.before),
            _shown(one.after),
            _shown(one.gain, signed=True),
            "-" if p is None else f"{p:.3f}",
            str(one.before.n),
            str(one.before.unresolved),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    before, after = outcome.tokens
    lines.append(
        f"| tokens of context | {before:.0f} | {after:.0f} | {after - before:+.0f} | | | |"
    )
    return "\n".join(lines)


def _shown(estimate: Estimate | Unresolved, signed: bool = False) -> str:
    if isinstance(estimate, Unresolved):
        return "-"
    form: Callable[[float], str] = "{:+.3f}".format if signed else "{:.3f}".format
    return f"{form(estimate.mean)} [{form(estimate.low)}, {form(estimate.high)}]"
