"""Split the questions, search on one part, and report what was found on the other.

A question that is worded like one of the other part would be reported on after having been tuned
on, so whole groups of near-duplicates are dealt.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.settings import FIXED_K, Connection, Settings
from lexloop.documents.reading.workers import Progress
from lexloop.documents.text.tokens import words
from lexloop.evaluation.case import Case
from lexloop.evaluation.score import Score, Unresolved, as_json, is_resolved
from lexloop.evaluation.statistics import (
    NO_PAIR,
    Estimate,
    beyond_noise,
    clustered_estimate,
    mean,
    paired,
    paired_randomisation,
)
from lexloop.evaluation.tuning.measure import (
    OBJECTIVES,
    OF_RETRIEVAL,
    Measurement,
    Measurer,
    Objective,
)
from lexloop.nodes.classify import TABLES, class_plans

Changes = Mapping[str, Any]


@dataclass(frozen=True)
class Coordinate:
    """A setting or several that change together, and the values to try.

    Args:
        name: What reports call it.
        candidates: Each a change of settings.
        resizes: Whether candidates change how long a chunk is, and so what k passages cost.
    """

    name: str
    candidates: tuple[Changes, ...]
    resizes: bool = False


_CHUNKERS: tuple[Changes, ...] = (
    {"chunking": "auto"},
    {"chunking": "provisions"},
    *(
        {"chunking": "sentence", "chunking.tokens": tokens, "chunking.overlap": overlap}
        for tokens, overlap in ((64, 0), (128, 32), (256, 64), (512, 200))
    ),
    {"chunking": "semantic"},
    *(
        {"chunking": "characters", "chunking.chars": chars, "chunking.chars_overlap": overlap}
        for chars, overlap in ((500, 50), (1000, 100))
    ),
)
_FORMULAS: tuple[Changes, ...] = (
    {"fusion": "standardised"},
    {"fusion": "linear"},
    {"fusion": "linear", "fusion.normalisation": "minmax"},
    *({"fusion": "rrf", "fusion.lexical_weight": weight} for weight in (0.3, 0.5, 0.7)),
)
_FUSIONS: tuple[Changes, ...] = tuple(
    {**fusion, "fusion.documents": most} for fusion in _FORMULAS for most in (None, 3)
)
_BOOSTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2)
_HOSTS = (0.0, 0.05, 0.1, 0.2, 0.4)
_TOP_K = {
    2: ((3, 5), (4, 6), (5, 5), (4, 8), (3, 10), (6, 8), (7, 7), (8, 5), (8, 10)),
    3: ((2, 4, 6), (2, 5, 8), (3, 6, 9), (4, 4, 4), (4, 5, 6), (5, 4, 3), (5, 5, 5), (6, 5, 4)),
}
_SHARES = (0.03, 0.04, 0.05, 0.06, 0.08)
_REWRITES = (0, 1, 3, 7)
_GRAPH = ((0, 0), (2, 1), (4, 2), (5, 3))


def coordinates(settings: Settings, chunking: bool) -> list[Coordinate]:
    """Return what can be tried on settings as they now are.

    Args:
        settings: Later coordinates depend on what earlier ones have chosen.
        chunking: Whether the corpus can be cut anew; an index cannot.
    """
    linear = settings.fusion.method == "linear"
    found = [
        Coordinate("chunking", _CHUNKERS if chunking else (), resizes=True),
        Coordinate("fusion", _FUSIONS),
        Coordinate(
            "bm25_boost", tuple({"fusion.bm25_boost": x} for x in _BOOSTS) if linear else ()
        ),
        Coordinate("host_boost", tuple({"fusion.host_boost": x} for x in _HOSTS) if linear else ()),
    ]
    if settings.variant in ("hypa", "pa"):
        found += _plans(settings)
    return [coordinate for coordinate in found if coordinate.candidates]


def _plans(settings: Settings) -> list[Coordinate]:
    now = class_plans(settings.plan)
    found: list[Coordinate] = []
    if not isinstance(settings.plan.k, int):
        # after chunks of another length k lies elsewhere, and what is tried with it
        papers = TABLES[settings.plan.count]
        factor = sum(row["k"] for row in now) / sum(row["k"] for row in papers)
        by_class = [
            _replanned(settings, k=[_times(top, factor) for top in tops])
            for tops in _TOP_K[settings.plan.count]
        ]
        by_scores = [{"plan.k": {"min_share": share}} for share in _SHARES]
        found.append(Coordinate("k", ({"plan.k": FIXED_K}, *by_class, *by_scores)))
    if settings.plan.Q is None and settings.retrieval.rewriter != "none":
        rewrites = [
            _of_class(settings, label, Q=count)
            for label, row in enumerate(now)
            for count in _REWRITES
            if count != row["Q"]
        ]
        found.append(Coordinate("Q", tuple(rewrites)))
    walked = settings.variant == "hypa"
    if settings.plan.K is None and settings.plan.S is None and walked:
        walks = [
            _of_class(settings, label, K=keywords, S=length)
            for label, row in enumerate(now)
            for keywords, length in _GRAPH
            if (keywords, length) != (row["K"], row["S"])
        ]
        found.append(Coordinate("K and S", tuple(walks)))
    return found


def _replanned(settings: Settings, k: Sequence[int]) -> Changes:
    plans = [{**row, "k": top} for row, top in zip(class_plans(settings.plan), k, strict=True)]
    return {"plan.classes": plans, "plan.k": "class"}


def _of_class(settings: Settings, label: int, **numbers: int) -> Changes:
    plans = [dict(row) for row in class_plans(settings.plan)]
    plans[label] |= numbers
    return {"plan.classes": plans}


def scaled(settings: Settings, factor: float) -> Changes:
    """Return every k times a factor, at least 1: as much text in chunks of another length."""
    if isinstance(settings.plan.k, int):
        return {"plan.k": _times(settings.plan.k, factor)}
    plans = [{**row, "k": _times(row["k"], factor)} for row in class_plans(settings.plan)]
    return {"plan.classes": plans}


def _times(k: int, factor: float) -> int:
    return min(50, max(1, round(k * factor)))


def thinned(all_coordinates: Sequence[Coordinate], most: int, seed: int) -> list[Coordinate]:
    """Return coordinates with at most ``most`` candidates altogether, each keeping its part.

    Args:
        all_coordinates: In the order in which they are tried.
        most: How many may be tried.
        seed: Decides which.
    """
    total = sum(len(coordinate.candidates) for coordinate in all_coordinates)
    if total <= most:
        return list(all_coordinates)
    choose = random.Random(seed)  # noqa: S311 - a search is no secret
    kept: list[Coordinate] = []
    for coordinate in all_coordinates:
        count = len(coordinate.candidates)
        places = sorted(choose.sample(range(count), min(count, max(1, most * count // total))))
        chosen = tuple(coordinate.candidates[place] for place in places)
        kept.append(Coordinate(coordinate.name, chosen, coordinate.resizes))
    return kept


MOST_TOKENS = 1.05
"""Settings may use this much of the tokens of context that the first ones use: with more passages
recall rises by itself."""
_REFIT = 0.8
_FINALISTS = 3
"""Where answers are needed, so many of a coordinate's candidates are answered with, the best at
bringing up the evidence."""

Measure = Callable[[Settings, Sequence[Case], bool], Measurement]
"""``Measurer.measure``: settings, questions, and whether answers are written."""


@dataclass(frozen=True)
class Trial:
    """Settings that were measured on the tuning questions.

    Args:
        coordinate: What was changed.
        settings: All of them.
        measured: Their worth.
        gain: Over those that they would replace.
        taken: Whether they replaced them.
    """

    coordinate: str
    settings: Settings
    measured: Measurement
    gain: Score
    taken: bool


@dataclass
class Search:
    """One search; ``run`` gives the settings it ends with, and ``trials`` what was tried.

    Args:
        measure: Says what settings are worth.
        questions: Those that tune.
        groups: The group of near-duplicates of each question.
        objective: What is raised.
        most: How many settings may be measured, the first included.
        seed: Chooses the candidates where there are more than that.
        chunking: Whether the corpus can be cut anew.
        out_of_time: Asked before each trial.
        progress: Told how far a coordinate is.
    """

    measure: Measure
    questions: Sequence[Case]
    groups: Sequence[int]
    objective: Objective
    most: int
    seed: int
    chunking: bool
    out_of_time: Callable[[], bool]
    progress: Progress
    trials: list[Trial] = field(default_factory=list)
    used: int = 0

    @property
    def spent(self) -> bool:
        """The end of the search: no further trial may be made."""
        return self.used >= self.most or self.out_of_time()

    def run(self, base: Settings) -> Settings:
        """Return the best settings found, going through the coordinates once.

        Raises:
            LexloopError: The first settings cannot be measured, or no question has the objective.
        """
        self.progress("first", 0, 1)
        first = self._measured(base)
        worth = first.mean(self.objective)
        if isinstance(worth, Unresolved):
            raise InputError(
                f"No question can be scored by {self.objective}: {worth.reason}.",
                "Choose another --objective, or add to the gold questions what it needs.",
            )
        current, now = base, first
        for name in [coordinate.name for coordinate in self._coordinates(base)]:
            for coordinate in self._coordinates(current):
                if coordinate.name == name and not self.spent:
                    current, now = self._stepped(coordinate, current, now, first.mean_tokens)
        return current

    def _coordinates(self, settings: Settings) -> list[Coordinate]:
        return thinned(coordinates(settings, self.chunking), self.most - 1, self.seed)

    def _stepped(
        self, coordinate: Coordinate, current: Settings, now: Measurement, first_tokens: float
    ) -> tuple[Settings, Measurement]:
        """The settings after a coordinate, and what they are worth."""
        tried = [current.changed(**changes) for changes in coordinate.candidates]
        tried = [settings for settings in tried if settings != current]
        if self.objective not in OF_RETRIEVAL:
            tried = self._finalists(coordinate, tried, first_tokens)
        best, worth = current, now
        rows: list[Trial] = []
        for number, settings in enumerate(tried):
            if self.spent:
                break
            self.progress(coordinate.name, number, len(tried))
            fitted, measured = self._fitted(coordinate, settings, first_tokens)
            gains, _ = self._gains(now, measured)
            gain = mean(gains) if gains else NO_PAIR
            rows.append(Trial(coordinate.name, fitted, measured, gain, taken=False))
            if self._allowed(measured, first_tokens) and self._better(measured, worth):
                best, worth = fitted, measured
        self.progress(coordinate.name, 1, 1)
        if not beyond_noise(*self._gains(now, worth)):
            best, worth = current, now
        self.trials += [replace(row, taken=row.settings == best) for row in rows]
        return best, worth

    def _finalists(
        self, coordinate: Coordinate, tried: list[Settings], first_tokens: float
    ) -> list[Settings]:
        """The candidates that bring up most of the evidence, for answering is dear."""
        ranked: list[tuple[float, int, Settings]] = []
        for number, settings in enumerate(tried):
            if self.out_of_time():
                break
            self.progress(f"{coordinate.name}, retrieval", number, len(tried))
            fitted, measured = self._fitted(coordinate, settings, first_tokens, answered=False)
            recall = measured.mean("recall")
            if not is_resolved(recall):
                return tried
            if self._allowed(measured, first_tokens):
                ranked.append((-recall, number, fitted))
        self.progress(f"{coordinate.name}, retrieval", 1, 1)
        return [settings for _, _, settings in sorted(ranked, key=lambda row: row[:2])][:_FINALISTS]

    def _fitted(
        self,
        coordinate: Coordinate,
        settings: Settings,
        first_tokens: float,
        answered: bool | None = None,
    ) -> tuple[Settings, Measurement]:
        """The settings, with as many passages as cost what the first settings' cost."""
        measured = self._measured(settings, answered)
        share = measured.mean_tokens / max(first_tokens, 1.0)
        if not coordinate.resizes or _REFIT <= share <= MOST_TOKENS or not share:
            return settings, measured
        fitted = settings.changed(**scaled(settings, 1.0 / share))
        return fitted, self._measured(fitted, answered)

    def _measured(self, settings: Settings, answered: bool | None = None) -> Measurement:
        needed = self.objective not in OF_RETRIEVAL if answered is None else answered
        # ranking candidates by retrieval alone is no trial of the objective
        self.used += answered is None
        return self.measure(settings, self.questions, needed)

    def _allowed(self, measured: Measurement, first_tokens: float) -> bool:
        return measured.mean_tokens <= MOST_TOKENS * first_tokens

    def _better(self, measured: Measurement, best: Measurement) -> bool:
        gains, _ = self._gains(best, measured)
        return bool(gains) and mean(gains) > 0.0

    def _gains(self, before: Measurement, after: Measurement) -> tuple[list[float], list[int]]:
        own, other = before.scores[self.objective], after.scores[self.objective]
        return paired(own, other, self.groups)


