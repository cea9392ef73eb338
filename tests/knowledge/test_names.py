import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import relation
from triplet_list import graph_of

from lexloop.knowledge.relations import cites, entity_key, outer_key, reference_key


@pytest.mark.parametrize(
    "same",
    [
        ("mooring fee", "Mooring Fees", "the mooring fee", " mooring  fee’s "),
        ("§ 2", "Section 2", "§2", "sections 2", "Sec. 2"),
        ("Article 5(1)(a)", "art. 5(1)(a)", "ARTICLE 5 (1) (a)"),
        ("§ 20-871(b)", "section 20–871(b)"),
    ],
)
def test_one_entity_has_one_key_however_it_is_written(same: tuple[str, ...]) -> None:
    assert len({entity_key(phrase) for phrase in same}) == 1


@pytest.mark.parametrize(
    "apart",
    [
        ("Article 5(1)(a)", "Article 5(1)", "Article 51(a)", "Article 5"),
        ('§ 312.2 "Child"', "§ 312.2"),
        ("fee", "mooring fee"),
    ],
)
def test_different_entities_have_different_keys(apart: tuple[str, ...]) -> None:
    assert len({entity_key(phrase) for phrase in apart}) == len(apart)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("§ 20-871(b)", True),
        ("Rule 3.2", True),
        ("artificial intelligence", False),
        ("pay the fee that is due on the tenth day under § 3", False),
    ],
)
def test_references_are_told_from_names(phrase: str, expected: bool) -> None:
    assert cites(phrase) is expected


def test_a_plain_number_of_another_act_is_no_provision_of_this_one() -> None:
    assert reference_key("Article 8(1) of the Charter")[1] is False
    assert reference_key("Article 8(1)") == (entity_key("Article 8(1)"), True)
    assert reference_key("paragraph 1 of section 20-871 of the Code") == (
        entity_key("section 20-871(1)"),
        True,
    )
    assert outer_key(entity_key("Article 8(1)")) == entity_key("Article 8")
    assert outer_key(entity_key("Article 8")) == ""


@pytest.mark.parametrize(
    "reference",
    [
        "§ 20-871(b)",
        "subdivision b of section 20-871",
        "paragraph 1 of subdivision b of section 20-871 of the Code",
    ],
)
def test_references_of_every_form_meet_the_section_of_another_document(
    reference: str,
) -> None:
    graph = graph_of(
        [
            relation("employer", "requires", "notify", section="§ 20-871", document="law.txt"),
            relation("notice", "refers_to", reference, document="rule.txt"),
        ]
    )
    paths = graph.walk({entity_key("notice"): 1.0}, 2, 9)
    assert "employer" in {t["subject"] for path in paths for t in path.triplets}


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert entity_key(text).strip() == entity_key(text)
    assert isinstance(cites(text), bool)
    reference_key(text)
    graph_of([relation(text, "requires", text, section=text)])


@given(st.lists(st.text(st.characters(codec=None), max_size=20), min_size=3, max_size=3))
def test_any_words_make_a_graph(texts: list[str]) -> None:
    for predicate in ("alias_of", "refers_to", "defines"):
        graph = graph_of([relation(texts[0], predicate, texts[1], section=texts[2])] * 2)
        graph.walk(dict.fromkeys(graph.entities, 1.0), 2, 9)
        graph.match(texts, 5)
        graph.written(graph.entities)
