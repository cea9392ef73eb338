"""The work of a worker process: ask a case under a variant, and measure the result.

Its judges work for every variant, and their vectors do not depend on batches.
"""

import os
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any, TypeVar, cast

import numpy as np

from lexloop.core.errors import LexloopError
from lexloop.core.metadata import Filters
from lexloop.core.running import waited
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Attempt, Passage
from lexloop.core.workers import Frame
from lexloop.documents.text.tokens import words
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.models.embedding import Embedder, Vectors
from lexloop.models.minilm import load_shipped
from lexloop.nodes.context import Context
from lexloop.nodes.evaluate.checks import citation_problems, without_told
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport, EmbeddedJudge, claims_of
from lexloop.nodes.evaluate.node import best_attempt
from lexloop.nodes.markers import without_markers
from lexloop.nodes.question.parts import parse
from lexloop.store.view import Collection, View
from lexloop.store.writer import without
from lexloop_eval.asking import Asker
from lexloop_eval.case import Case
from lexloop_eval.correctness import CorrectnessJudge, is_correct
from lexloop_eval.evidence import EvidenceIndex, Grades, Relevant
from lexloop_eval.graph_runs import state_after
from lexloop_eval.judges_by_model import Given, model_metrics
from lexloop_eval.metrics import retrieval
from lexloop_eval.metrics.text import BY_WORDS, by_words, cosine
from lexloop_eval.record import AttemptSeen, Record, unanswered
from lexloop_eval.score import Score, Unresolved, as_json

_MOST_CACHED = 20_000


class OneByOne:
    """An embedder with a cache, whose vectors do not depend on other texts of a batch."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window = embedder.window
        self.encode = embedder.encode
        self.count_tokens = embedder.count_tokens
        self.count_tokens_many = embedder.count_tokens_many
        self._vector = lru_cache(_MOST_CACHED)(lambda text: embedder.embed([text])[0])

    def embed(self, texts: list[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32)
        return vectors.reshape(len(texts), self.dimension)


T = TypeVar("T")


class CaseCache:
    """Findings about one case; another case clears them."""

    def __init__(self) -> None:
        self._case: str | None = None
        self._found: dict[Hashable, object] = {}

    def about(self, case: str) -> None:
        """Name the case that comes next, by its id."""
        if case != self._case:
            self._case, self._found = case, {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached value of a key, computing it if needed."""
        if key not in self._found:
            self._found[key] = make()
        return cast(T, self._found[key])


class Judges:
    """The judges of a process.

    ``embed`` returns unit vectors of the embedded model, whichever model answers. ``support``
    judges claims, ``correctness`` answers against references, and ``asker`` asks the judging model.

    Args:
        connection: The address and key of the judging model.
        judge: Its settings, or None without one.

    Raises:
        LexloopError: Their weights cannot be read, or the judging model cannot be used.
    """

    def __init__(self, connection: Connection, judge: dict[str, Any] | None) -> None:
        self._alone: dict[str, OneByOne] = {}
        self.known = CaseCache()
        self.embed = self._one_by_one(load_shipped()).embed
        self._tokens = lru_cache(_MOST_CACHED)(load_shipped().count_tokens)
        self.support = ClaimSupport(self.embed)
        self.correctness = CorrectnessJudge(self.embed)
        self.asker = Asker(Settings(**judge), connection) if judge else None

    def over(self, collection: Collection, access: Filters) -> EmbeddedJudge:
        """Return the judge of answers from what an access admits of a collection."""
        # texts are embedded one at a time, because scores must not depend on batches
        judging = collection.embedded_by(self._one_by_one(collection.embedder))
        return EmbeddedJudge(judging.seen_by(access))

    def _one_by_one(self, embedder: Embedder) -> OneByOne:
        return self._alone.setdefault(embedder.name, OneByOne(embedder))

    def context_tokens(self, passages: list[Passage]) -> int:
        """Count the tokens of the passages by the embedded model, whichever model answers."""
        return sum(self._tokens(passage["text"]) for passage in passages)


