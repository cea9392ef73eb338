"""rerank: candidates of search and graph, in the order of a reranker -> the k passages to use."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from langgraph.runtime import Runtime

from lexloop.core.errors import ConflictError, DataError
from lexloop.core.metadata import host_score
from lexloop.core.packages import need_extra
from lexloop.core.running import computing, heed_deadline
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ByScores, ByTokens, PlanSettings
from lexloop.core.state import State, Update, advice_of
from lexloop.core.types import (
    AUTHORITY,
    BESIDE,
    DEFINING,
    FOLLOWED,
    KEPT,
    POINTED,
    QUOTED,
    Attempt,
    Candidate,
    ParsedQuestion,
    Pointed,
    PointedUnit,
    Scored,
)
from lexloop.models.embedding import without_bars
from lexloop.nodes.answering import Answering, answering
from lexloop.nodes.context import Context
from lexloop.nodes.reading import Stated, reads
from lexloop.nodes.relevance import Query, query_of, relevance
from lexloop.nodes.together import together, with_limits
from lexloop.nodes.user import FAVOUR, favoured
from lexloop.store.view import View

_SUPPORT_OF = 5
_CALLED = 0.2
"""What a candidate gains whose document the question calls by name; 0.1 and 0.4 did the same."""
_BROADER = 2
"""The factor by which a retry that broadens raises the number of passages."""
_HANDED_ON = 2
"""Passages beside the k that are there for what one of these hands on to."""
_BLANKS = 4
"""How many blanks a chunk may have behind the section that it is in."""
_CHARS_PER_TOKEN = 4
_DOCUMENTS = 8
"""The most documents of which each has a passage."""


@dataclass
class _Choice:
    """The passages of one attempt as they are chosen.

    Args:
        state: The state of the attempt.
        rule: What scores say of the number of passages, how many tokens they may have together, or
            None if the plan sets it.
        pool: The candidates in the order in which they were found.
        ranked: The same, best first.
        k: How many passages the plan or the scores allow.
        taken: The passages so far, in their order.
    """

    state: State
    rule: ByScores | int | None
    pool: list[Candidate]
    ranked: list[Candidate]
    k: int
    taken: list[Candidate] = field(default_factory=list)

    @property
    def left(self) -> list[Candidate]:
        """The candidates that are not taken, best first."""
        known = {candidate["id"] for candidate in self.taken}
        return [candidate for candidate in self.ranked if candidate["id"] not in known]

    @property
    def asks_only_for_a_provision(self) -> bool:
        """Whether the question asks what a provision says, and nothing else."""
        pointed = self.state["parsed"].get("pointed")
        return pointed is not None and pointed["only"]


@computing
def rerank(state: State, runtime: Runtime[Context]) -> Update:
    """Write the k best passages, numbered from 1.

    ``POLICIES`` are asked in their order, and each adds the passages it is for. If the settings let
    scores or tokens set k, the plan's k becomes the number taken. A model gets what limits the best
    passages, too, and a retry for it keeps the passages that it has. If the settings limit what
    comes beside the k, the last of these passages are left out.
    """
    context = runtime.context
    if (view := context.view) is None:
        return {"passages": []}
    by_model = bool(context.generator.instructions)
    found = merge(state["candidates"], state["graph_candidates"])
    if by_model and state["attempts"]:
        found = merge(found, _still_there(_kept(state["attempts"][-1]), view))
    pool = with_authority(_admitted(view.candidates(found), state), view, context.settings)
    ranked = preferred(context.reranker.rerank(state["parsed"], pool), state["parsed"]["called"])
    rule = _rule(context.settings.plan, state, by_model)
    choice = _Choice(state, rule, pool, ranked, state["plan"]["k"])
    for policy in POLICIES:
        choice.taken += policy(choice)
    taken = with_limits(choice.taken, view) if by_model else choice.taken
    if (beside := context.settings.plan.most_beside) is not None:
        taken = taken[: choice.k + beside]
    taken = together(taken) if by_model else taken
    passages = [view.as_passage(chunk, n) for n, chunk in enumerate(taken, 1)]
    update: Update = {"passages": passages}
    if rule:
        update["plan"] = {**state["plan"], "k": choice.k}
    return update


def _rule(plan: PlanSettings, state: State, by_model: bool) -> ByScores | int | None:
    """Return what sets the number of passages; see ``_Choice``.

    Each retry that searches for something else has room for as much again.
    """
    by = ByTokens() if plan.k == "auto" and by_model else plan.k
    if isinstance(by, ByTokens):
        advice = [attempt["advice"] for attempt in state["attempts"] if "advice" in attempt]
        wider = sum(
            bool(one["queries"] or one.get("opened")) or one["strategy"] == "broaden"
            for one in advice
        )
        return budget_of(by.budgets, state["complexity"], plan.count) * (1 + wider)
    return by if isinstance(by, ByScores) else None


def budget_of(budgets: Sequence[int], complexity: int, classes: int) -> int:
    """Return the tokens of a class: of two the last two budgets, of more than three those between.

    Args:
        budgets: Those of three classes, simplest first.
        complexity: The class, from 0.
        classes: Their number.
    """
    if classes <= len(budgets):
        return budgets[complexity - classes]
    place = complexity * (len(budgets) - 1) / (classes - 1)
    return round(float(np.interp(place, range(len(budgets)), budgets)))


def _kept(last: Attempt) -> list[Scored]:
    """Return what the next attempt keeps: the passages of the last one, and what was opened since.

    What was opened has the score of the best of these.
    """
    found = {one["id"]: one["score"] for one in last["passages"] if QUOTED not in one["signals"]}
    best = max(found.values(), default=1.0)
    advice = last.get("advice")
    opened = [one["id"] for one in advice.get("opened", [])] if advice else []
    return [
        {"id": name, "score": score, "signals": {KEPT: 1.0}}
        for name, score in {**dict.fromkeys(opened, best), **found}.items()
    ]


def _still_there(kept: list[Scored], view: View) -> list[Scored]:
    """Return what is kept, or nothing if a caller's retriever found other documents since."""
    try:
        view.candidates(kept)
    except ConflictError:
        return []
    return kept


