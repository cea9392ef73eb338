import pytest
import records
from graph_source import GraphCollection, sections_of
from running import runtime, update_of

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate, Plan
from lexloop.nodes.kg_retrieve import CANDIDATES, TRIPLETS, kg_retrieve
from lexloop.nodes.question import parse

LAW = {
    0: "Terms\nIn this ordinance:\n(1) “mooring fee” means the sum due for a berth.",
    1: "Payment of dues\nA boat owner must pay the mooring fee as § 3 says.",
    2: "Nights\nA boat owner must not moor at night.",
    3: "Receipts\nThe harbour master keeps a copy. § 2 does not apply to the harbour master.",
    4: "Library\nThe library opens at nine.",
}
NOTHING = {"triplets": [], "graph_candidates": [], "handed_on": {}}


def harbour() -> GraphCollection:
    """The sections of a small ordinance and their graph."""
    return GraphCollection(sections_of(LAW))


def retrieved(
    source: GraphCollection | None,
    keywords: list[str],
    candidates: list[str],
    *,
    K: int = 4,
    S: int = 2,
) -> Update:
    plan: Plan = {"k": 5, "Q": 3, "K": K, "S": S}
    found: list[Candidate] = [records.candidate(name) for name in candidates]
    state: State = {
        "plan": plan,
        "parsed": {**parse(""), "keywords": keywords},
        "candidates": found,
    }
    return update_of(kg_retrieve, state, runtime(graph_source=source))


def ids(update: Update) -> list[str]:
    return [candidate["id"] for candidate in update["graph_candidates"]]


def test_brings_up_triplets_and_the_chunks_that_state_them() -> None:
    update = retrieved(harbour(), ["mooring fee"], [])
    first = update["triplets"][0]
    assert (first["subject"], first["predicate"]) == ("mooring fee", "defines")
    assert first["quote"].endswith("the sum due for a berth.")
    assert ids(update)[0] == "c0"
    assert "c1" in ids(update)
    assert update["handed_on"] == {}


def test_what_a_candidate_hands_on_to_and_what_limits_it_are_looked_up() -> None:
    update = retrieved(harbour(), ["zeppelin"], ["c1", "c2"], S=1)
    assert update["handed_on"] == {"c0": "c1", "c3": "c2"}
    assert "c4" not in ids(update)
    assert [t["predicate"] for t in update["triplets"]] == ["exception_to", "uses"]
    alone = retrieved(harbour(), ["zeppelin"], ["c1"], S=1)
    assert alone["handed_on"] == {"c0": "c1", "c3": "c1"}
    assert {t["predicate"] for t in alone["triplets"]} == {"refers_to", "uses"}


@pytest.mark.parametrize(("K", "S"), [(0, 2), (4, 0), (0, 0)])
def test_nothing_when_the_plan_asks_for_none(K: int, S: int) -> None:
    assert retrieved(harbour(), ["fee"], ["c0"], K=K, S=S) == NOTHING
    assert retrieved(None, ["fee"], ["c0"]) == NOTHING


def test_both_lists_are_bounded_and_without_repetitions() -> None:
    many = {n: f"Fee of boats number {n}\nWhoever owns a boat pays fee {n}, see § {(n + 7) % 60}."
            for n in range(60)}  # fmt: skip
    source = GraphCollection(sections_of(many))
    update = retrieved(source, ["boat", "fee", "number"], ["c1", "c2"], S=3)
    relations = [(t["subject"], t["predicate"], t["object"]) for t in update["triplets"]]
    assert len(relations) == len(set(relations)) == TRIPLETS
    assert len(ids(update)) == len(set(ids(update)))
    assert len({*ids(update)} - {"c1", "c2"}) == CANDIDATES  # those that were found count apart


SECRET = [
    *sections_of({0: LAW[0], 1: LAW[1]}),
    *sections_of(
        {7: "Secret mooring fees\nA boat owner pays the smuggler under § 1."}, "secret.txt"
    ),
]


@pytest.mark.parametrize("tags", [(), ("clerks",)])
def test_documents_that_the_filters_leave_out_have_no_part(tags: tuple[str, ...]) -> None:
    hidden = {"secret.txt": Metadata(tags=("inspectors",))}
    source = GraphCollection(SECRET, hidden, Filters(allowed_tags=frozenset(tags)))
    found = retrieved(source, ["mooring fee", "secret"], ["c7", "c1"], S=3)
    assert {c["document"] for c in found["graph_candidates"]} == {"harbour.txt"}
    assert {t["document"] for t in found["triplets"]} == {"harbour.txt"}
    alone = retrieved(GraphCollection(SECRET[:2]), ["mooring fee", "secret"], ["c1"], S=3)
    assert found == alone