SUPPORTED = 0.5
"""A claim that is more probably supported than not counts as inferred."""
_TRIAD = ("answer_relevance", "context_relevance", "groundedness")
_AGAINST_REFERENCE = ("similarity", "correctness", "correct", *BY_WORDS)
_NO_REFERENCE = Unresolved("the gold record has no reference answer")
_DEPTHS = (5, 10)
_DOCUMENTS = 3
"""Sultania et al. return and measure three documents."""


@dataclass(frozen=True)
class Answered:
    """An answered case, with everything to judge it.

    Args:
        gold: The question, and what is known about the right answer.
        state: The graph's working state at the end.
        judges: The judges that score every variant, even if it evaluated its answers itself.
        judge: Computes LQ-RAG's three scores.
        view: The documents that were asked.
        evidence: Finds the relevant chunks. None if nothing was retrieved.
        closed: Whether the evidence was taken out first, so that no answer can be right.
    """

    gold: Case
    state: dict[str, Any]
    judges: Judges
    judge: EmbeddedJudge
    view: View
    evidence: EvidenceIndex | None
    closed: bool

    @property
    def reference(self) -> str:
        """The right answer, or empty if there is none or the evidence was taken out."""
        reference = self.gold.reference_answer or ""
        return "" if self.closed or not reference.strip() else reference

    @property
    def passages(self) -> list[Passage]:
        """The passages that the answer was written from."""
        passages: list[Passage] = self.state["passages"]
        return passages

    @property
    def question(self) -> str:
        """The question as it is to be understood: a follow-up in its standalone form."""
        question: str = self.state["attempts"][0]["question"]
        return question


def measure(asked: Answered) -> dict[str, Score]:
    """Return every metric. Metrics that lack their input are unresolved, with the reason."""
    cache, answer, ids = (
        asked.judges.known,
        asked.state["answer"],
        tuple(p["id"] for p in asked.passages),
    )
    cache.about(asked.gold.id)
    metrics: dict[str, Score] = {
        **cache.get(("reference", answer, asked.reference), lambda: _against_reference(asked)),
        **cache.get(
            ("answer", asked.question, asked.view, answer, ids), lambda: _of_the_answer(asked)
        ),
        **cache.get(("context", asked.reference, asked.view, ids), lambda: _of_the_context(asked)),
        **_of_abstaining(asked),
        "unverified_citations": _unverified(asked),
        "words": float(len(without_markers(answer).split())),
        **of_retrieval(
            _relevant(asked), ranking(asked.state), asked.passages, asked.state["plan"]["k"]
        ),
    }
    if asked.judges.asker is not None:
        texts = [passage["text"] for passage in asked.passages]
        rubrics = asked.judges.asker.rubrics
        given = Given(asked.question, answer, asked.reference, texts, asked.judges.embed, rubrics)
        metrics |= model_metrics(asked.judges.asker, given)
    if asked.gold.rated:
        metrics["human"] = by_people(asked.gold, answer)
    return metrics


def by_people(gold: Case, answer: str) -> Score:
    """Return the mean of what people gave this very answer, its markers and blanks apart."""
    answer_words = words(without_markers(answer))
    scores = [
        rated.score for rated in gold.rated if words(without_markers(rated.answer)) == answer_words
    ]
    return fmean(scores) if scores else Unresolved("nobody has scored this answer")


def attempt_seen(asked: Answered, attempt: Attempt) -> AttemptSeen:
    """Return the record of one pass through the loop."""
    evaluation, usage = attempt["evaluation"], attempt["usage"]
    score = _correctness(asked, attempt["answer"])
    seen: AttemptSeen = {
        "answer_relevance": evaluation["answer_relevance"],
        "context_relevance": evaluation["context_relevance"],
        "groundedness": evaluation["groundedness"],
        "passed": evaluation["passed"],
        "verified": evaluation["citations_verified"],
        "abstained": attempt["abstained"],
        "model_calls": usage["model_calls"],
        "tokens": usage["tokens_in"] + usage["tokens_out"],
        "correctness": None if isinstance(score, Unresolved) else score,
    }
    if "answers" in evaluation:
        seen["answers"] = evaluation["answers"]
    return seen