TUNED_SHARE = 0.6
"""The rest reports, as in Sultania et al."""
SAME_QUESTION, SAME_ANSWER, ALIKE = 0.8, 0.9, 0.4
"""Shares of common words: of two questions; of two answers, where the questions are alike."""


@dataclass(frozen=True)
class HeldOut:
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
class TuningSummary:
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
    held_out: dict[Objective, HeldOut]
    held_out_questions: int
    tokens: tuple[float, float]
    trials: list[Trial]
    stopped: str


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
) -> TuningSummary:
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
    return TuningSummary(
        objective,
        found.differing(base),
        len(tuning),
        {name: _compared(before.scores[name], after.scores[name], groups) for name in OBJECTIVES},
        len(unseen),
        (before.mean_tokens, after.mean_tokens),
        search.trials,
        "the time was up" if late else "all trials were made" if spent else "",
    )


def _compared(before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]) -> HeldOut:
    gains, owners = paired(before, after, groups)
    return HeldOut(
        clustered_estimate(before, groups),
        clustered_estimate(after, groups),
        clustered_estimate(gains, owners) if gains else NO_PAIR,
        paired_randomisation(after, before, groups),
    )


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

    asked = [frozenset(words(_said(question))) for question in gold]
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


def _said(question: Case) -> str:
    before = [turn.content for turn in question.conversation_history if turn.role == "user"]
    return " ".join([*before, question.question])


