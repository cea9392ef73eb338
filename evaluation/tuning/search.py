"""Coordinate-wise search: each in turn takes its best candidate, if that is more than noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lexloop.core.errors import InputError
from lexloop.core.score import Score, Unresolved, is_resolved
from lexloop.core.settings import Settings
from lexloop.corpus.load.reading import Progress
from lexloop.evaluation.case import Case
from lexloop.evaluation.statistics import NO_PAIR, beyond_noise, mean, paired
from lexloop.evaluation.tuning.measure import OF_RETRIEVAL, Measurement, Objective
from lexloop.evaluation.tuning.space import Coordinate, coordinates, scaled, thinned

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