def with_authority(pool: list[Candidate], view: View, settings: Settings) -> list[Candidate]:
    """Return candidates, those of weightier sources than the least with what that adds to them.

    So it is with the documents that the context of the user favours.
    """
    metadata = view.metadata({one["document"] for one in pool})
    hosts = {name: host_score(of, settings.retrieval.host_scores) for name, of in metadata.items()}
    least = min(hosts.values(), default=0.0)
    added = {name: settings.authority * (host - least) for name, host in hosts.items()}
    for name in favoured(metadata, settings.user):
        added[name] += FAVOUR
    return [
        {**one, "signals": {**one["signals"], AUTHORITY: more}}
        if (more := added.get(one["document"]))
        else one
        for one in pool
    ]


def _admitted(pool: list[Candidate], state: State) -> list[Candidate]:
    """Return the candidates that the question and the retry's strategy leave in the running."""
    if inside := state["parsed"]["documents"]:
        pool = [candidate for candidate in pool if candidate["document"] in inside]
    if _strategy(state) == "operative":
        pool = [candidate for candidate in pool if not candidate.get("supporting")]
    return _of_what_is_named(pool, state["parsed"].get("pointed"))


def _strategy(state: State) -> str | None:
    advice = advice_of(state)
    return advice["strategy"] if advice else None


def _pointed_to(choice: _Choice) -> list[Candidate]:
    """All that the question points to, in the order of the text."""
    scored = {candidate["id"]: candidate for candidate in choice.ranked}
    return [scored[c["id"]] for c in choice.pool if POINTED in c["signals"]]


def _defining(choice: _Choice) -> list[Candidate]:
    """What defines a term whose meaning is asked, best first, up to k passages in all."""
    defining = [candidate for candidate in choice.left if DEFINING in candidate["signals"]]
    return defining[: max(0, choice.k - len(choice.taken))]


def _kept_before(choice: _Choice) -> list[Candidate]:
    """What the attempt before was written from, best first."""
    return [candidate for candidate in choice.left if KEPT in candidate["signals"]]


def _best(choice: _Choice) -> list[Candidate]:
    """The best, up to k passages in all; a retry that broadens takes twice as many."""
    left, times = choice.left, _BROADER if _strategy(choice.state) == "broaden" else 1
    if isinstance(choice.rule, ByScores):
        scores = [candidate["score"] for candidate in left]
        choice.k = adaptive_k(scores, choice.rule.min_share, choice.rule.most) or len(choice.taken)
    elif choice.rule:
        choice.k = within_tokens([*choice.taken, *left], choice.rule)
        times = 1
    return operative_first(left, max(0, choice.k * times - len(choice.taken)))


def within_tokens(candidates: Sequence[Candidate], budget: float) -> int:
    """Return how many of the first candidates have so many tokens together; one at least."""
    lengths = accumulate(len(candidate["text"]) / _CHARS_PER_TOKEN for candidate in candidates)
    return max(1, sum(length <= budget for length in lengths))


