import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import relation
from triplet_list import graph_of

from lexloop.knowledge.relations import cites, entity_key, outer_key, reference_key

SAME = [
    ("mooring fee", "Mooring Fees", "the mooring fee", " mooring  fee’s "),
    ("§ 2", "Section 2", "§2", "sections 2", "Sec. 2", "§\xa02"),
    ("Article 5(1)(a)", "art. 5(1)(a)", "ARTICLE 5 (1) (a)", "Ar\xadticle 5（1）（a）"),
    ("§ 20-871(b)", "section 20–871(b)"),
    *[("Article 5(1)",), ("Article 51(a)",), ('§ 312.2 "Child"',), ("§ 312.2",), ("fee",)],
]


def test_one_entity_has_one_key_however_it_is_written_and_no_other_has_it() -> None:
    keys = [{entity_key(phrase) for phrase in same} for same in SAME]
    assert [len(found) for found in keys] == [1] * len(SAME)
    assert len(set().union(*keys)) == len(SAME)


def test_a_plain_number_of_another_act_is_no_provision_of_this_one() -> None:
    assert reference_key("Article 8(1) of the Charter")[1] is False
    assert reference_key("Article 8(1)") == (entity_key("Article 8(1)"), True)
    assert outer_key(entity_key("Article 8(1)")) == entity_key("Article 8")
    assert outer_key(entity_key("Article 8")) == ""
    assert cites("§ 20-871(b)")
    assert not cites("artificial intelligence")
    assert not cites("pay the fee that is due on the tenth day under § 3")


@pytest.mark.parametrize(
    "reference",
    [
        "§ 20-871(b)",
        "subdivision b of section 20-871",
        "paragraph 1 of subdivision b of section 20-871 of the Code",
    ],
)
def test_references_of_every_form_meet_the_section_of_another_document(reference: str) -> None:
    graph = graph_of(
        [
            relation("employer", "requires", "notify", section="§ 20-871", document="law.txt"),
            relation("notice", "refers_to", reference, document="rule.txt"),
        ]
    )
    paths = graph.walk({entity_key("notice"): 1.0}, 2, 9)
    assert "employer" in {t["subject"] for path in paths for t in path.triplets}


@given(st.text(st.characters(codec=None), max_size=80), st.sampled_from(["alias_of", "refers_to"]))
def test_any_text_can_be_read_and_makes_a_graph(text: str, predicate: str) -> None:
    assert entity_key(text).strip() == entity_key(text)
    assert isinstance(cites(text), bool)
    reference_key(text)
    graph = graph_of([relation(text, predicate, text[::-1], section=text)] * 2)
    graph.walk(dict.fromkeys(graph.entities, 1.0), 2, 9)
    graph.match([text], 5)
    graph.written(graph.entities)
