from relations import relation
from triplet_list import graph_of

from lexloop.knowledge.relations import entity_key


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


def test_a_hub_shows_all_of_its_own_or_its_best_and_what_follows() -> None:
    duties = [relation("owner", "requires", f"do thing{i}", start=i) for i in range(20)]
    graph = graph_of(
        [
            *duties,
            relation("owner", "defines", "holder of the title", start=99),
            relation("holder of the title", "requires", "pay", start=100),
        ]
    )
    near = graph.neighbourhood("owner", 1, 100)
    assert len(near) == 21
    assert near[0].triplet["predicate"] == "defines"
    assert [found.reached for found in near] == ["owner"] * 21
    assert near[:5] == graph.neighbourhood("owner", 1, 5)
    far = graph.neighbourhood("owner", 2, 100)
    assert entity_key("holder of the title") in {found.reached for found in far}
    assert "thing19" not in {found.object for found in far}


def test_a_view_shows_the_neighbourhood_that_may_be_seen() -> None:
    graph = graph_of(
        [
            relation("owner", "requires", "pay", document="open.txt"),
            relation("owner", "requires", "hide", document="secret.txt"),
            relation("agent", "requires", "hide", document="secret.txt", start=1),
        ]
    )
    view = graph.view("open.txt".__eq__)
    assert [found.object for found in view.neighbourhood("owner", 2, 9)] == ["pay"]
    assert view.find("agents") is None
    assert view.neighbourhood("agent", 1, 9) == []
    assert graph.find("agents") == "agent"


def test_an_entity_is_found_however_it_is_coded() -> None:
    graph = graph_of([relation("official log", "refers_to", "§ 1(b)", section="§ 2")])
    assert (
        graph.find("oﬃcial lo\xadg") == graph.find("ｏｆｆｉｃｉａｌ\u3000ｌｏｇ") == "offici log"
    )
    assert graph.find("§\xa01（ｂ）") == graph.find("§ 1(b)") is not None
