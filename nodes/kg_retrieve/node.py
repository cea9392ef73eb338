"""kg_retrieve: triplets near the question's keywords, and the passages that state them."""

from langgraph.runtime import Runtime

from lexloop.core.state import State, Update
from lexloop.nodes.context import Context
from lexloop.nodes.kg_retrieve.walk import candidates_of, related, triplets_of


def kg_retrieve(state: State, runtime: Runtime[Context]) -> Update:
    """Write the triplets and the candidates that the graph brings up.

    The walk starts at the entities of the first K keywords and of the best candidates, and takes
    paths of up to S triplets (HyPA-RAG tables 6 and 7); from the provisions of the best candidates
    it looks up, S steps far, what they refer to, their exceptions and sanctions, and the
    definitions of their terms. With K or S of 0, or without a graph, it brings up nothing.
    """
    source, plan = runtime.context.graph_source, state["plan"]
    if source is None or plan["K"] < 1 or plan["S"] < 1:
        return {"triplets": [], "graph_candidates": []}
    keywords = state["keywords"][: plan["K"]]
    top = [candidate["id"] for candidate in state["candidates"][: plan["k"]]]
    relations, statements = related(source.graph(), keywords, top, plan["S"])
    known = [candidate["id"] for candidate in state["candidates"]]
    return {
        "triplets": triplets_of(relations),
        "graph_candidates": candidates_of(statements, known, source.chunks),
    }