def _followed(choice: _Choice) -> list[Candidate]:
    """All that a retry goes on to from the passages before."""
    return [candidate for candidate in choice.left if FOLLOWED in candidate["signals"]]


def _handed_on(choice: _Choice) -> list[Candidate]:
    """The two that the passages hand on to most."""
    if choice.asks_only_for_a_provision:
        return []
    by = {one["id"]: one["by"] for one in choice.state["graph_candidates"] if "by" in one}
    return handed_on(choice.taken, choice.ranked, by)


def _related(choice: _Choice) -> list[Candidate]:
    """The best one that relations lead to."""
    if choice.asks_only_for_a_provision:
        return []
    return beside(first_related(choice.taken, choice.ranked))


def _of_each(choice: _Choice) -> list[Candidate]:
    """One of each document, if there are at most eight and the question names none of them."""
    named = any({POINTED, DEFINING} & candidate["signals"].keys() for candidate in choice.taken)
    if named or choice.state["parsed"]["called"]:
        return []
    return beside(of_each_document(choice.taken, choice.ranked))


POLICIES: tuple[Callable[[_Choice], list[Candidate]], ...] = (
    _pointed_to,
    _kept_before,
    _defining,
    _best,
    _followed,
    _handed_on,
    _related,
    _of_each,
)
"""What chooses the passages, in this order."""


def _of_what_is_named(pool: list[Candidate], pointed: Pointed | None) -> list[Candidate]:
    """Return candidates without those of sections about others than the question names."""
    others = pointed.get("others", []) if pointed else []
    return [one for one in pool if not any(_lies_in(one, unit) for unit in others)] or pool


def _lies_in(candidate: Candidate, unit: PointedUnit) -> bool:
    inside = unit["start"] <= candidate["start"] and candidate["end"] <= unit["end"] + _BLANKS
    return inside and candidate["document"] == unit["document"]


def preferred(ranked: list[Candidate], called: Collection[str]) -> list[Candidate]:
    """Return candidates, those of documents that a question calls by name somewhat before others.

    They are not alone: a law's name stands in the rules made for it, and is asked for with them.
    """
    if not called:
        return ranked
    moved: list[Candidate] = [
        {**one, "score": one["score"] + _CALLED} if one["document"] in called else one
        for one in ranked
    ]
    return sorted(moved, key=lambda one: -one["score"])


