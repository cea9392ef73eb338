"""The graph: what keywords meet, its walks, what an asker sees of it, and what is stored."""

import math
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import DOCUMENTS, NAMES, RELATIONS, relation, spoken
from triplet_list import TripletList, graph_of

from lexloop.core.errors import DataError
from lexloop.core.types import Triplet
from lexloop.knowledge.columns import FILES
from lexloop.knowledge.relations import entity_key
from lexloop.knowledge.walk import best_paths, whole_graph
from lexloop.store.graph import KnowledgeGraph

HARBOUR = [
    relation("mooring fee", "defines", "sum due for a berth", chunk="c1", section="§ 1"),
    relation("owner", "requires", "pay the mooring fee", chunk="c2", section="§ 2", start=10),
    relation("owner", "prohibits", "moor at night", chunk="c2", section="§ 2", start=20),
    relation("§ 3", "uses", "mooring fee", chunk="c3", section="§ 3", start=30),
    relation("§ 3", "refers_to", "§ 1(a)", chunk="c3", section="§ 3", start=40),
]
FEE = entity_key("mooring fee")


def test_keywords_find_entities_by_stemmed_words() -> None:
    graph = graph_of(HARBOUR)
    assert graph.match(["mooring fees"], 1) == {FEE: pytest.approx(1.0)}
    assert entity_key("moor at night") in graph.match(["mooring"], 5)
    for unknown in ("", "zeppelin", "?!"):
        assert graph.match([unknown], 5) == graph_of([]).match([unknown], 5) == {}


def test_short_forms_and_long_forms_are_one_entity() -> None:
    graph = graph_of(
        [
            relation("FLS", "alias_of", "floating landing stage"),
            relation("floating landing stages", "requires", "be lit", start=1),
            relation("owner", "requires", "FLS", start=2),
        ]
    )
    stage = entity_key("floating landing stage")
    assert entity_key("FLS") not in graph.entities
    assert next(iter(graph.match(["FLS"], 3))) == graph.find("the FLS") == stage
    assert graph.written([stage]) == {stage: "floating landing stage"}
    found = {quote for path in graph.walk({stage: 1.0}, 1, 9) for quote in spoken(path.triplets)}
    assert "owner requires FLS" in found


def test_a_short_form_of_two_things_stands_for_neither() -> None:
    plan, provider = entity_key("public safety plan"), entity_key("payment provider")
    graph = graph_of(
        [
            relation("PSP", "alias_of", "public safety plan"),
            relation("PSP", "requires", "be drilled", start=1),
            relation("PSP", "alias_of", "payment provider", document="e.txt"),
        ]
    )
    assert {"psp", plan, provider} <= set(graph.entities)
    assert entity_key("PSP") not in graph.view("d.txt".__eq__).entities


def test_a_reference_prefers_the_section_of_its_own_document() -> None:
    graph = graph_of(
        [
            relation("fee", "defines", "sum", section="Rule 3.2", document="a.txt", chunk="a"),
            relation("toll", "defines", "due", section="Rule 3.2", document="b.txt", chunk="b"),
            relation("Rule 9", "refers_to", "Rule 3.2.1", section="Rule 9", document="b.txt"),
            relation("Rule 9", "refers_to", "Rule 3.2", section="Rule 9", document="b.txt"),
        ]
    )
    paths = graph.walk({str(graph.find("Rule 9")): 1.0}, 2, 50)
    said = {triplet["subject"] for path in paths for triplet in path.triplets}
    assert "toll" in said
    assert "fee" not in said


def test_a_walk_is_scored_by_hand() -> None:
    graph = graph_of([relation("a1", "requires", "b1"), relation("b1", "requires", "c1x", start=1)])
    paths = graph.walk({"a1": 0.8}, 2, 9)
    # a1 has one triplet, so its specificity is 1; a model's relation keeps 0.7, an unmet end 0.5
    first = 0.8 * 0.7 * 0.5
    assert [path.score for path in paths] == pytest.approx(
        [first, first * 0.6 * (1 / (1 + 0.25 * math.log2(2))) * 0.7 * 0.5]
    )
    assert [path.entities for path in paths] == [("a1", "b1"), ("a1", "b1", "c1x")]


def test_a_triplet_that_joins_two_seeds_comes_first() -> None:
    graph = graph_of(HARBOUR)
    paths = graph.walk({"owner": 1.0, entity_key("moor at night"): 0.5}, 1, 3)
    assert spoken(paths[0].triplets) == ["owner prohibits moor at night"]


SEEDS = st.dictionaries(NAMES.map(entity_key), st.floats(0.05, 1.0), max_size=4)


