"""hybrid_retrieve: lexical and vector search over every query, fused into candidates."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from math import ceil

from langgraph.runtime import Runtime

from lexloop.core.running import computing
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Linear, Standardised
from lexloop.core.state import State, Update
from lexloop.core.types import (
    DEFINING,
    FOLLOWED,
    MOST_POINTED,
    POINTED,
    Candidate,
    Passage,
    Pointed,
    PointedUnit,
)
from lexloop.nodes.context import Context
from lexloop.nodes.hybrid_retrieve.fusion import Scores, SearchResults, fuse, host_score
from lexloop.nodes.hybrid_retrieve.pointed import point
from lexloop.nodes.pointing import unit_at
from lexloop.store.view import View

_DEPTH = 4
"""Hits of each signal that are fused for every candidate that goes on."""
_SUPPORT = 1 / 6
"""Recitals, notes and the like that go on for every operative candidate: ranked in one list
with them they crowd out the provisions that they explain."""
_BROADER = 2
"""The factor by which a retry that broadens raises the number of candidates."""


@computing
def hybrid_retrieve(state: State, runtime: Runtime[Context]) -> Update:
    """Write the fused candidates; none where nothing is retrieved.

    What the question points to by its number comes first, in the order of the text.
    """
    backend, settings = runtime.context.backend, runtime.context.settings
    if backend is None:
        return {"candidates": [], "pointed": None}
    parsed = state["parsed"]
    limit = max(settings.retrieval.candidates, state["plan"]["k"])
    advice = state.get("advice")
    strategy = advice["strategy"] if advice else None
    if strategy == "broaden":
        limit *= _BROADER
    found = _found(
        backend, list(dict.fromkeys([parsed["text"], *parsed["queries"]])), settings, limit
    )
    hosts: Scores = {}
    if isinstance(settings.fusion, Linear) and settings.fusion.host_boost:
        scores = settings.fusion.host_scores
        metadata = backend.metadata(set(found.documents.values()))
        hosts = {name: host_score(of, scores) for name, of in metadata.items()}
    pointed = point(parsed["pointing"], backend)
    best = _best(backend, found, fuse(found, settings.fusion, hosts), hosts, limit)
    terms = [part["term"] for part in parsed["parts"] if part["term"]]
    if strategy == "whole":
        best = _followed(backend, provisions_around(state["passages"], backend), best)
    best = _first(backend, backend.defining(terms), DEFINING, best)
    best = _first(backend, _chunks_of(pointed, best), POINTED, best)
    return {"candidates": best, "pointed": pointed}


def _found(backend: View, queries: list[str], settings: Settings, limit: int) -> SearchResults:
    """Search for each query by the signals that the fusion reads."""
    depth = limit * _DEPTH
    found = SearchResults.of(*backend.search(queries, depth))
    if not isinstance(settings.fusion, Standardised):
        return found
    late: list[Scores] = []
    for query, lexical, vector in zip(queries, found.lexical, found.vector, strict=True):
        ids = [*dict.fromkeys([*vector, *lexical])]
        close = backend.closeness(query, ids)
        if close is not None:
            late.append(dict(zip(ids, close.mean(axis=0).tolist(), strict=True)))
    return replace(found, late=late)


def _best(
    backend: View, found: SearchResults, fused: Scores, hosts: Scores, limit: int
) -> list[Candidate]:
    """Return the ``limit`` best operative chunks, then the best of those that support them.

    Of equal ones the first by id; their texts are fetched now.
    """
    # two sorts that call no Python function are the quickest; the second keeps the order of ids
    order = sorted(sorted(fused), key=fused.__getitem__, reverse=True)
    apart = [name for name in order if name in found.supporting][: ceil(limit * _SUPPORT)]
    order = [name for name in order if name not in found.supporting][:limit] + apart
    candidates: list[Candidate] = []
    for chunk in backend.chunks(order):
        signals = found.signals(chunk["id"])
        if chunk["document"] in hosts:
            signals["host"] = hosts[chunk["document"]]
        candidates.append({**chunk, "score": fused[chunk["id"]], "signals": signals})
    return candidates


def _chunks_of(pointed: Pointed, found: list[Candidate]) -> list[str]:
    """Return the ids of the chunks of what the question points to.

    Of a whole chapter, what the search finds in it says more than its beginning.
    """
    inside = [c["id"] for c in found if any(_overlaps(c, unit) for unit in pointed["units"])]
    large = len(pointed["chunks"]) >= MOST_POINTED and not pointed["only"]
    return inside[:MOST_POINTED] if large and inside else pointed["chunks"]


def _first(
    backend: View, chunk_ids: list[str], signal: str, found: list[Candidate]
) -> list[Candidate]:
    """Put the candidates that the question itself leads to before the others."""
    if not chunk_ids:
        return found
    top = max((candidate["score"] for candidate in found), default=1.0)
    known = {candidate["id"]: candidate["signals"] for candidate in found}
    first: list[Candidate] = [
        {**chunk, "score": top, "signals": {**known.get(chunk["id"], {}), signal: 1.0}}
        for chunk in backend.chunks(chunk_ids)
    ]
    return [*first, *(c for c in found if c["id"] not in set(chunk_ids))]


def _followed(backend: View, chunk_ids: list[str], found: list[Candidate]) -> list[Candidate]:
    """Put the candidates that the passages before lead to behind the others; mark all of these."""
    wanted, known = set(chunk_ids), {candidate["id"] for candidate in found}
    last = min((candidate["score"] for candidate in found), default=0.0)
    behind: list[Candidate] = [
        {**chunk, "score": last, "signals": {}}
        for chunk in backend.chunks([name for name in chunk_ids if name not in known])
    ]
    return [
        {**one, "signals": {**one["signals"], FOLLOWED: 1.0}} if one["id"] in wanted else one
        for one in (*found, *behind)
    ]


def _overlaps(candidate: Candidate, unit: PointedUnit) -> bool:
    beside = candidate["end"] <= unit["start"] or unit["end"] <= candidate["start"]
    return candidate["document"] == unit["document"] and not beside


def provisions_around(passages: Sequence[Passage], backend: View) -> list[str]:
    """Return the ids of the chunks of the provisions around passages, those of the best first."""
    units = (unit for passage in passages if (unit := _provision(passage, backend)))
    found = dict.fromkeys(name for unit in units for name in backend.chunks_over(unit))
    return list(islice(found, MOST_POINTED))


def _provision(passage: Passage, backend: View) -> PointedUnit | None:
    document = passage["document"]
    tree = backend.tree_of(document)
    place = tree.at(passage["start"]) if tree else -1
    if tree is None or place < 0:
        return None
    for above in (place, *tree.above(place)):
        if tree.units[above].kind == "provision":
            return unit_at(document, tree, above)
    return None