def operative_first(ranked: list[Candidate], k: int) -> list[Candidate]:
    """Return the k best, up to one in five of them no operative text, behind all others.

    If there are too few operative candidates, more of the others fill up.
    """
    operative = [candidate for candidate in ranked if not candidate.get("supporting")]
    beside = [candidate for candidate in ranked if candidate.get("supporting")]
    room = max(k // _SUPPORT_OF, k - len(operative))
    bar = operative[k - 1]["score"] if 0 < k <= len(operative) else -math.inf
    taken = [candidate for candidate in beside[:room] if candidate["score"] > bar]
    return [*operative[: k - len(taken)], *taken]


def handed_on(
    taken: list[Candidate], ranked: list[Candidate], by: Mapping[str, str]
) -> list[Candidate]:
    """Return the candidates that those taken hand on to most, with which they are to be read."""
    known = {candidate["id"] for candidate in taken}
    found = [c for c in ranked if c["id"] not in known and by.get(c["id"]) in known]
    return sorted(found, key=lambda c: -c["signals"]["graph"])[:_HANDED_ON]


def beside(found: Iterable[Candidate]) -> list[Candidate]:
    """Return candidates, told apart from those that are among the best."""
    return [{**one, "signals": {**one["signals"], BESIDE: 1.0}} for one in found]


def first_related(taken: list[Candidate], ranked: list[Candidate]) -> list[Candidate]:
    """Return the best candidate that relations lead to, if it is not among those taken."""
    known = {candidate["id"] for candidate in taken}
    left = (c for c in ranked if c["id"] not in known and c["signals"].get("graph", 0.0) > 0)
    return [*islice(left, 1)]


def of_each_document(taken: list[Candidate], ranked: list[Candidate]) -> list[Candidate]:
    """Return the best candidate of each document of a few that has none among those taken.

    Of several contracts each may answer in its own words, and one has the nearest five passages.
    """
    best = {candidate["document"]: candidate for candidate in reversed(ranked)}
    if len(best) > _DOCUMENTS:
        return []
    held = {candidate["document"] for candidate in taken}
    return [candidate for name, candidate in reversed(best.items()) if name not in held]


def merge(found: Sequence[Scored], related: Sequence[Scored]) -> list[Scored]:
    """Search results, then what only the graph brought; signals of both are kept."""
    merged = {candidate["id"]: candidate for candidate in found}
    for candidate in related:
        known = merged.get(candidate["id"], candidate)
        signals = {**known["signals"], **candidate["signals"]}
        merged[candidate["id"]] = {**known, "signals": signals}
    return list(merged.values())


TEMPERATURE = 0.08
"""The share of the best score by which a candidate falls behind to weigh a factor of e less;
other values were worth no more (benchmarks/README.md)."""


def adaptive_k(
    scores: Sequence[float], least_share: float, most: int, temperature: float = TEMPERATURE
) -> int:
    """Return the number of leading candidates with enough of the ranking's weight; 0 of none.

    A candidate weighs exp((score - best) / (temperature x best)), and its share is its part of all
    weights: about its chance to be the one that answers. One that stands out leaves the others
    little, so that few are taken; the less the scores tell them apart, the more are taken, until
    there are so many that each of them alone would add little to what is found. Multiplying all
    scores by a number changes nothing, so the rule fits any reranker or fusion.

    Args:
        scores: In the order in which candidates are taken, the best one first.
        least_share: A candidate with less ends the list; in (0, 1].
        most: The most that are taken; one at least is.
        temperature: Above 0; the higher, the less a lead counts.
    """
    if not scores:
        return 0
    best = max(scores)
    scale = temperature * abs(best) or 1.0
    weights = [math.exp((score - best) / scale) for score in scores]
    least = least_share * math.fsum(weights)
    taken = next((n for n, weight in enumerate(weights) if weight < least), len(weights))
    return min(max(taken, 1), most)


READ = 0.2
"""What a log-odd of the reader counts beside all other weights."""
FUSED, GRAPH, TOKENS, EXPLAINED = 0.6, 0.05, 8.0, 0.6
"""Weights of the search's order, of the graph's score, of the tokens and of what a recital or note
near the question explains, beside the best statement. With a tenth
of it the statement overrules the search, which costs a tenth of recall@3 on short provisions.
Cosines of tokens lie close together: what tells candidates apart is a tenth between the best and
the worst of them."""
_AT_ONCE = 4
_SEARCHED = {"lexical", "dense"}


class FeatureReranker:
    """A reranker by cosine, coverage and definitions of the statements, and by MaxSim."""

    def __init__(self, sources: View) -> None:
        self._sources = sources

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates by the best of their statements for any part of the question.

        Those in which none may answer, such as those that only repeat the question, come last.
        """
        if not candidates:
            return []
        asked = query_of(question, self._sources)
        found = asked.closeness([candidate["id"] for candidate in candidates], self._sources)
        fused, close = (
            _fused(candidates),
            [0.0] * len(candidates) if found is None else found.tolist(),
        )
        said: list[list[Answering]] = []
        for candidate in candidates:
            heed_deadline("while passages were reranked")
            said.append(answering(asked, candidate, self._sources))
        best, explained = self._best_said(asked, said), _explained(candidates, said, close)
        graph = [candidate["signals"].get("graph", 0.0) for candidate in candidates]
        scores = [
            one.relevance
            + FUSED * fused[candidate["id"]]
            + GRAPH * related
            + TOKENS * (nearer + candidate["signals"].get(AUTHORITY, 0.0))
            + EXPLAINED * toward
            for candidate, one, related, nearer, toward in zip(
                candidates, best, graph, close, explained, strict=True
            )
        ]
        scores = self._read(asked, candidates, best, scores)
        ranked: list[Candidate] = [
            {**one, "score": score, "signals": {**one["signals"], "rerank": score}}
            for one, score in zip(candidates, scores, strict=True)
        ]
        silent = {c["id"] for c, one in zip(candidates, best, strict=True) if one.said is None}
        return sorted(ranked, key=lambda c: (c["id"] in silent, -c["score"], c["id"]))

    def _read(
        self,
        asked: Query,
        candidates: Sequence[Candidate],
        best: Sequence["_Best"],
        scores: Sequence[float],
    ) -> list[float]:
        """Return the scores with what the reader makes of the best statements.

        What only explains the law is not read if there is operative text: it speaks as people
        ask, and would stand before what answers them.
        """
        total = np.array(scores, dtype=np.float32)
        places = [i for i, one in enumerate(best) if one.said is not None]
        operative = [i for i in places if not candidates[i].get("supporting")]
        if places := operative or places:
            stated = [_stated(candidates[i], best[i]) for i in places]
            read = READ * reads(asked.read(), stated, total[places], self._sources).order
            total += read.min()
            total[places] += read - read.min()
        found: list[float] = total.tolist()
        return found

    def _best_said(self, asked: Query, said: Sequence[list[Answering]]) -> "list[_Best]":
        """Return the best statement of each candidate, or none if none may answer."""
        every = [one for found in said for one in found]
        if not every:
            return [_Best(None, 0.0)] * len(said)
        vectors = np.stack([one.vector for one in every])
        scores = relevance(asked, [one.scored for one in every], vectors, self._sources).max(axis=0)
        best: list[_Best] = []
        for first, end in pairwise(accumulate(map(len, said), initial=0)):
            top = first + int(scores[first:end].argmax()) if end > first else -1
            best.append(_Best(every[top], float(scores[top])) if end > first else _Best(None, 0.0))
        return best


def _stated(candidate: Candidate, best: "_Best") -> Stated:
    if best.said is None:
        raise ValueError("the candidate has no statement that may answer")
    return Stated(candidate["document"], best.said.statement, best.said.scored.text)


class _Best(NamedTuple):
    """The statement of a candidate that suits a question best, and its relevance."""

    said: Answering | None
    relevance: float


def _explained(
    candidates: list[Candidate], said: Sequence[list[Answering]], close: Sequence[float]
) -> list[float]:
    """Return how near each operative candidate is to what explains the law nearest to a question.

    Recitals and notes speak as people ask, of one provision or another: the cosine with the nearest
    of them, less the mean of all. 0 for what is no operative text, and if nothing explains.
    """
    means = {
        candidate["id"]: np.mean([one.vector for one in found], axis=0)
        for candidate, found in zip(candidates, said, strict=True)
        if found
    }
    middles = {name: mean / max(float(np.linalg.norm(mean)), 1e-9) for name, mean in means.items()}
    support = [
        (nearer, one["id"])
        for one, nearer in zip(candidates, close, strict=True)
        if one.get("supporting") and one["id"] in middles
    ]
    operative = [
        one["id"] for one in candidates if not one.get("supporting") and one["id"] in middles
    ]
    if not support or not operative or not any(close):
        return [0.0] * len(candidates)
    nearest = middles[max(support)[1]]
    cosines = {name: float(middles[name] @ nearest) for name in operative}
    mean = math.fsum(cosines.values()) / len(cosines)
    return [cosines.get(one["id"], mean) - mean for one in candidates]


def _fused(candidates: list[Candidate]) -> dict[str, float]:
    """Return the search's scores as shares of the best one.

    What the graph alone brought up has a walk's score, which is of another scale: it stands with
    the last that the search found.
    """
    found = {c["id"]: c["score"] for c in candidates if _SEARCHED & c["signals"].keys()}
    top = max(map(abs, found.values()), default=0.0) or 1.0
    last = min(found.values(), default=0.0)
    return {c["id"]: found.get(c["id"], last) / top for c in candidates}


class NoReranker:
    """No reranker: the order of fusion, then the candidates that only the graph brought."""

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates as they came."""
        return candidates


class CrossEncoderReranker:
    """A reranker by a sentence-transformers cross-encoder over question and chunk.

    It is BAAI/bge-reranker-large in HyPA-RAG section 8.4.

    Args:
        name: A local folder or a hub id.

    Raises:
        InputError: The extra ``torch`` is not installed.
        DataError: The model cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        need_extra(f"The reranker {name!r}", "torch", "sentence_transformers")
        from safetensors import SafetensorError
        from sentence_transformers import CrossEncoder

        try:
            with without_bars():
                self._model: Any = CrossEncoder(name, model_kwargs={"use_safetensors": True})
        except (OSError, ValueError, SafetensorError) as error:
            raise DataError(
                f"The reranker {name!r} cannot be loaded: {error}.",
                "Name a local folder or a hub id that this machine can reach, "
                "or set reranker='embedded'.",
            ) from error

    def rerank(self, question: ParsedQuestion, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates by the model's score, best first."""
        asked = question["inside"]
        pairs = [(asked, candidate["text"]) for candidate in candidates]
        scores: list[float] = []
        for start in range(0, len(pairs), _AT_ONCE):
            heed_deadline("while passages were reranked")
            part = pairs[start : start + _AT_ONCE]
            scores += self._model.predict(part, show_progress_bar=False).tolist()
        authority = [candidate["signals"].get(AUTHORITY, 0.0) for candidate in candidates]
        scores = [score + more for score, more in zip(scores, authority, strict=True)]
        ranked: list[Candidate] = [
            {**c, "score": s, "signals": {**c["signals"], "rerank": s}}
            for c, s in zip(candidates, scores, strict=True)
        ]
        return sorted(ranked, key=lambda candidate: (-candidate["score"], candidate["id"]))