def _against_reference(asked: Answered) -> dict[str, Score]:
    """Compare with the reference: by vectors, by the correctness judge, by words.

    The [n] markers are not part of an answer's text.
    """
    if not asked.reference:
        return dict.fromkeys(_AGAINST_REFERENCE, _NO_REFERENCE)
    judged = _correctness(asked, asked.state["answer"])
    correct: dict[str, Score] = {"correctness": judged, "correct": is_correct(judged)}
    if asked.gold.out_of_scope:  # any wording may say that the documents do not answer
        free = Unresolved("out of scope: the reference's words are not the only ones")
        return {**dict.fromkeys(_AGAINST_REFERENCE, free), **correct}
    text, reference = without_markers(asked.state["answer"]), asked.reference
    ours, theirs = asked.judges.embed([text, reference])
    return {**correct, "similarity": cosine(ours, theirs), **by_words(text, reference)}


def _correctness(asked: Answered, answer: str) -> Score:
    """The embedded judge's absolute correctness, 1 to 5."""
    if not asked.reference:
        return _NO_REFERENCE
    text, judge = without_markers(answer), asked.judges.correctness
    return asked.judges.known.get(
        ("correctness", text), lambda: judge.score(asked.gold.question, text, asked.reference)
    )


def _of_the_answer(asked: Answered) -> dict[str, Score]:
    """LQ-RAG's triad and HyPA-RAG's faithfulness (5.2), without a model."""
    if asked.state["abstained"]:
        return dict.fromkeys((*_TRIAD, "faithfulness"), Unresolved("the answer is an abstention"))
    if not asked.passages:
        return dict.fromkeys((*_TRIAD, "faithfulness"), Unresolved("no passage was retrieved"))
    triad = waited(asked.judge.judge(parse(asked.question), asked.passages, asked.state["answer"]))
    scores: dict[str, float | None] = {name: getattr(triad, name) for name in _TRIAD}
    # "In law.txt:" is a line of code's own, and no claim
    told = {line for attempt in asked.state["attempts"] for line in attempt.get("told", ())}
    claims = claims_of(without_told(asked.state["answer"], told))
    inferred = _supported(asked, claims, asked.passages)
    missing = Unresolved("the judge gave no score")
    return {
        **{name: missing if score is None else score for name, score in scores.items()},
        "faithfulness": retrieval.borne_out(inferred, "answer"),
    }


def _of_the_context(asked: Answered) -> dict[str, Score]:
    """HyPA-RAG's context recall and precision (5.2), by the claims of the reference."""
    names = ("context_recall", "context_precision")
    if asked.gold.out_of_scope:
        return dict.fromkeys(names, Unresolved("out of scope: nothing is relevant"))
    claims = claims_of(asked.reference)
    if not claims:
        return dict.fromkeys(names, _NO_REFERENCE)
    if not asked.passages:
        return dict.fromkeys(names, Unresolved("no passage was retrieved"))
    relevant = [_supports_any(asked, claims, passage) for passage in asked.passages]
    return {
        "context_recall": retrieval.borne_out(
            _supported(asked, claims, asked.passages), "reference"
        ),
        "context_precision": retrieval.context_precision(relevant),
    }


def _supports_any(asked: Answered, claims: list[str], passage: Passage) -> bool:
    return asked.judges.known.get(
        ("supports any", tuple(claims), passage["text"]),
        lambda: any(_supported(asked, claims, [passage])),
    )


def _supported(asked: Answered, claims: list[str], passages: Sequence[Passage]) -> list[bool]:
    """Judge of each claim that the passages together support it."""
    texts = [passage["text"] for passage in passages]
    evidence: Evidence = asked.judges.known.get(
        ("evidence", tuple(texts)), lambda: evidence_of(texts, asked.judges.embed)
    )
    return [judged.probability >= SUPPORTED for judged in asked.judges.support.of(claims, evidence)]


def _of_abstaining(asked: Answered) -> dict[str, Score]:
    """Judge abstaining and answering by whether the documents have the answer."""
    abstained, answerable = (
        bool(asked.state["abstained"]),
        not (asked.closed or asked.gold.out_of_scope),
    )
    answerable_only = Unresolved("the documents answer the question")
    unanswerable_only = Unresolved("the documents do not answer the question")
    return {
        "rightly_abstained": answerable_only if answerable else float(abstained),
        "wrongly_abstained": float(abstained) if answerable else unanswerable_only,
        "abstention_accuracy": float(abstained != answerable),
    }