@given(RELATIONS, SEEDS, st.integers(0, 4), st.integers(0, 30))
def test_laws_of_walks(
    triplets: list[Triplet], seeds: dict[str, float], length: int, limit: int
) -> None:
    graph = graph_of(triplets)
    paths = graph.walk(seeds, length, limit)
    known = {graph.find(seed) for seed in seeds}
    assert len(paths) <= limit
    assert [path.score for path in paths] == sorted((p.score for p in paths), reverse=True)
    for path in paths:
        assert 1 <= len(path.triplets) <= length
        assert len(set(path.entities)) == len(path.entities)
        assert path.entities[0] in known
        assert 0 < path.score <= 1
    sequences = [tuple(map(str, path.triplets)) for path in paths]
    assert len(set(sequences)) == len(sequences)


@given(RELATIONS, SEEDS, st.integers(1, 4), st.booleans())
def test_networkx_walks_the_same_paths(
    triplets: list[Triplet], seeds: dict[str, float], length: int, parts: bool
) -> None:
    graph = graph_of(triplets)
    incidence, known = graph._incidence, graph._known(seeds)
    whole = whole_graph(incidence, parts=parts)
    own = best_paths(incidence, known, length, 20, parts=parts)
    assert best_paths(incidence, known, length, 20, whole=whole, parts=parts) == own


def test_pagerank_by_hand() -> None:
    """From one seed with two relations alike, each end gets half of what it passes on."""
    graph = graph_of([relation("a1", "requires", "b1"), relation("a1", "requires", "c1", start=1)])
    paths = graph.walk({"a1": 1.0}, 1, 9, "pagerank")
    assert [path.entities[0] for path in paths] == ["a1", "a1"]
    assert [path.score for path in paths] == pytest.approx([1.0, 1.0])
    assert {path.triplets[0]["object"] for path in paths} == {"b1", "c1"}
    assert graph.walk({"zeppelin": 1.0}, 1, 9, "pagerank") == []


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


def test_a_relation_leads_from_its_subject_to_its_object() -> None:
    graph = graph_of(
        [
            relation("AEDT", "alias_of", "automated employment decision tool", section="§ 1"),
            relation("AEDTs", "requires", "be audited", section="§ 1", start=1),
            relation("shop", "refers_to", "§ 1(b)", section="§ 2", start=2),
        ]
    )
    section, tool = str(graph.find("§ 1")), str(graph.find("automated employment decision tools"))
    around = graph.neighbourhood(section, 1, 9)
    words = graph.written([section, tool, "shop"])
    ends = {
        found.triplet["predicate"]: (found.subject, found.object, found.reached) for found in around
    }
    assert ends == {
        "alias_of": (tool, tool, section),
        "requires": (tool, entity_key("be audited"), section),
        "refers_to": ("shop", section, section),
    }
    assert list(words.values()) == ["§ 1", "automated employment decision tool", "shop"]
    assert graph.find("the AEDT") == tool
    assert graph.find("Sections 1") == section
    assert graph.find("zeppelin") is None
    assert graph.neighbourhood("zeppelin", 1, 9) == []
    assert (graph.degree("shop"), graph.degree("zeppelin")) == (1, 0)


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


TRIPLETS = [
    relation("owner", "requires", "pay the fee", section="§ 1"),
    relation("fee", "defines", "sum due", section="§ 2", start=1),
    relation("fee", "defines", "sum due", section="§ 2", start=1),
    relation("FLS", "alias_of", "floating landing stage", document="e.txt"),
]


@given(RELATIONS, SEEDS, st.sets(st.sampled_from(DOCUMENTS)))
def test_a_stored_graph_walks_the_same(
    triplets: list[Triplet], seeds: dict[str, float], admitted: set[str]
) -> None:
    graph = graph_of(triplets)
    with tempfile.TemporaryDirectory() as name:
        graph.save(Path(name))
        opened = KnowledgeGraph.load(Path(name), TripletList(triplets))
        assert opened.entities == graph.entities
        assert opened.walk(seeds, 3, 20) == graph.walk(seeds, 3, 20)
        assert opened.match(["owner", "FLS"], 5) == graph.match(["owner", "FLS"], 5)
        view, other = (each.view(admitted.__contains__) for each in (opened, graph))
        assert view.look_up(["c1", "c3"], {}, 2, 9) == other.look_up(["c1", "c3"], {}, 2, 9)
        assert view.walk(seeds, 2, 20) == other.walk(seeds, 2, 20)


def saved(folder: Path) -> TripletList:
    source = TripletList(TRIPLETS)
    KnowledgeGraph.build(source).save(folder)
    return source


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [None, b"", b"[1, 2]"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    source = saved(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        KnowledgeGraph.load(tmp_path, source)


def test_the_graph_of_another_source_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(DataError, match="more triplets than the 1"):
        KnowledgeGraph.load(tmp_path, TripletList(TRIPLETS[:1]))
