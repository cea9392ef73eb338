"""Searching settings on one part of the gold questions and reporting on the other.

Whole groups of near-duplicates are assigned, or a question could be reported on after a similar one
was tuned on. Recall counts pieces of evidence and not chunks: documents cut into small chunks have
more to find, so chunkers could not be compared. Optuna suggests the settings, and only a gain
beyond noise is accepted.
"""

import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, get_args, get_origin

import optuna
from optuna.trial import Trial, TrialState
from pydantic.fields import FieldInfo

from lexloop.core.errors import InputError, ModelError
from lexloop.core.metadata import Filters
from lexloop.core.settings import METHODS, Connection, Settings
from lexloop.core.types import Passage
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.text.tokens import words
from lexloop.graph.build import LAST_OF_RETRIEVAL, build_graph
from lexloop.graph.resources import Resources
from lexloop.models.embedding import Embedder
from lexloop.nodes.classify import class_plans
from lexloop.nodes.markers import without_markers
from lexloop.store.view import View
from lexloop_eval.case import Case
from lexloop_eval.correctness import CorrectnessJudge
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.graph_runs import state_after
from lexloop_eval.metrics.retrieval import Span, of_ranking, overlap
from lexloop_eval.metrics.text import cosine
from lexloop_eval.report.tables import (
    NOTE,
    Figure,
    Table,
    Value,
    as_markdown,
    of_estimate,
    rounded,
)
from lexloop_eval.run.worker import OneByOne, of_spans
from lexloop_eval.score import Score, Unresolved, as_json, is_resolved, resolved
from lexloop_eval.statistics import (
    NO_PAIR,
    beyond_noise,
    clustered_estimate,
    mean,
    paired,
    paired_randomisation,
)

Objective = Literal["similarity", "correctness", "recall", "ndcg", "span_recall"]
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
OF_RETRIEVAL: tuple[Objective, ...] = ("recall", "ndcg", "span_recall")
"""These need no answer."""
_DEPTH = 10
_NO_REFERENCE = "the gold record has no reference answer"


@dataclass(frozen=True)
class Measurement:
    """The worth of settings on some questions.

    Args:
        scores: Of each objective, one score a question, in their order.
        tokens: Of the passages, one number a question, as the embedded model counts them.
    """

    scores: dict[Objective, list[Score]]
    tokens: list[float]

    def mean(self, objective: Objective) -> Score:
        """Return the mean of the resolved scores."""
        if values := resolved(self.scores[objective]):
            return mean(values)
        unresolved = (score for score in self.scores[objective] if isinstance(score, Unresolved))
        return next(unresolved, Unresolved("there are no questions"))

    @property
    def mean_tokens(self) -> float:
        """The tokens of context a question."""
        return mean(self.tokens)


class Measurer:
    """Measures settings; opens each collection once, embeds each question once, in one thread.

    Args:
        connection: Where models are reached.
        progress: Told how far an indexing or a measurement has come.
    """

    def __init__(self, connection: Connection, progress: Progress = silent) -> None:
        self._resources = _CachedResources(connection, progress=progress)
        self._progress = progress
        self._known: dict[View, EvidenceIndex] = {}

    def measure(
        self, settings: Settings, questions: Sequence[Case], answered: bool, stage: str = ""
    ) -> Measurement:
        """Ask every question.

        Args:
            settings: The settings for the answers.
            questions: At least one question.
            answered: Whether to write answers. Without them, similarity and correctness are
                unresolved.
            stage: The name for progress. Without a name, progress is not called.

        Raises:
            LexloopError: The settings, the corpus or the data cannot be used. A model that fails
                on a question leaves that question's scores unresolved.
        """
        collection = self._resources.collection(settings)[0]
        view = collection.seen_by(Filters.of(settings))
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        judged = settings if answered else settings.changed(**{"loop.evaluator": "none"})
        parts = self._resources.over(judged, collection)
        graph = build_graph(lambda *_: parts)
        rows: list[dict[Objective, Score]] = []
        tokens: list[float] = []
        for number, gold in enumerate(questions, 1):
            try:
                state = state_after(graph, gold, "" if answered else LAST_OF_RETRIEVAL)
            except ModelError as error:
                rows.append(dict.fromkeys(OBJECTIVES, Unresolved(error.what)))
                tokens.append(0.0)
            else:
                passages: list[Passage] = state["passages"]
                scores = of_passages(gold, passages, self._known[view])
                rows.append(
                    {**scores, **self._of_answer(gold, state["answer"] if answered else None)}
                )
                texts = [passage["text"] for passage in passages]
                tokens.append(float(sum(self._embedder.count_tokens_many(texts))))
            if stage:
                self._progress(stage, number, len(questions))
        return Measurement({name: [row[name] for row in rows] for name in OBJECTIVES}, tokens)

    def _of_answer(self, gold: Case, answer: str | None) -> dict[Objective, Score]:
        reference = (gold.reference_answer or "").strip()
        if answer is None or not reference:
            missing = "no answer was written" if answer is None else _NO_REFERENCE
            return {"similarity": Unresolved(missing), "correctness": Unresolved(missing)}
        text = without_markers(answer)
        similarity = cosine(*self._embedder.embed([text, reference]))
        return {
            "similarity": Unresolved("out of scope: the right answer is to abstain")
            if gold.out_of_scope
            else similarity,
            "correctness": self._correctness.score(gold.question, text, reference),
        }

    @cached_property
    def _embedder(self) -> Embedder:
        return self._resources.embedder(Settings())

    @cached_property
    def _correctness(self) -> CorrectnessJudge:
        return CorrectnessJudge(self._embedder.embed)


