import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import NAMES, RELATIONS, relation, spoken
from triplet_list import graph_of

from lexloop.core.types import Triplet

HARBOUR = [
    relation("mooring fee", "defines", "sum due for a berth", chunk="c1", section="§ 1"),
    relation("owner", "requires", "pay the mooring fee", chunk="c2", section="§ 2", start=10),
    relation("owner", "prohibits", "moor at night", chunk="c2", section="§ 2", start=20),
    relation("mooring fee", "amount", "$40 per day", chunk="c3", section="§ 3", start=30),
    relation("§ 3", "refers_to", "§ 1(a)", chunk="c3", section="§ 3", start=40),
]


def test_keywords_find_entities_by_stemmed_words() -> None:
    graph = graph_of(HARBOUR)
    assert next(iter(graph.match(["mooring fees"], 5))) == "mooring fee"
    assert graph.match(["mooring fees"], 5)["mooring fee"] == pytest.approx(1.0)
    assert "moor at night" in graph.match(["mooring"], 5)
    assert graph.match(["mooring fees"], 1) == {"mooring fee": pytest.approx(1.0)}


@pytest.mark.parametrize("keywords", [[], [""], ["   "], ["the"], ["zeppelin"], ["?!"]])
def test_keywords_that_the_graph_does_not_know_find_nothing(keywords: list[str]) -> None:
    assert graph_of(HARBOUR).match(keywords, 5) == {}
    assert graph_of([]).match(keywords, 5) == {}


def test_rare_words_count_for_more() -> None:
    entities = [relation(f"tool {i}", "defines", f"thing{i}") for i in range(8)]
    graph = graph_of([*entities, relation("anchor", "defines", "iron")])
    weights = graph.match(["tool anchor"], 10)
    assert next(iter(weights)) == "anchor"
    assert weights["anchor"] > weights["tool 1"]


def test_an_unknown_word_lowers_the_weight() -> None:
    graph = graph_of(HARBOUR)
    assert graph.match(["fee zeppelin"], 1)["mooring fee"] < graph.match(["fee"], 1)["mooring fee"]


def test_acronyms_and_long_forms_are_one_entity() -> None:
    graph = graph_of(
        [
            relation("FLS", "alias_of", "floating landing stage"),
            relation("floating landing stages", "requires", "be lit", start=1),
            relation("owner", "requires", "light the FLS", start=2),
        ]
    )
    assert "fl" not in graph.entities
    assert next(iter(graph.match(["FLS"], 3))) == "floating landing stage"
    found = {quote for path in graph.walk({"floating landing stage": 1.0}, 1, 9)
             for quote in spoken(path.triplets)}  # fmt: skip
    assert "owner requires light the FLS" in found


def test_an_acronym_means_what_its_own_document_says() -> None:
    graph = graph_of(
        [
            relation("PSP", "alias_of", "public safety plan"),
            relation("PSP", "requires", "be drilled", start=1),
            relation("PSP", "alias_of", "payment provider", document="e.txt"),
            relation("clerk", "requires", "ask the PSP", document="e.txt", start=1),
            relation("clerk", "requires", "call a PSP", document="f.txt"),
        ]
    )
    said = {
        entity: {t for path in graph.walk({entity: 1.0}, 1, 9) for t in spoken(path.triplets)}
        for entity in ("public safety plan", "payment provider", "psp")
    }
    assert "PSP requires be drilled" in said["public safety plan"]
    assert "clerk requires ask the PSP" in said["payment provider"]
    assert said["psp"] == set()
    assert "call psp" in graph.entities
    assert list(graph.match(["PSP"], 2)) == ["payment provider", "public safety plan"]


def test_a_short_name_that_is_no_acronym_serves_its_own_document_alone() -> None:
    graph = graph_of(
        [
            relation("fee", "alias_of", "mooring fee"),
            relation("owner", "requires", "pay the fee", start=1),
            relation("fee", "amount", "$9", document="library.txt"),
        ]
    )
    assert [t for path in graph.walk({"fee": 1.0}, 1, 9) for t in spoken(path.triplets)] == [
        "fee amount $9"
    ]


def test_coordinated_subjects_are_entities_of_their_own() -> None:
    graph = graph_of([relation("shop or a stall", "prohibits", "sell knifes")])
    assert graph.entities == ["sell knife", "shop", "stall"]


