from hypothesis import given
from hypothesis import strategies as st
from relations import DOCUMENTS, NAMES, RELATIONS, relation
from triplet_list import graph_of

from lexloop.core.types import Triplet
from lexloop.knowledge.relations import entity_key

SEEDS = st.dictionaries(NAMES.map(entity_key), st.floats(0.05, 1.0), max_size=4)
KEYWORDS = st.lists(NAMES | st.just("landing stages"), max_size=3)
ADMITTED = st.sets(st.sampled_from(DOCUMENTS))


@given(RELATIONS, ADMITTED, SEEDS, KEYWORDS)
def test_a_view_is_the_graph_of_the_admitted_triplets_alone(
    triplets: list[Triplet], admitted: set[str], seeds: dict[str, float], keywords: list[str]
) -> None:
    view = graph_of(triplets).view(admitted.__contains__)
    alone = graph_of(t for t in triplets if t["document"] in admitted)
    assert len(view) == len(alone)
    assert view.entities == alone.entities
    assert view.match(keywords, 9) == alone.match(keywords, 9)
    assert view.walk(seeds, 3, 30) == alone.walk(seeds, 3, 30)
    assert view.look_up(["c2", "c1"], seeds, 2, 9) == alone.look_up(["c2", "c1"], seeds, 2, 9)
    assert view.written(view.entities) == alone.written(view.entities)
    for name in view.entities:
        assert view.neighbourhood(name, 2, 9) == alone.neighbourhood(name, 2, 9)


@given(RELATIONS, ADMITTED, ADMITTED, SEEDS)
def test_a_view_of_a_view_admits_what_both_do(
    triplets: list[Triplet], one: set[str], other: set[str], seeds: dict[str, float]
) -> None:
    graph = graph_of(triplets)
    twice = graph.view(one.__contains__).view(other.__contains__)
    once = graph.view((one & other).__contains__)
    assert twice.entities == once.entities
    assert twice.walk(seeds, 2, 20) == once.walk(seeds, 2, 20)


def test_sections_of_hidden_documents_are_no_namesakes() -> None:
    graph = graph_of(
        [
            relation("fee", "defines", "sum", section="§ 1", document="a.txt"),
            relation("toll", "defines", "due", section="§ 1", document="b.txt"),
        ]
    )
    view = graph.view("a.txt".__eq__)
    first, second = graph.find("§ 1"), graph.find("§ 1 of b.txt")
    assert list(graph.written([str(first), str(second)]).values()) == [
        "§ 1 of a.txt", "§ 1 of b.txt"
    ]  # fmt: skip
    assert view.written([str(view.find("§ 1"))]) == {first: "§ 1"}
    assert view.find("§ 1 of b.txt") is None
