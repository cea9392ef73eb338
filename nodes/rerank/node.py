"""rerank: candidates of search and graph -> the k passages that the answer may use."""

import math
from collections.abc import Sequence

from langgraph.runtime import Runtime

from lexloop.core.running import computing
from lexloop.core.settings_groups import ByScores
from lexloop.core.state import State, Update
from lexloop.core.types import DEFINING, FOLLOWED, POINTED, Candidate, ParsedQuestion
from lexloop.nodes.context import Context, Reranker
from lexloop.nodes.pointing import documents_called

_SUPPORT_OF = 5
_TOPICAL = 0.5
"""The weight of a follow-up read by its topic's words beside its standalone form."""
_MOST = 10
"""The fewest leading candidates that are told from copies of each other."""
_BROADER = 2
"""The factor by which a retry that broadens raises the number of passages."""


@computing
def rerank(state: State, runtime: Runtime[Context]) -> Update:
    """Write the k best passages, numbered from 1; near-copies of a better one come last.

    Those that the question points to are all taken and come first, in the order of the text; then
    those that define a term whose meaning it asks, best first. Those that a retry goes to from the
    passages before are all taken as well; one that broadens takes twice as many. Where the settings
    let the scores set k, the plan's k becomes the number taken.
    """
    reranker, settings = runtime.context.reranker, runtime.context.settings
    advice = state.get("advice")
    strategy = advice["strategy"] if advice else None
    pool = merge(state["candidates"], state.get("graph_candidates", []))
    pool = _of_called(state["parsed"], pool)
    if strategy == "operative":
        pool = [one for one in pool if not one.get("supporting")]
    scored = {c["id"]: c for c in _reranked(state["parsed"], reranker, pool)}
    pointed = [scored.pop(c["id"]) for c in pool if POINTED in c["signals"]]
    defining = [c for c in scored.values() if DEFINING in c["signals"]]
    pointed += [scored.pop(c["id"]) for c in defining[: max(0, state["plan"]["k"] - len(pointed))]]
    update: Update = {}
    k, by_scores = state["plan"]["k"], settings.plan.k
    most = max(k, by_scores.most if isinstance(by_scores, ByScores) else _MOST) * _BROADER
    ranked = copies_last(list(scored.values()), most)
    if isinstance(by_scores, ByScores):
        scores = [candidate["score"] for candidate in ranked]
        k = adaptive_k(scores, by_scores.min_share, by_scores.most) or len(pointed)
        update["plan"] = {**state["plan"], "k": k}
    k *= _BROADER if strategy == "broaden" else 1
    taken = [*pointed, *operative_first(ranked, max(0, k - len(pointed)))]
    known = {candidate["id"] for candidate in taken}
    taken += [c for c in ranked if FOLLOWED in c["signals"] and c["id"] not in known]
    update["passages"] = [{**chunk, "n": n} for n, chunk in enumerate(taken, 1)]
    return update


def _of_called(question: ParsedQuestion, pool: list[Candidate]) -> list[Candidate]:
    """Return the candidates of the documents that a question calls by name, else all."""
    found: dict[str, tuple[str, str]] = {}
    for one in pool:
        _, before = found.get(one["document"], ("", ""))
        found[one["document"]] = one["title"], f"{before} {one['text']}"
    called = documents_called(question, found)
    return [one for one in pool if not called or one["document"] in called]


def _reranked(
    question: ParsedQuestion, reranker: Reranker, pool: list[Candidate]
) -> list[Candidate]:
    """Return the candidates, best first; a follow-up's also by the words of its topic."""
    ranked = reranker.rerank(question, pool)
    if (topical := question["topical"]) is None:
        return ranked
    beside = {c["id"]: c["score"] for c in reranker.rerank(topical, pool)}
    both: list[Candidate] = [
        {**c, "score": c["score"] + _TOPICAL * beside[c["id"]]} for c in ranked
    ]
    return sorted(both, key=lambda c: (-c["score"], c["id"]))


def operative_first(ranked: list[Candidate], k: int) -> list[Candidate]:
    """Return the k best, up to one in five of them no operative text, behind all others.

    Where there are too few operative candidates, more of the others fill up.
    """
    operative = [candidate for candidate in ranked if not candidate.get("supporting")]
    beside = [candidate for candidate in ranked if candidate.get("supporting")]
    room = max(k // _SUPPORT_OF, k - len(operative))
    bar = operative[k - 1]["score"] if 0 < k <= len(operative) else -math.inf
    taken = [candidate for candidate in beside[:room] if candidate["score"] > bar]
    return [*operative[: k - len(taken)], *taken]


def merge(found: list[Candidate], related: list[Candidate]) -> list[Candidate]:
    """Search results, then what only the graph brought; signals of both are kept."""
    merged = {candidate["id"]: candidate for candidate in found}
    for candidate in related:
        known = merged.get(candidate["id"], candidate)
        signals = {**known["signals"], **candidate["signals"]}
        merged[candidate["id"]] = {**known, "signals": signals}
    return list(merged.values())


def copies_last(candidates: list[Candidate], enough: int) -> list[Candidate]:
    """Move a candidate whose words a better one nearly all holds behind the others.

    Those after the first ``enough`` operative ones that are no copies stay as they are.
    """
    kept: list[Candidate] = []
    copies: list[Candidate] = []
    seen: list[set[str]] = []
    for place, candidate in enumerate(candidates):
        if not enough:
            kept += candidates[place:]
            break
        words = set(candidate["text"].lower().split())
        least = 0.85 * len(words)
        copy = any(len(other) >= least and len(words & other) >= least for other in seen)
        (copies if copy else kept).append(candidate)
        if not copy:
            seen.append(words)
            enough -= not candidate.get("supporting")
    return kept + copies


TEMPERATURE = 0.08
"""The share of the best score by which a candidate falls behind to weigh a factor of e less;
benchmarks/adapting.py shows what other values are worth."""


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
