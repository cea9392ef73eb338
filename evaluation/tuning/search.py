"""The search: one coordinate after the other, and nothing taken that does not gain beyond noise."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.settings import FIXED_K, Settings
from lexloop.documents.reading.workers import Progress
from lexloop.evaluation.case import Case
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import NO_PAIR, beyond_noise, mean, paired
from lexloop.evaluation.tuning.measure import OF_RETRIEVAL, Measurement, Objective
from lexloop.nodes.classify import TABLES, class_plans

Changes = Mapping[str, Any]
Coordinates = Mapping[str, Sequence[Changes]]
RESIZING = "chunking"
"""Its candidates change how long a chunk is, and so what k passages cost."""
_MOST_K = 50
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
_LINEAR = {
    "bm25_boost": (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.2),
    "host_boost": (0.0, 0.05, 0.1, 0.2, 0.4),
}
_TOP_K = {
    2: ((3, 5), (4, 6), (5, 5), (4, 8), (3, 10), (6, 8), (7, 7), (8, 5), (8, 10)),
    3: ((2, 4, 6), (2, 5, 8), (3, 6, 9), (4, 4, 4), (4, 5, 6), (5, 4, 3), (5, 5, 5), (6, 5, 4)),
}
_SHARES = (0.03, 0.04, 0.05, 0.06, 0.08)
_REWRITES = [{"Q": count} for count in (0, 1, 3, 7)]
_WALKS = [{"K": k, "S": s} for k, s in ((0, 0), (2, 1), (4, 2), (5, 3))]


def coordinates(settings: Settings, chunking: bool) -> Coordinates:
    """Return what can be tried on settings as they now are.

    Args:
        settings: Later coordinates depend on what earlier ones have chosen.
        chunking: Whether the corpus can be cut anew; an index cannot.
    """
    found: dict[str, Sequence[Changes]] = {RESIZING: _CHUNKERS} if chunking else {}
    found["fusion"] = [
        {**fusion, "fusion.documents": most} for fusion in _FORMULAS for most in (None, 3)
    ]
    if settings.fusion.method == "linear":
        for name, values in _LINEAR.items():
            found[name] = [{f"fusion.{name}": value} for value in values]
    if settings.variant not in ("hypa", "pa"):
        return found
    plan = settings.plan
    if not isinstance(plan.k, int):
        shares = [{"plan.k": {"min_share": share}} for share in _SHARES]
        found["k"] = [{"plan.k": FIXED_K}, *_tops(settings), *shares]
    if plan.Q is None and settings.retrieval.rewriter != "none":
        found["Q"] = _by_class(settings, _REWRITES)
    if plan.K is None and plan.S is None and settings.variant == "hypa":
        found["K and S"] = _by_class(settings, _WALKS)
    return found


def _tops(settings: Settings) -> list[Changes]:
    """The k of every class: after chunks of another length it lies elsewhere."""
    now, count = class_plans(settings.plan), settings.plan.count
    factor = sum(row["k"] for row in now) / sum(row["k"] for row in TABLES[count])
    return [
        {
            "plan.classes": [
                {**row, "k": _times(k, factor)} for row, k in zip(now, tops, strict=True)
            ],
            "plan.k": "class",
        }
        for tops in _TOP_K[count]
    ]


def _by_class(settings: Settings, changes: Sequence[Mapping[str, int]]) -> list[Changes]:
    """Each change in the plan of each class that it changes."""
    now = class_plans(settings.plan)
    return [
        {"plan.classes": [*now[:label], {**row, **change}, *now[label + 1 :]]}
        for label, row in enumerate(now)
        for change in changes
        if not change.items() <= dict(row).items()
    ]


def scaled(settings: Settings, factor: float) -> Changes:
    """Return every k times a factor, at least 1: as much text in chunks of another length."""
    if isinstance(settings.plan.k, int):
        return {"plan.k": _times(settings.plan.k, factor)}
    plans = [{**row, "k": _times(row["k"], factor)} for row in class_plans(settings.plan)]
    return {"plan.classes": plans}


def _times(k: int, factor: float) -> int:
    return min(_MOST_K, max(1, round(k * factor)))


def thinned(every: Coordinates, most: int, seed: int) -> Coordinates:
    """Return coordinates with at most ``most`` candidates altogether, each keeping its part.

    Args:
        every: In the order in which they are tried.
        most: How many may be tried.
        seed: Decides which.
    """
    total = sum(map(len, every.values()))
    if total <= most:
        return every
    choose = random.Random(seed)  # noqa: S311 - a search is no secret
    kept: dict[str, Sequence[Changes]] = {}
    for name, candidates in every.items():
        count = len(candidates)
        places = choose.sample(range(count), min(count, max(1, most * count // total)))
        kept[name] = [candidates[place] for place in sorted(places)]
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
    taken: bool = False


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
    _tokens: float = 0.0
    """Of context a question, under the first settings."""

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
        current, now = base, self._measured(base)
        self._tokens = now.mean_tokens
        worth = now.mean(self.objective)
        if isinstance(worth, Unresolved):
            raise InputError(
                f"No question can be scored by {self.objective}: {worth.reason}.",
                "Choose another --objective, or add to the gold questions what it needs.",
            )
        for name in self._coordinates(base):
            candidates = self._coordinates(current).get(name, ())
            if candidates and not self.spent:
                current, now = self._stepped(name, candidates, current, now)
        return current

    def _coordinates(self, settings: Settings) -> Coordinates:
        return thinned(coordinates(settings, self.chunking), self.most - 1, self.seed)

    def _stepped(
        self, name: str, candidates: Sequence[Changes], current: Settings, now: Measurement
    ) -> tuple[Settings, Measurement]:
        """The settings after a coordinate, and what they are worth."""
        tried = [current.changed(**changes) for changes in candidates]
        tried = [settings for settings in tried if settings != current]
        if self.objective not in OF_RETRIEVAL:
            tried = self._finalists(name, tried)
        best, worth = current, now
        rows: list[Trial] = []
        for number, settings in enumerate(tried):
            if self.spent:
                break
            self.progress(name, number, len(tried))
            fitted, measured = self._fitted(name, settings)
            gains, _ = self._gains(now, measured)
            rows.append(Trial(name, fitted, measured, mean(gains) if gains else NO_PAIR))
            further, _ = self._gains(worth, measured)
            if self._allowed(measured) and further and mean(further) > 0.0:
                best, worth = fitted, measured
        self.progress(name, 1, 1)
        if not beyond_noise(*self._gains(now, worth)):
            best, worth = current, now
        self.trials += [replace(row, taken=row.settings == best) for row in rows]
        return best, worth

    def _finalists(self, name: str, tried: list[Settings]) -> list[Settings]:
        """The candidates that bring up most of the evidence, for answering is dear."""
        ranked: list[tuple[float, Settings]] = []
        for number, settings in enumerate(tried):
            if self.out_of_time():
                break
            self.progress(f"{name}, retrieval", number, len(tried))
            fitted, measured = self._fitted(name, settings, ranking=True)
            recall = measured.mean("recall")
            if not is_resolved(recall):
                return tried
            if self._allowed(measured):
                ranked.append((recall, fitted))
        self.progress(f"{name}, retrieval", 1, 1)
        ranked.sort(key=lambda row: -row[0])
        return [settings for _, settings in ranked[:_FINALISTS]]

    def _fitted(
        self, name: str, settings: Settings, ranking: bool = False
    ) -> tuple[Settings, Measurement]:
        """The settings, with as many passages as cost what the first settings' cost."""
        measured = self._measured(settings, ranking)
        share = measured.mean_tokens / max(self._tokens, 1.0)
        if name != RESIZING or _REFIT <= share <= MOST_TOKENS or not share:
            return settings, measured
        fitted = settings.changed(**scaled(settings, 1.0 / share))
        return fitted, self._measured(fitted, ranking)

    def _measured(self, settings: Settings, ranking: bool = False) -> Measurement:
        # ranking candidates by retrieval alone is no trial of the objective
        self.used += not ranking
        answered = self.objective not in OF_RETRIEVAL and not ranking
        return self.measure(settings, self.questions, answered)

    def _allowed(self, measured: Measurement) -> bool:
        return measured.mean_tokens <= MOST_TOKENS * self._tokens

    def _gains(self, before: Measurement, after: Measurement) -> tuple[list[float], list[int]]:
        own, other = before.scores[self.objective], after.scores[self.objective]
        return paired(own, other, self.groups)