class _CachedResources(Resources):
    """Embeds a question once for all settings that are tried on it."""

    def _load(self, name: str) -> Embedder:
        return OneByOne(super()._load(name))


def of_passages(
    gold: Case, passages: Sequence[Passage], index: EvidenceIndex
) -> dict[Objective, Score]:
    """Return the objectives of retrieval for one question.

    Args:
        gold: The question and its evidence.
        passages: The passages that an answer would be written from.
        index: Finds the evidence in the collection.

    Returns:
        ``recall``: the share of the pieces of evidence (spans, quoted contexts, or documents,
        whichever the record has) that are at least half within a passage. ``ndcg``: nDCG@10 of the
        passages. ``span_recall``: the share of the evidence's characters in them. Each is
        unresolved if the record lacks its input.
    """
    relevant, ids = index.relevant(gold), [passage["id"] for passage in passages]
    grades = relevant.chunks
    return {
        "recall": _recall(gold, passages, index),
        "ndcg": grades
        if isinstance(grades, Unresolved)
        else of_ranking(ids, grades, _DEPTH)["ndcg"],
        "span_recall": of_spans(relevant, passages)["span_recall"],
    }


def _recall(gold: Case, passages: Sequence[Passage], index: EvidenceIndex) -> Score:
    if gold.out_of_scope:
        return Unresolved("out of scope: nothing is relevant")
    if gold.evidence:
        places = [(p["document"], p["start"], p["end"]) for p in passages]
        evidence = [(span.document, span.start, span.end) for span in gold.evidence]
        hits = [_covered(span, places) for span in evidence]
    elif gold.reference_context:
        retrieved = {passage["id"] for passage in passages}
        hits = [bool(ids & retrieved) for ids in index.by_context(gold.reference_context) if ids]
    else:
        owners = {passage["document"] for passage in passages}
        hits = [name in owners for name in gold.documents or ()]
    return mean(hits) if hits else Unresolved("the gold record names no evidence")


def _covered(span: Span, places: Sequence[Span]) -> bool:
    """Return whether the passages hold half of a span, or one of them lies half within it."""
    shared = [overlap(span, place) for place in places]
    return 2 * sum(shared) >= span[2] - span[1] or any(
        2 * common >= end - start for common, (_, start, end) in zip(shared, places, strict=True)
    )


Changes = Mapping[str, Any]
_MOST_K = 50
_CHUNKERS: Mapping[str, Changes] = {
    "auto": {"chunking": "auto"},
    "provisions": {"chunking": "provisions"},
    **{
        f"sentences of {tokens}": {
            "chunking": "sentence",
            "chunking.tokens": tokens,
            "chunking.overlap": overlap,
        }
        for tokens, overlap in ((64, 0), (128, 32), (256, 64), (512, 200))
    },
    "semantic": {"chunking": "semantic"},
    **{
        f"{chars} characters": {
            "chunking": "characters",
            "chunking.chars": chars,
            "chunking.chars_overlap": overlap,
        }
        for chars, overlap in ((500, 50), (1000, 100))
    },
}
_TIMES, _FROM_NOTHING = 3.0, 0.4
"""The largest weight tried: so many times its default, or this if the default is 0."""
_PLAN = {"k": (2, 10), "Q": (0, 7), "K": (0, 5), "S": (0, 3)}
"""The smallest and largest number tried in the plan of each class."""
_SHARES = (0.02, 0.1)


