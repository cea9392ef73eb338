"""The search: one coordinate after the other, and nothing taken that does not gain beyond noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.documents.reading.workers import Progress
from lexloop.evaluation.case import Case
from lexloop.evaluation.score import Score, Unresolved, is_resolved
from lexloop.evaluation.statistics import NO_PAIR, beyond_noise, mean, paired
from lexloop.evaluation.tuning.coordinates import (
    RESIZING,
    Changes,
    Coordinates,
    coordinates,
    scaled,
    thinned,
)
from lexloop.evaluation.tuning.measure import OF_RETRIEVAL, Measurement, Objective

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
