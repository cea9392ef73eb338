"""hybrid_retrieve: lexical and vector search over every query, fused into candidates."""

from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.models.dialogue import unassisted
from lexloop.nodes.hybrid_retrieve.backend import Backend
from lexloop.nodes.hybrid_retrieve.fusion import best_of, candidates, linear, reciprocal_rank

_DEPTH = 4
_BROADER = 2
"""How many times the candidates a retry brings up whose advice is to search more broadly."""
SUB_QUERY_WEIGHT = 0.9
"""A sub-query's best chunk counts a little less than the whole question's."""


@unassisted
def hybrid_retrieve(state: State, backend: Backend | None, settings: Settings) -> Update:
    """Write the fused candidates; none when the variant retrieves nothing."""
    if backend is None:
        return {"candidates": []}
    limit = max(settings.candidates, state["plan"]["k"])
    if (advice := state.get("advice")) and advice["broaden"]:
        limit *= _BROADER
    queries = [state["standalone"], *state["queries"]]
    queries = list(dict.fromkeys(queries))
    lexical = backend.search_lexical(queries, limit * _DEPTH)
    vector = backend.search_vector(queries, limit * _DEPTH)
    if settings.fusion == "rrf":
        fused = reciprocal_rank([*lexical, *vector], settings.rrf_k)
    else:
        weights = [1.0] + [SUB_QUERY_WEIGHT] * (len(queries) - 1)
        pairs = zip(lexical, vector, strict=True)
        fused = best_of((linear(a, b, settings.bm25_boost) for a, b in pairs), weights)
    return {"candidates": candidates(fused, lexical, vector, limit)}