def test_references_meet_the_section_they_name() -> None:
    graph = graph_of(HARBOUR)
    paths = graph.walk({"§ 3": 1.0}, 2, 50)
    assert ["§ 3 refers_to § 1(a)", "mooring fee defines sum due for a berth"] in [
        spoken(path.triplets) for path in paths
    ]


def test_a_reference_prefers_the_section_of_its_own_document() -> None:
    graph = graph_of(
        [
            relation("fee", "defines", "sum", section="Rule 3.2", document="a.txt", chunk="a"),
            relation("toll", "defines", "due", section="Rule 3.2", document="b.txt", chunk="b"),
            relation("Rule 9", "refers_to", "Rule 3.2.1", section="Rule 9", document="b.txt"),
        ]
    )
    reached = {e for path in graph.walk({"rule 9": 1.0}, 2, 50) for e in path.entities}
    assert "rule 3.2 of b.txt" in reached
    assert "rule 3.2 of a.txt" not in reached


def test_a_walk_is_scored_by_hand() -> None:
    graph = graph_of([relation("a1", "requires", "b1"), relation("b1", "requires", "c1x", start=1)])
    paths = graph.walk({"a1": 0.8}, 2, 9)
    # a1 has one triplet, so its specificity is 1; unmatched: 0.8 * 1 * 0.5
    assert [path.score for path in paths] == pytest.approx(
        [0.4, 0.4 * 0.6 * (1 / (1 + 0.25 * math.log2(2))) * 0.5]
    )
    assert [path.entities for path in paths] == [("a1", "b1"), ("a1", "b1", "c1x")]


def test_a_definition_keeps_the_whole_score_even_at_a_hub() -> None:
    duties = [relation("owner", "requires", f"do thing{i}", start=i) for i in range(50)]
    graph = graph_of([*duties, relation("owner", "defines", "holder of the title", start=99)])
    best = graph.walk({"owner": 1.0}, 1, 3)[0]
    assert spoken(best.triplets) == ["owner defines holder of the title"]
    assert best.score == 1.0


def test_a_triplet_that_joins_two_seeds_comes_first() -> None:
    graph = graph_of(HARBOUR)
    paths = graph.walk({"owner": 1.0, "moor at night": 0.5}, 1, 3)
    assert spoken(paths[0].triplets) == ["owner prohibits moor at night"]


def test_entities_of_chunks_in_their_order() -> None:
    graph = graph_of(HARBOUR)
    assert graph.entities_of(["c2"]) == [
        "pay mooring fee",
        "owner",
        "mooring fee",
        "§ 2",
        "moor at night",
    ]
    assert graph.entities_of(["c3", "c2"])[0] == "$40 per day".replace("$", "")
    assert graph.entities_of(["unknown"]) == []


SEEDS = st.dictionaries(NAMES, st.floats(0.05, 1.0), max_size=4)


@given(RELATIONS, SEEDS, st.integers(0, 4), st.integers(0, 30))
def test_laws_of_walks(
    triplets: list[Triplet], seeds: dict[str, float], length: int, limit: int
) -> None:
    graph = graph_of(triplets)
    paths = graph.walk(seeds, length, limit)
    assert len(paths) <= limit
    assert [path.score for path in paths] == sorted((p.score for p in paths), reverse=True)
    for path in paths:
        assert 1 <= len(path.triplets) <= length
        assert len(set(path.entities)) == len(path.entities)
        assert path.entities[0] in seeds
        assert 0 < path.score <= 1
    sequences = [tuple(map(str, path.triplets)) for path in paths]
    assert len(set(sequences)) == len(sequences)


@given(RELATIONS, SEEDS, st.randoms(use_true_random=False))
def test_the_order_of_triplets_does_not_matter(
    triplets: list[Triplet], seeds: dict[str, float], draw: random.Random
) -> None:
    shuffled = list(triplets)
    draw.shuffle(shuffled)
    one, other = graph_of(triplets), graph_of(shuffled)
    assert one.walk(seeds, 3, 20) == other.walk(seeds, 3, 20)
    assert one.match(["owner", "mooring fee"], 5) == other.match(["owner", "mooring fee"], 5)
    assert one.entities == other.entities
