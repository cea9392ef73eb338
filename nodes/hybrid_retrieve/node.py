"""hybrid_retrieve: lexical and vector search over every query, fused into candidates."""

from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import MOST_POINTED, POINTED, Candidate, Pointed, PointedUnit
from lexloop.models.dialogue import unassisted
from lexloop.nodes.hybrid_retrieve.backend import Backend
from lexloop.nodes.hybrid_retrieve.choice import fuse, reads_host, unread
from lexloop.nodes.hybrid_retrieve.found import Found, Scores
from lexloop.nodes.hybrid_retrieve.host import host_score

_DEPTH = 4
"""How many hits of each signal are fused for every candidate that goes on."""
_BROADER = 2
"""How many times the candidates a retry brings up whose advice is to search more broadly."""


@unassisted
def hybrid_retrieve(state: State, backend: Backend | None, settings: Settings) -> Update:
    """Write the fused candidates; none when the variant retrieves nothing.

    What the question points to by its number comes first, in the order of the text.

    Settings that the chosen fusion does not read are listed in ``degraded``, once a question.
    """
    if backend is None:
        return {"candidates": [], "pointed": None}
    limit = max(settings.candidates, state["plan"]["k"])
    if (advice := state.get("advice")) and advice["broaden"]:
        limit *= _BROADER
    queries = list(dict.fromkeys([state["standalone"], *state["queries"]]))
    found = Found.of(
        backend.search_lexical(queries, limit * _DEPTH),
        backend.search_vector(queries, limit * _DEPTH),
    )
    hosts = _host_scores(backend, found, settings) if reads_host(settings) else {}
    pointed = backend.pointed(state["standalone"])
    best = _best(backend, found, fuse(found, settings, hosts), hosts, limit)
    update: Update = {"candidates": _pointed_first(backend, pointed, best), "pointed": pointed}
    known = state.get("degraded", [])
    if news := [notice for notice in unread(settings) if notice not in known]:
        update["degraded"] = [*known, *news]
    return update


def _host_scores(backend: Backend, found: Found, settings: Settings) -> Scores:
    """The host score of every document found."""
    metadata = backend.metadata(set(found.documents.values()))
    return {name: host_score(known, settings.host_scores) for name, known in metadata.items()}


def _best(
    backend: Backend, found: Found, fused: Scores, hosts: Scores, limit: int
) -> list[Candidate]:
    """The ``limit`` best chunks, of equal ones the first by id; their texts are fetched now."""
    # two sorts that call no Python function are the quickest; the second keeps the order of ids
    order = sorted(sorted(fused), key=fused.__getitem__, reverse=True)[:limit]
    candidates: list[Candidate] = []
    for chunk in backend.chunks(order):
        signals = found.signals(chunk["id"])
        if chunk["document"] in hosts:
            signals["host"] = hosts[chunk["document"]]
        candidates.append({**chunk, "score": fused[chunk["id"]], "signals": signals})
    return candidates


def _pointed_first(backend: Backend, pointed: Pointed, found: list[Candidate]) -> list[Candidate]:
    """The candidates, before them those that the question points to."""
    if not pointed["chunks"]:
        return found
    top = max((candidate["score"] for candidate in found), default=1.0)
    known = {candidate["id"]: candidate["signals"] for candidate in found}
    inside = [c["id"] for c in found if any(_overlaps(c, unit) for unit in pointed["units"])]
    # of a whole chapter, what the search finds in it says more than its beginning
    large = len(pointed["chunks"]) >= MOST_POINTED and not pointed["only"]
    wanted = inside[:MOST_POINTED] if large and inside else pointed["chunks"]
    first: list[Candidate] = [
        {**chunk, "score": top, "signals": {**known.get(chunk["id"], {}), POINTED: 1.0}}
        for chunk in backend.chunks(wanted)
    ]
    return [*first, *(c for c in found if c["id"] not in set(wanted))]


def _overlaps(candidate: Candidate, unit: PointedUnit) -> bool:
    beside = candidate["end"] <= unit["start"] or unit["end"] <= candidate["start"]
    return candidate["document"] == unit["document"] and not beside