def _common(one: frozenset[str], other: frozenset[str]) -> float:
    """The Jaccard index; 0 where there are no words."""
    return len(one & other) / len(one | other) if one and other else 0.0


def as_report(summary: TuningSummary, base: Settings) -> dict[str, Any]:
    """Return the summary as JSON with flat keys; an objective not known holds its reason."""
    found: dict[str, Any] = {
        "objective": summary.objective,
        "settings": summary.changes,
        "tuning_questions": summary.tuning,
        "held_out_questions": summary.held_out_questions,
        "context_tokens_before": summary.tokens[0],
        "context_tokens_after": summary.tokens[1],
        "stopped": summary.stopped,
    }
    for name, one in summary.held_out.items():
        for part, estimate in (("before", one.before), ("after", one.after), ("gain", one.gain)):
            if isinstance(estimate, Unresolved):
                found[f"{name}_{part}"] = as_json(estimate)
                continue
            figures = asdict(estimate)
            found[f"{name}_{part}"] = figures.pop("mean")
            found |= {f"{name}_{part}_{key}": value for key, value in figures.items()}
        found[f"{name}_p"] = as_json(one.p)
    found["trials"] = [
        {
            "coordinate": trial.coordinate,
            "settings": trial.settings.differing(base),
            "mean": as_json(trial.measured.mean(summary.objective)),
            "gain": as_json(trial.gain),
            "context_tokens": trial.measured.mean_tokens,
            "taken": trial.taken,
        }
        for trial in summary.trials
    ]
    return found


def as_table(summary: TuningSummary) -> str:
    """Return the held-out part as a Markdown table, without objectives that have no score."""
    lines = [
        f"{summary.held_out_questions} questions that tuning did not see",
        "",
        "| | before | after | gain | p | questions | unresolved |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in summary.held_out.items():
        if isinstance(one.before, Unresolved):
            continue
        shown = f"{_shown(one.before)} | {_shown(one.after)} | {_shown(one.gain, '+')}"
        p = "-" if isinstance(one.p, Unresolved) else f"{one.p:.3f}"
        lines.append(f"| {name} | {shown} | {p} | {one.before.n} | {one.before.unresolved} |")
    before, after = summary.tokens
    lines.append(
        f"| tokens of context | {before:.0f} | {after:.0f} | {after - before:+.0f} | | | |"
    )
    return "\n".join(lines)


def _shown(estimate: Estimate | Unresolved, sign: str = "") -> str:
    if isinstance(estimate, Unresolved):
        return "-"
    mean, low, high = (f"{x:{sign}.3f}" for x in (estimate.mean, estimate.low, estimate.high))
    return f"{mean} [{low}, {high}]"
