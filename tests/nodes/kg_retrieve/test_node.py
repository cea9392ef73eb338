import pytest

from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Chunk, Plan, Triplet
from lexloop.corpus.knowledge.graph import KnowledgeGraph
from lexloop.corpus.triplets.rules import extract_triplets
from lexloop.nodes.kg_retrieve.node import GraphSource, kg_retrieve
from lexloop.nodes.kg_retrieve.walk import CANDIDATES, TRIPLETS

TEXTS = [
    'The term "mooring fee" means the sum due for a berth.',
    "A boat owner must pay the mooring fee within 10 days of arrival.",
    "A boat owner must not moor at night unless the harbour master agrees.",
    "The harbour master may waive the mooring fee.",
    "The library opens at nine.",
]


def chunk(number: int, text: str) -> Chunk:
    return {
        "id": f"c{number}",
        "document": "harbour.txt",
        "title": "Harbour",
        "section": f"§ {number}",
        "page": None,
        "start": 100 * number,
        "end": 100 * number + len(text),
        "text": text,
    }


class Harbour:
    """The chunks of a small ordinance and their graph."""

    def __init__(self, texts: list[str]) -> None:
        self._chunks = {f"c{n}": chunk(n, text) for n, text in enumerate(texts)}
        triplets: list[Triplet] = []
        for piece in self._chunks.values():
            triplets += extract_triplets(piece)
        self.graph = KnowledgeGraph.from_triplets(triplets)

    def chunk(self, chunk_id: str) -> Chunk:
        return self._chunks[chunk_id]


def retrieved(
    source: GraphSource | None,
    keywords: list[str],
    candidates: list[str],
    *,
    K: int = 4,
    S: int = 2,
) -> Update:
    plan: Plan = {"k": 5, "Q": 3, "K": K, "S": S}
    found: list[Candidate] = [
        {**chunk(int(name[1:]), "x"), "score": 1.0, "signals": {}} for name in candidates
    ]
    state: State = {"plan": plan, "keywords": keywords, "candidates": found}
    with pytest.raises(StopIteration) as done:
        next(kg_retrieve(state, source))
    update: Update = done.value.value
    return update


def test_brings_up_triplets_and_the_chunks_that_state_them() -> None:
    update = retrieved(Harbour(TEXTS), ["mooring fee"], [])
    first = update["triplets"][0]
    assert (first["subject"], first["predicate"]) == ("mooring fee", "means")
    assert first["quote"] == TEXTS[0]
    best = update["graph_candidates"][0]
    assert (best["id"], best["text"]) == ("c0", TEXTS[0])
    assert {c["id"] for c in update["graph_candidates"]} == {"c0", "c1", "c2", "c3"}


def test_scores_are_shares_best_first_and_one_signal() -> None:
    found = retrieved(Harbour(TEXTS), ["owner", "fee"], ["c3"])["graph_candidates"]
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert all(candidate["signals"] == {"graph": candidate["score"]} for candidate in found)


def test_walks_from_the_candidates_where_no_keyword_is_known() -> None:
    update = retrieved(Harbour(TEXTS), ["zeppelin"], ["c3"], S=1)
    assert "c3" in {candidate["id"] for candidate in update["graph_candidates"]}


def test_only_the_first_K_keywords_count() -> None:
    source = Harbour(TEXTS)
    assert retrieved(source, ["zeppelin", "fee"], [], K=1) == {
        "triplets": [],
        "graph_candidates": [],
    }
    assert retrieved(source, ["zeppelin", "fee"], [], K=2)["triplets"]


def test_a_longer_path_reaches_further() -> None:
    source = Harbour(TEXTS)
    near = {c["id"] for c in retrieved(source, ["berth"], [], S=1)["graph_candidates"]}
    far = {c["id"] for c in retrieved(source, ["berth"], [], S=2)["graph_candidates"]}
    assert near == {"c0"}
    assert near < far


@pytest.mark.parametrize(("K", "S"), [(0, 2), (4, 0), (0, 0)])
def test_nothing_when_the_plan_asks_for_none(K: int, S: int) -> None:
    nothing = {"triplets": [], "graph_candidates": []}
    assert retrieved(Harbour(TEXTS), ["fee"], ["c0"], K=K, S=S) == nothing
    assert retrieved(None, ["fee"], ["c0"]) == nothing


def test_nothing_in_an_empty_graph_or_for_no_keywords() -> None:
    nothing = {"triplets": [], "graph_candidates": []}
    assert retrieved(Harbour([]), ["fee"], ["c0"]) == nothing
    assert retrieved(Harbour(TEXTS), [], []) == nothing


def test_both_lists_are_bounded_and_without_repetitions() -> None:
    many = [f"A boat owner must pay fee number {n} to the office." for n in range(60)]
    update = retrieved(Harbour(many), ["boat owner", "fee", "office"], ["c1", "c2"], S=3)
    relations = [(t["subject"], t["predicate"], t["object"]) for t in update["triplets"]]
    assert len(relations) == len(set(relations)) == TRIPLETS
    ids = [candidate["id"] for candidate in update["graph_candidates"]]
    assert len(ids) == len(set(ids)) == CANDIDATES
