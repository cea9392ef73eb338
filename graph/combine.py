"""One answer of what several collections said, its sources numbered as one list."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

from lexloop.core.state import AgentUpdate, State
from lexloop.core.types import ABSTENTION, Citation, Evaluation, Finding, Usage
from lexloop.nodes.context import TRIAD
from lexloop.nodes.markers import numbers_in, renumbered, unmarked

T = TypeVar("T")
_LISTS = ("passages", "triplets", "candidates", "graph_candidates", "attempts", "degraded")
_UNSCORED: Evaluation = {
    "answer_relevance": None,
    "context_relevance": None,
    "groundedness": None,
    "citations_verified": True,
    "passed": False,
    "reasons": [],
}


def nothing_asked() -> AgentUpdate:
    """Return the keys of a question for which no collection was asked, but for its answer."""
    return {
        "warning": "",
        "read_as": [],
        "citations": [],
        "near": [],
        "passages": [],
        "triplets": [],
        "candidates": [],
        "graph_candidates": [],
        "attempts": [],
        "degraded": [],
        "reasoning": [],
        "queries": [],
        "keywords": [],
        "collections": [],
        "usage": {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0},
    }


def replied(reply: str) -> AgentUpdate:
    """Return the keys of a reply that needed no documents; of the abstention where it is empty."""
    said = "No document was needed." if reply else "None of the collections is about this."
    return {
        **nothing_asked(),
        "answer": reply or ABSTENTION,
        "abstained": not reply,
        "finding": "reply" if reply else "absent",
        "evaluation": {**_UNSCORED, "passed": bool(reply), "reasons": [said]},
    }


def combined(found: Mapping[str, State], parts: Mapping[str, str]) -> AgentUpdate:
    """Return one answer of what collections said.

    Args:
        found: What came of the question in each, by its name, in order.
        parts: The part of the question that was left to a collection; none where it was asked all.
    """
    many = len(found) > 1
    answering = {name: one for name, one in found.items() if not one["abstained"]}
    left = [part for name, part in parts.items() if name not in answering] if answering else []
    numbers = _numbers(answering or found)
    evaluation = _evaluation(answering or found, left, many)
    near = [] if answering else _cited(found, numbers, "near")
    finding: Finding = "near" if near else "absent"
    if answering:
        finding = "answers" if evaluation["passed"] else "in part"
    lasting = next(iter(found.values()))
    update: dict[str, Any] = {
        **{name: lasting[name] for name in ("complexity", "probabilities", "plan")},
        "answer": _written(found, numbers) if answering else ABSTENTION,
        "abstained": not answering,
        "warning": _warnings(found, left, many),
        "read_as": _once(item for one in found.values() for item in one["read_as"]),
        "citations": _cited(answering, numbers, "citations"),
        "near": near,
        "finding": finding,
        "evaluation": evaluation,
        **{key: _labelled(found, key) for key in _LISTS},
        "reasoning": [item for one in found.values() for item in one.get("reasoning", [])],
        "queries": _once(item for one in found.values() for item in one["queries"]),
        "keywords": _once(item for one in found.values() for item in one["keywords"]),
        "collections": list(found),
        "usage": total(one["usage"] for one in found.values()),
    }
    update["passages"] = [{**p, "n": n} for n, p in enumerate(update["passages"], 1)]
    return cast("AgentUpdate", update)


def total(costs: Iterable[Usage]) -> Usage:
    """Return what several runs cost together."""
    summed: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
    for cost in costs:
        summed["model_calls"] += cost["model_calls"]
        summed["tokens_in"] += cost["tokens_in"]
        summed["tokens_out"] += cost["tokens_out"]
        summed["seconds"] += cost["seconds"]
    return summed


Numbers = dict[str, dict[int, int]]


def _numbers(found: Mapping[str, State]) -> Numbers:
    """Number the sources of all collections from 1, in the order in which they are used."""
    numbers: Numbers = {}
    last = 0
    for name, one in found.items():
        cited = [c["n"] for c in (one["citations"] or one.get("near", []))]
        used = [n for n in numbers_in(one["answer"]) if n in cited]
        own = {old: last + place for place, old in enumerate(dict.fromkeys([*used, *cited]), 1)}
        numbers[name] = own
        last += len(own)
    return numbers


def _cited(found: Mapping[str, State], numbers: Numbers, key: str) -> list[Citation]:
    return [
        {**citation, "n": numbers[name][citation["n"]], "collection": name}
        for name, one in found.items()
        for citation in cast("list[Citation]", one.get(key, []))
    ]


def _written(found: Mapping[str, State], numbers: Numbers) -> str:
    """Write the answers below one another, each under the name of its collection."""
    if len(found) == 1:
        ((name, one),) = found.items()
        return renumbered(one["answer"], numbers[name])
    said = [
        f"{unmarked(name)}:\n{renumbered(one['answer'], numbers[name])}"
        if not one["abstained"]
        else f"{unmarked(name)} does not answer this."
        for name, one in found.items()
    ]
    return "\n\n".join(said)


def _evaluation(found: Mapping[str, State], left: list[str], many: bool) -> Evaluation:
    """Return the verdict on them all: the lowest of each score, passed where each passed."""
    each = {name: one["evaluation"] for name, one in found.items()}
    merged: Evaluation = {
        **_UNSCORED,
        "citations_verified": all(one["citations_verified"] for one in each.values()),
        "passed": not left and all(one["passed"] for one in each.values()),
        "reasons": [
            *(f"Not answered: {part}" for part in left),
            *(
                f"{name}: {reason}" if many else reason
                for name, one in each.items()
                for reason in one["reasons"]
            ),
        ],
    }
    for score in TRIAD:
        known = [value for one in each.values() if (value := one[score]) is not None]
        merged[score] = min(known) if len(known) == len(each) else None
    likely = [one["answers"] for one in each.values() if "answers" in one]
    if len(likely) == len(each):
        merged["answers"] = min(likely)
    return merged


def _warnings(found: Mapping[str, State], left: list[str], many: bool) -> str:
    said = [
        f"{name}: {one['warning']}" if many else one["warning"]
        for name, one in found.items()
        if one["warning"]
    ]
    return " ".join([*(f"Not answered: {part}" for part in left), *said])


def _labelled(found: Mapping[str, State], key: str) -> list[Any]:
    held = [(name, cast("list[Any]", one.get(key, []))) for name, one in found.items()]
    return [{**item, "collection": name} for name, items in held for item in items]


def _once(items: Iterable[T]) -> list[T]:
    kept: list[T] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return kept
