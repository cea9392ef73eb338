"""Relations between provisions, the acts and terms that they name, and one key for each."""

import time

import pytest
import records
from hypothesis import given
from hypothesis import strategies as st
from relations import relation
from sets import rows, whole_text
from triplet_list import graph_of

from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.relations import (
    PREDICATES,
    cites,
    entity_key,
    extract_document,
    outer_key,
    reading,
    reference_key,
    typed,
)

LAW = whole_text("regulation.txt")


def chunk(text: str, *, start: int = 0, number: int = 1) -> Chunk:
    return records.chunk(text, start=start, id=f"c{number}", section="", page=3)


def extracted(text: str, chunks: list[Chunk] | None = None) -> list[Triplet]:
    return extract_document(Document("d.txt", "Harbour", text), chunks or [chunk(text)])


def told(law: str = LAW) -> set[tuple[str, str, str, str]]:
    """Provision, subject, relation and object of everything that a law states."""
    return {(t["section"], t["subject"], t["predicate"], t["object"]) for t in extracted(law)}


def related(predicate: str, law: str = LAW) -> set[tuple[str, str]]:
    return {(subject, to) for _, subject, found, to in told(law) if found == predicate}


@pytest.mark.parametrize(("predicate", "subject", "objects"), rows("relations"))
def test_a_law_states_this_of_a_subject_and_nothing_else(
    predicate: str, subject: str, objects: list[str]
) -> None:
    """The only subjects of some relations are those of the rows; all lie in one thing alone."""
    found = related(predicate)
    assert {to for one, to in found if one == subject} == set(objects)
    wanted = {row[1] for row in rows("relations") if row[0] == predicate}
    assert predicate in ("part_of", "refers_to", "defines") or {one for one, _ in found} == wanted
    assert len(related("part_of")) == len({one for one, _ in related("part_of")})


@pytest.mark.parametrize("number", ["2", "4"])
def test_a_provision_that_names_itself_names_no_other_of_its_number(number: str) -> None:
    law = f"{LAW}4. This Article {number} shall not apply to rafts.\n"
    assert related("exception_to", law) == related("exception_to")
    assert not [to for subject, to in related("refers_to", law) if subject == "Article 4(4)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Article 1\n1. Abweichend von Article 2(1) zahlt niemand.\n\nArticle 2\n1. Alle zahlen.\n",
         ("exception_to", "Article 2(1)")),
        ("Article 1\n1. Diese Verordnung gilt ab dem 25 Mai 2018.\n",
         ("applies_from", "25 Mai 2018")),
    ],
)  # fmt: skip
def test_other_languages_say_it_in_their_words(text: str, expected: tuple[str, str]) -> None:
    assert expected in {(predicate, to) for _, _, predicate, to in told(text)}


def test_every_relation_is_quoted_exactly_where_it_stands() -> None:
    half = LAW.index("Article 3\nFees")
    chunks = [chunk(LAW[:half]), chunk(LAW[half:], start=half, number=2)]
    found = extracted(LAW, chunks)
    assert ("Article 1(1)", "berth", "defines", "a place where a boat lies") in told()
    assert {triplet["predicate"] for triplet in found} <= set(PREDICATES)
    for triplet in found:
        assert triplet["quote"]
        assert LAW[triplet["start"] : triplet["end"]] == triplet["quote"]
        assert triplet["chunk_id"] == ("c1" if triplet["start"] < half else "c2")
    said = [(t["chunk_id"], t["section"], t["subject"], t["predicate"], t["object"]) for t in found]
    assert len(said) == len(set(said))
    assert [t["start"] for t in found] == sorted(t["start"] for t in found)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for triplet in extracted(text):
        assert text[triplet["start"] : triplet["end"]] == triplet["quote"]
        assert triplet["subject"]
        assert triplet["object"]


@pytest.mark.parametrize(
    "item", ["keep record {} under Article 1(1) and paragraph 1;", "the duties of Articles 1 to 9;"]
)
def test_many_points_take_linear_time(item: str) -> None:
    seconds = []
    for count in (300, 2400):
        points = "".join(f"({n}) {item.format(n)}\n" for n in range(1, count + 1))
        law = (
            f"Article 1\nFines\n1. Breaches of the following shall be subject to a fine:\n{points}"
        )
        began = time.process_time()
        told(law)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 8 * 3 * seconds[0]


def test_a_models_words_for_a_relation_are_its_name() -> None:
    for predicate in PREDICATES:
        assert typed(predicate) == typed(reading(predicate)) == predicate
        assert typed(predicate.replace("_", " ").title()) == predicate
    assert typed("is collected by") == "is collected by"


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
