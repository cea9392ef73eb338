import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import relation
from triplet_list import graph_of

from lexloop.knowledge.entities import (
    cites,
    named_by,
    reference_name,
    section_label,
    speakable,
)


@pytest.mark.parametrize(
    "variants",
    [
        ("the Employer", "employers", "an employer", "each employer", "EMPLOYER", "employer's"),
        ("employment agency", "Employment Agencies", "any employment agencies’"),
        ("bias audit", "the Bias Audits", "bias\u00a0audit", "bias audit's", "bi\u00adas audit"),
        ("third-party tool", "third party tools", "third\u2011party tool", "third‐party tool"),
        ("e-mail", "email", "E-Mails", "e\u2011mail"),
        ("non-compliance", "noncompliance"),
        ("sub-paragraph", "subparagraphs"),
        ("owner's manual", "owner’s manual", "the owner‘s manuals"),
        ("29 C.F.R.", "29 CFR"),
        ("§ 20-871(b)", "section 20-871(b)", "Sections 20–871(b)", "sec. 20-871(b)", "§20-871(b)"),
        ("Article 5", "art. 5", "articles 5"),
        ("Rights & Duties of Owners", "rights and duties of an owner"),
        ("ﬁshing fee", "fishing fees"),
        ("knife", "knives"),
        ("policies", "policy"),
        ("woman", "women"),
        ("criteria", "criterion"),
        ("and the owner", "owner", "or an owner", "(i) an owner", "but only those owners"),
    ],
)
def test_ways_to_write_a_name_are_one_entity(variants: tuple[str, ...]) -> None:
    assert len({named_by(variant) for variant in variants}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("employer", "employee"),
        ("§ 20-871(b)", "§ 20-872(b)"),
        ("bias", "bia"),
        ("news", "new"),
        ("co-owner", "owner"),
        ("20-871", "20871"),
    ],
)
def test_different_things_stay_apart(one: str, other: str) -> None:
    assert named_by(one) != named_by(other)


@pytest.mark.parametrize("phrase", ["", "  ", "and", "But", "of the", "—", "\u202e", "..."])
def test_what_names_nothing_is_no_entity(phrase: str) -> None:
    assert named_by(phrase) == ()


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("§ 20-871(b)", True),
        ("subdivision b of section 20-871", True),
        ("Rule 3.2", True),
        ("Schedule 1", True),
        ("artificial intelligence", False),
        ("the rule", False),
        ("pay the fee that is due on the tenth day under § 3", False),
    ],
)
def test_references_are_told_from_names(phrase: str, expected: bool) -> None:
    assert cites(phrase) is expected


def test_references_to_an_unknown_section_are_one_whatever_their_subdivision() -> None:
    known = {
        reference_name(text)
        for text in (
            "§ 8-107(13)(a) of the Code",
            "section 8-107 of the Code",
            "paragraph 2 of subdivision b of section 8-107 of the Code",
        )
    }
    assert known == {"§ 8-107 of code"}
    assert reference_name("§ 8-107 of the Charter") == "§ 8-107 of charter"
    assert reference_name("29 C.F.R. § 1607.4(d)") == "29 cfr § 1607.4"
    assert reference_name("6 RCNY § 5-249 gives it") == "6 rcny § 5-249"


@pytest.mark.parametrize(
    "reference",
    [
        "section 20-871(b)",
        "§ 20-871(b)",
        "§ 20–871",
        "subdivision b of section 20-871",
        "paragraph 1 of subdivision b of section 20-871 of the Code",
        "Section 20-871(b)(1) and (2) of the Code",
    ],
)
@pytest.mark.parametrize("label", ["§ 20-871", "Section 20-871", "§20-871. Requirements"])
def test_references_of_every_form_meet_the_section(reference: str, label: str) -> None:
    graph = graph_of(
        [
            relation("employer", "requires", "notify", section=label, document="law.txt"),
            relation("notice", "refers_to", reference, document="rule.txt"),
        ]
    )
    paths = graph.walk({"notice": 1.0}, 2, 9)
    assert "employer" in {t["subject"] for path in paths for t in path.triplets}


def test_a_section_label_without_a_number_is_its_own() -> None:
    assert section_label("Fees") == ("", "fees")
    assert section_label("3.2 Fees") == ("", "3.2")
    assert section_label("Art. IV") == ("article", "iv")


def test_unspecific_and_long_names_are_not_recognised_in_passing() -> None:
    assert speakable("bias audit")
    assert not speakable("person")
    assert not speakable("we")
    assert not speakable("ab")
    assert not speakable("a b c d e f")


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert all(key.strip() == key and key for key in named_by(text))
    assert reference_name(text) == reference_name(text)
    assert isinstance(cites(text), bool)
    graph_of([relation(text, "requires", text, section=text)])


@given(st.lists(st.text(st.characters(codec=None), max_size=20), min_size=3, max_size=3))
def test_any_words_make_a_graph(texts: list[str]) -> None:
    for predicate in ("alias_of", "refers_to", "defines"):
        graph = graph_of([relation(texts[0], predicate, texts[1], section=texts[2])] * 2)
        graph.walk(dict.fromkeys(graph.entities, 1.0), 2, 9)
        graph.match(texts, 5)