def _unverified(asked: Answered) -> Score:
    state = asked.state
    if state["abstained"]:
        return 0.0
    if not asked.passages and not state["citations"]:
        return Unresolved("the answer was written without passages")
    told = best_attempt(state["attempts"]).get("told", []) if state["attempts"] else []
    return float(
        len(citation_problems(state["answer"], state["citations"], asked.view.text_of, told))
    )


def _relevant(asked: Answered) -> Relevant:
    if asked.evidence is None:
        return Relevant.unknown("the variant retrieves nothing")
    if asked.closed:
        return Relevant.unknown("the evidence was taken out of the corpus")
    index = asked.evidence
    return asked.judges.known.get(("relevant", id(index)), lambda: index.relevant(asked.gold))


def ranking(state: dict[str, Any]) -> list[str]:
    """Return the ids of the passages, then of the other candidates in the order of fusion.

    Where an earlier attempt became the answer its candidates are gone, and the passages are all.
    """
    last, chosen, found, related = (
        [passage["id"] for passage in listed]
        for listed in (
            *(state["attempts"][-1]["passages"], state["passages"]),
            *(state["candidates"], state["graph_candidates"]),
        )
    )
    return list(dict.fromkeys([*chosen, *found, *related])) if last == chosen else chosen


def of_retrieval(
    relevant: Relevant, ranked: Sequence[str], passages: Sequence[Passage], k: int
) -> dict[str, Score]:
    """Return each ranking metric at k, 5 and 10, of documents at 3, and of characters.

    Args:
        relevant: The chunks, documents and spans that should have been found.
        ranked: The ids of chunks, best first, with the passages before all others.
        passages: The passages that the answer was written from.
        k: The number of passages that the plan allows.
    """
    owners = list(dict.fromkeys(name.rpartition("#")[0] for name in ranked))
    at: dict[tuple[str, int | str], dict[str, Score]] = {
        ("", "k"): _at(ranked[: len(passages)], relevant.chunks, k),
        ("document_", _DOCUMENTS): _at(owners, relevant.documents, _DOCUMENTS),
        **{("", n): _at(ranked, relevant.chunks, n, least=n) for n in _DEPTHS},
    }
    by_cutoff = {
        f"{of}{name}@{n}": score for (of, n), scores in at.items() for name, score in scores.items()
    }
    return {**by_cutoff, **of_spans(relevant, passages)}


def _at(
    ranked: Sequence[str], grades: Grades | Unresolved, k: int, least: int = 0
) -> dict[str, Score]:
    if isinstance(grades, Unresolved) or len(ranked) < least:
        short = Unresolved(f"fewer than {least} candidates")
        missing = grades if isinstance(grades, Unresolved) else short
        return dict.fromkeys(retrieval.OF_RANKING, missing)
    return retrieval.of_ranking(ranked, grades, k)


def of_spans(relevant: Relevant, passages: Sequence[Passage]) -> dict[str, Score]:
    """Return how much of the evidence the passages hold, and how much of them is evidence."""
    if isinstance(relevant.spans, Unresolved):
        return dict.fromkeys(retrieval.OF_SPANS, relevant.spans)
    evidence = [(span.document, span.start, span.end) for span in relevant.spans]
    return retrieval.of_spans([(p["document"], p["start"], p["end"]) for p in passages], evidence)


def answering() -> Callable[[Any], Iterator[Frame]]:
    """Return a function that answers a setup with ``ready`` or ``failed``, and tasks with records.

    The setup has all settings of each of the ``variants``, those of the ``judge`` or None, and the
    ``base_url``. A task has the ``case`` as JSON, the index of its ``variant``, whether the
    evidence is taken out first (``closed``) and whether the record has metrics (``measured``). The
    record does not name its variant.
    """
    cases: list[CaseRunner] = []

    def answer(asked: Any) -> Iterator[Frame]:
        if cases:
            yield {"record": cases[0].run(asked)}
            return
        try:
            cases.append(CaseRunner(asked))
        except LexloopError as error:
            yield {"failed": [type(error).__name__, error.what, error.hint]}
            raise SystemExit from error
        yield {"ready": True}

    return answer