def suggested(trial: Trial, base: Settings, chunking: bool) -> Changes:
    """Return the changes to the first settings that a trial of Optuna suggests.

    Args:
        trial: Chooses each value, and remembers it.
        base: The first settings. What they fix in the plan stays fixed.
        chunking: Whether the corpus can be cut again. An index cannot.
    """
    changes: dict[str, Any] = {}
    if chunking:
        changes |= _CHUNKERS[trial.suggest_categorical("chunking", [*_CHUNKERS])]
    method = trial.suggest_categorical("fusion", [*METHODS["fusion"]])
    changes |= {"fusion": method, **_fusion(trial, method)}
    plan = base.plan
    if base.variant not in ("hypa", "pa"):
        return changes
    tried = dict(_PLAN)
    if isinstance(plan.k, int):
        del tried["k"]
    elif trial.suggest_categorical("plan.k", ["class", "scores"]) == "class":
        changes["plan.k"] = "class"
    else:
        changes["plan.k"] = {"min_share": trial.suggest_float("min_share", *_SHARES)}
    if plan.Q is not None or base.retrieval.rewriter == "none":
        del tried["Q"]
    if plan.K is not None or plan.S is not None or base.variant == "pa":
        del tried["K"], tried["S"]
    changes["plan.classes"] = [
        {**row, **{name: trial.suggest_int(f"{name} of {label}", *tried[name]) for name in tried}}
        for label, row in enumerate(class_plans(plan))
    ]
    return changes


