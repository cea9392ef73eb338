"""hybrid_retrieve: lexical and vector search over every query, fused into candidates."""

from math import ceil

from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate
from lexloop.models.dialogue import unassisted
from lexloop.nodes.hybrid_retrieve.backend import Backend
from lexloop.nodes.hybrid_retrieve.choice import fuse, reads_host, unread
from lexloop.nodes.hybrid_retrieve.found import Found, Scores
from lexloop.nodes.hybrid_retrieve.host import host_score

_DEPTH = 4
"""How many hits of each signal are fused for every candidate that goes on."""
_SUPPORT = 1 / 6
"""How many recitals, notes and the like go on for every operative candidate: ranked in one list
with them they crowd out the provisions that they explain."""
_BROADER = 2
"""How many times the candidates a retry brings up whose advice is to search more broadly."""


@unassisted
def hybrid_retrieve(state: State, backend: Backend | None, settings: Settings) -> Update:
    """Write the fused candidates; none when the variant retrieves nothing.

    Settings that the chosen fusion does not read are listed in ``degraded``, once a question.
    """
    if backend is None:
        return {"candidates": []}
    limit = max(settings.candidates, state["plan"]["k"])
    if (advice := state.get("advice")) and advice["broaden"]:
        limit *= _BROADER
    queries = list(dict.fromkeys([state["standalone"], *state["queries"]]))
    found = Found.of(
        backend.search_lexical(queries, limit * _DEPTH),
        backend.search_vector(queries, limit * _DEPTH),
    )
    hosts = _host_scores(backend, found, settings) if reads_host(settings) else {}
    update: Update = {
        "candidates": _best(backend, found, fuse(found, settings, hosts), hosts, limit)
    }
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
    """The ``limit`` best operative chunks, then the best of those that support them.

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