@dataclass(frozen=True)
class _Opened:
    """A variant over one collection, ``whole`` as opened and ``asked`` with its own embedder.

    Each question is embedded separately. In a batch, the last digits of a vector depend on the
    other texts, so an answer could depend on earlier questions. And a question that was asked under
    another variant would seem fast.
    """

    whole: Collection
    asked: Collection
    context: Context
    judge: EmbeddedJudge


class CaseRunner:
    """Everything that answers and measures, in one process.

    Raises:
        LexloopError: The corpus, a model or a stored file cannot be used.
    """

    def __init__(self, setup: dict[str, Any]) -> None:
        environ = {**os.environ, "LEXLOOP_BASE_URL": setup["base_url"] or ""}
        connection = Connection.from_environment(environ)
        self._resources = Resources(connection)
        self._settings = [Settings(**variant) for variant in setup["variants"]]
        self._judges = Judges(connection, setup["judge"])
        self._known: dict[View, EvidenceIndex] = {}
        # created before the first question, because it can fail
        self._variants = [
            self._over(self._resources.collection(settings)[0], settings)
            for settings in self._settings
        ]
        self._context = self._variants[0].context
        self._graph = build_graph(lambda *_: self._context)

    def run(self, task: dict[str, Any]) -> Record:
        """Return the record of a task; a question that fails is recorded as such."""
        case = Case(**task["case"])
        try:
            return self._answered(case, task)
        except LexloopError as error:
            return unanswered(case, f"{type(error).__name__}: {error.what}")

    def _answered(self, case: Case, task: dict[str, Any]) -> Record:
        settings, opened = self._settings[task["variant"]], self._variants[task["variant"]]
        access = Filters.of(settings)
        view = opened.whole.seen_by(access)
        if task["closed"] and not case.out_of_scope:
            opened = self._over(without(view, self._evidence(view).to_take_out(case)), settings)
        opened.asked.forget()
        self._context = opened.context
        began = time.perf_counter()
        state = state_after(self._graph, case)
        seconds = time.perf_counter() - began
        tokens = self._judges.context_tokens(state["passages"])
        record = _record(case, state, seconds, tokens)
        if task["measured"]:
            evidence = None if settings.retrieval.source == "none" else self._evidence(view)
            view_of_all = opened.whole.seen_by(access)
            asked = Answered(
                case, state, self._judges, opened.judge, view_of_all, evidence, task["closed"]
            )
            record["metrics"] = {name: as_json(score) for name, score in measure(asked).items()}
            record["attempts"] = [attempt_seen(asked, attempt) for attempt in state["attempts"]]
        return record

    def _over(self, whole: Collection, settings: Settings) -> _Opened:
        embedded = whole.embedded_by(whole.embedder)
        context = self._resources.over(settings, embedded)
        return _Opened(whole, embedded, context, self._judges.over(whole, Filters.of(settings)))

    def _evidence(self, view: View) -> EvidenceIndex:
        if view not in self._known:
            self._known[view] = EvidenceIndex(view.every_chunk())
        return self._known[view]


def _record(case: Case, state: dict[str, Any], seconds: float, context_tokens: int) -> Record:
    usage = state["usage"]
    record: Record = {
        **unanswered(case, ""),
        "complexity": state["complexity"],
        "answer": state["answer"],
        "abstained": state["abstained"],
        "passed": state["evaluation"]["passed"],
        "warning": state["warning"],
        "citations": state["citations"],
        "passages": [
            {"n": p["n"], "document": p["document"], "start": p["start"], "end": p["end"]}
            for p in state["passages"]
        ],
        "degraded": state["degraded"],
        "model_calls": usage["model_calls"],
        "tokens_in": usage["tokens_in"],
        "tokens_out": usage["tokens_out"],
        "context_tokens": context_tokens,
        "seconds": seconds,
    }
    if "cost_usd" in usage:
        record["cost_usd"] = usage["cost_usd"]
    return record