def _fusion(trial: Trial, method: str) -> dict[str, Any]:
    """Return the weights and choices of a fusion that a trial suggests."""
    changes: dict[str, Any] = {"documents": trial.suggest_categorical("documents", [None, 3])}
    for name, about in METHODS["fusion"][method].model_fields.items():
        place, kind, default = f"{method}.{name}", about.annotation, about.default
        if kind is float:
            most = min(_TIMES * default or _FROM_NOTHING, _limit(about))
            changes[name] = trial.suggest_float(place, 0.0, most)
        elif kind is int:
            changes[name] = trial.suggest_int(place, default // 2, 2 * default)
        elif get_origin(kind) is Literal and name != "method":
            changes[name] = trial.suggest_categorical(place, get_args(kind))
    return {f"fusion.{name}": value for name, value in changes.items()}


def _limit(field: FieldInfo) -> float:
    """Return the largest value that a field allows."""
    return next((bound.le for bound in field.metadata if hasattr(bound, "le")), math.inf)


def scaled(settings: Settings, factor: float) -> Changes:
    """Return every k times a factor, at least 1: as much text in chunks of another length."""
    if isinstance(settings.plan.k, int):
        return {"plan.k": _times(settings.plan.k, factor)}
    plans = [{**row, "k": _times(row["k"], factor)} for row in class_plans(settings.plan)]
    return {"plan.classes": plans}


def _times(k: int, factor: float) -> int:
    return min(_MOST_K, max(1, round(k * factor)))


MOST_TOKENS = 1.05
"""Settings may use this much of the tokens of context that the first ones use: with more passages
recall rises by itself."""
_REFIT = 0.8
_ASKED = 3
"""How many settings Optuna is asked for at most, for each that is measured by the objective."""

Measure = Callable[[Settings, Sequence[Case], bool], Measurement]
"""``Measurer.measure``: settings, questions, and whether answers are written."""


@dataclass(frozen=True)
class Tried:
    """Settings that were measured on the tuning questions.

    Args:
        settings: All settings.
        measured: The measurement.
        gain: The gain over the first settings.
        taken: Whether they are the final ones.
    """

    settings: Settings
    measured: Measurement
    gain: Score
    taken: bool = False


@dataclass
class Search:
    """One search. ``run`` returns the final settings, and ``trials`` lists what was tried.

    Args:
        measure: Measures settings.
        questions: The tuning questions.
        groups: The group of near-duplicates of each question.
        objective: The objective to raise.
        most: The maximum number of settings to measure, including the first.
        seed: Of the sampler.
        chunking: Whether the corpus can be cut again.
        out_of_time: Called before each trial.
        progress: Called with the progress.
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
    trials: list[Tried] = field(default_factory=list)
    used: int = 0
    _tokens: float = 0.0
    """Of context a question, under the first settings."""

    @property
    def spent(self) -> bool:
        """The end of the search: no further trial may be made."""
        return self.used >= self.most or self.out_of_time()

    def run(self, base: Settings) -> Settings:
        """Return the best settings found, or the first ones if none gains more than noise.

        Optuna's tree-structured Parzen estimator suggests them, starting from the first ones.

        Raises:
            LexloopError: The first settings cannot be measured, or no question has the objective.
        """
        first = best = self._measured(base)
        self._tokens = first.mean_tokens
        worth = first.mean(self.objective)
        if isinstance(worth, Unresolved):
            raise InputError(
                f"No question can be scored by {self.objective}: {worth.reason}.",
                "Choose another --objective, or add to the gold questions what it needs.",
            )
        chosen, study = base, _study(self.seed)
        study.enqueue_trial(_params(base))
        trial = study.ask()
        suggested(trial, base, self.chunking)
        self._tell(study, trial, first)
        while not self.spent and len(study.trials) < _ASKED * self.most:
            self.progress("trials", self.used, self.most)
            trial = study.ask()
            settings = base.changed(**suggested(trial, base, self.chunking))
            if self._brings_less(trial, settings):
                study.tell(trial, state=TrialState.PRUNED)
                continue
            settings, measured = self._fitted(settings, base)
            self._tell(study, trial, measured)
            gains, _ = self._gains(first, measured)
            self.trials.append(Tried(settings, measured, mean(gains) if gains else NO_PAIR))
            further, _ = self._gains(best, measured)
            if self._excess(measured) <= 0.0 and further and mean(further) > 0.0:
                chosen, best = settings, measured
        self.progress("trials", 1, 1)
        if not beyond_noise(*self._gains(first, best)):
            return base
        self.trials = [replace(tried, taken=tried.settings == chosen) for tried in self.trials]
        return chosen

    def _brings_less(self, trial: Trial, settings: Settings) -> bool:
        """Return whether settings bring up less evidence than most, for answering is dear."""
        if self.objective in OF_RETRIEVAL:
            return False
        recall = self._measured(settings, ranking=True).mean("recall")
        if not is_resolved(recall):
            return False
        trial.report(recall, step=0)
        return trial.should_prune()

    def _tell(self, study: optuna.Study, trial: Trial, measured: Measurement) -> None:
        worth = measured.mean(self.objective)
        trial.set_constraint("tokens", self._excess(measured))
        if is_resolved(worth):
            study.tell(trial, worth)
        else:
            study.tell(trial, state=TrialState.FAIL)

    def _excess(self, measured: Measurement) -> float:
        """Return the tokens beyond those that settings may use."""
        return measured.mean_tokens - MOST_TOKENS * self._tokens

    def _fitted(self, settings: Settings, base: Settings) -> tuple[Settings, Measurement]:
        """Return settings of another chunker with as many passages as cost what the first ones do.

        Settings of the first chunker stay as they are.
        """
        measured = self._measured(settings)
        share = measured.mean_tokens / max(self._tokens, 1.0)
        same = settings.chunking == base.chunking
        if same or _REFIT <= share <= MOST_TOKENS or not share:
            return settings, measured
        fitted = settings.changed(**scaled(settings, 1.0 / share))
        return fitted, self._measured(fitted)

    def _measured(self, settings: Settings, ranking: bool = False) -> Measurement:
        # ranking candidates by retrieval alone does not measure the objective
        self.used += not ranking
        with_answers = self.objective not in OF_RETRIEVAL and not ranking
        return self.measure(settings, self.questions, with_answers)

    def _gains(self, before: Measurement, after: Measurement) -> tuple[list[float], list[int]]:
        own, theirs = before.scores[self.objective], after.scores[self.objective]
        return paired(own, theirs, self.groups)


def _study(seed: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    return optuna.create_study(direction="maximize", sampler=sampler)


def _params(base: Settings) -> dict[str, Any]:
    """Return what a trial suggests where it suggests the first settings, as far as it can."""
    fusion = base.fusion.model_dump()
    method, documents = fusion.pop("method"), fusion.pop("documents")
    return {
        "chunking": "auto",
        "fusion": method,
        "documents": documents,
        "plan.k": "class",
        **{f"{method}.{name}": value for name, value in fusion.items()},
        **{
            f"{name} of {label}": number
            for label, row in enumerate(class_plans(base.plan))
            for name, number in row.items()
        },
    }


TUNED_SHARE = 0.6
"""The other questions are for the report, as in Sultania et al."""
SAME_QUESTION, SAME_ANSWER, ALIKE = 0.8, 0.9, 0.4
"""Minimum shares of common words: of two questions, and of two answers to similar ones."""


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
        base: The settings to start from. They stay unless something gains more than noise.
        connection: The address and key of models.
        objective: The objective to raise.
        most: The maximum number of settings to measure by the objective.
        seconds: The time after which no further settings are tried. The result then depends on the
            machine.
        seed: The seed of the split and of Optuna's sampler.
        chunking: Whether the corpus can be cut again. An index cannot.
        progress: Called with the progress.

    Returns:
        The report as JSON: the ``settings`` that it changed, the numbers of questions for tuning
        and for the report, the ``trials``, and why it ``stopped`` early. For each objective on the
        ``held_out`` questions it has ``before``, ``after`` and the mean ``gain``, figures whose
        intervals are over groups of near-duplicates.

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
    tuned = search.run(base)
    late, spent = search.out_of_time(), search.spent
    with_answers = objective not in OF_RETRIEVAL or base.model.name is None
    before = after = measurer.measure(base, unseen, with_answers, "held out, before")
    if tuned != base:
        after = measurer.measure(tuned, unseen, with_answers, "held out, after")
    groups = [group_of[question.id] for question in unseen]
    report: dict[str, Any] = {
        "objective": objective,
        "settings": tuned.differing(base),
        "tuning_questions": len(tuning),
        "held_out_questions": len(unseen),
        "context_tokens_before": before.mean_tokens,
        "context_tokens_after": after.mean_tokens,
        "stopped": "the time was up" if late else "all trials were made" if spent else "",
    }
    report["held_out"] = {
        name: _held_out(before.scores[name], after.scores[name], groups) for name in OBJECTIVES
    }
    report["trials"] = [
        {
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
    before: Sequence[Score], after: Sequence[Score], groups: Sequence[int]
) -> dict[str, Figure]:
    """One objective on the held-out questions."""
    gains, owners = paired(before, after, groups)
    gain = of_estimate(clustered_estimate(gains, owners) if gains else NO_PAIR)
    p = paired_randomisation(after, before, groups)
    gain["p"] = rounded(p) if is_resolved(p) else None
    parts = {"before": before, "after": after}
    by_part = {
        part: of_estimate(clustered_estimate(values, groups)) for part, values in parts.items()
    }
    return {**by_part, "gain": gain}


def split(
    gold: Sequence[Case], group_of: dict[str, int], seed: int
) -> tuple[list[Case], list[Case]]:
    """Assign whole groups to two parts, with each question type shared evenly.

    Args:
        gold: The questions.
        group_of: The group of each, by its id.
        seed: Assigns the groups.

    Returns:
        The questions for tuning, about ``TUNED_SHARE``, and those for the report, in the order of
        ``gold``.

    Raises:
        InputError: One of the parts would be empty.
    """
    members: dict[int, list[Case]] = defaultdict(list)
    for question in gold:
        members[group_of[question.id]].append(question)
    order = sorted(members)
    random.Random(seed).shuffle(order)  # noqa: S311 - a split is no secret
    order.sort(key=lambda group: -len(members[group]))
    totals = Counter(question.question_type for question in gold)
    assigned: Counter[str] = Counter()
    tuning: set[int] = set()
    for group in order:
        types = Counter(question.question_type for question in members[group])
        missing = sum(
            n * (TUNED_SHARE * totals[name] - assigned[name]) for name, n in types.items()
        )
        if 2 * missing >= sum(n * n for n in types.values()):
            assigned += types
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

    word_sets = [frozenset(words(question.whole_question)) for question in gold]
    answers = [
        frozenset() if question.out_of_scope else frozenset(words(question.reference_answer or ""))
        for question in gold
    ]
    together = nx.Graph()
    together.add_nodes_from(range(len(gold)))
    for i, j in combinations(range(len(gold)), 2):
        alike = _common(word_sets[i], word_sets[j])
        if alike >= SAME_QUESTION or (
            alike >= ALIKE and _common(answers[i], answers[j]) >= SAME_ANSWER
        ):
            together.add_edge(i, j)
    groups = nx.connected_components(together)
    return {gold[place].id: min(places) for places in groups for place in places}


def _common(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Jaccard index, or 0 if there are no words."""
    return len(first & second) / len(first | second) if first and second else 0.0


def as_table(report: dict[str, Any]) -> str:
    """Return the held-out part as a Markdown table, without objectives that have no score."""
    lines: list[list[Value]] = [
        [name, estimate["before"], estimate["after"], estimate["gain"]]
        for name, estimate in report["held_out"].items()
        if estimate["before"]["n"]
    ]
    before, after = (report[f"context_tokens_{when}"] for when in ("before", "after"))
    lines.append(["tokens of context", f"{before:.0f}", f"{after:.0f}", f"{after - before:+.0f}"])
    title = f"{report['held_out_questions']} questions that tuning did not see"
    return as_markdown(Table(title, NOTE, ["", "before", "after", "gain"], lines))
