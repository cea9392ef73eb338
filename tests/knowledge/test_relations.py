"""Relations between the provisions of a document, and the acts and terms that they name."""

import time

import pytest
import records
from hypothesis import given
from hypothesis import strategies as st
from sets import whole_text

from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.relations import PREDICATES, extract_document, reading, typed

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


def referred(label: str) -> set[str]:
    return {to for subject, to in related("refers_to") if subject == label}


def test_each_provision_is_part_of_what_it_lies_in() -> None:
    found = related("part_of")
    assert {
        ("Chapter I", "Harbour"), ("Article 2", "Chapter I"), ("Article 2(3)", "Article 2"),
        ("Article 2(3)(a)", "Article 2(3)"), ("Article 1(1)", "Article 1"),
    } <= found  # fmt: skip
    assert len(found) == len({subject for subject, _ in found})


def test_a_heading_is_the_topic_of_its_provision() -> None:
    assert related("concerns") == {
        ("Chapter I", "General provisions"), ("Article 1", "Terms"),
        ("Article 2", "Right to a berth"), ("Article 3", "Fees"), ("Article 4", "Fines"),
    }  # fmt: skip


def test_terms_are_defined_in_the_words_of_the_law_and_used_elsewhere() -> None:
    assert ("Article 1(1)", "berth", "defines", "a place where a boat lies") in told()
    assert related("uses") == {("Article 2(1)", "berth"), ("Article 3(1)(a)", "berth")}
    assert {to for _, to in related("defines")} >= {"a place where a boat lies"}


def test_references_lead_to_provisions_of_the_same_document() -> None:
    assert referred("Article 2(2)") == {
        "Article 2(1)", "Article 3(1)(a)", "Article 3(1)(b)", "Article 3(1)(c)"
    }  # fmt: skip
    assert referred("Article 4(1)(a)") == {"Article 2", "Article 3"}
    assert referred("Recital 1") == {"Article 3", "Directive 12/34/EC"}


def test_other_acts_are_told_from_the_document() -> None:
    assert referred("Article 3(1)(b)") == {"Article 9(1) of the Harbour Treaty"}
    assert referred("Article 3(1)(c)") == {"Directive 12/34/EC"}
    assert referred("Article 3(4)") == {"Article 77", "15 U.S.C. 6501"}


def test_exceptions_lead_to_what_they_except() -> None:
    assert related("exception_to") == {
        ("Article 2(3)", "Article 2(1)"),
        ("Article 2(3)", "Article 2(2)"),
        ("Article 3(3)", "Article 2(1)"),
    }


@pytest.mark.parametrize("number", ["2", "4"])
def test_a_provision_that_names_itself_names_no_other_of_its_number(number: str) -> None:
    law = f"{LAW}4. This Article {number} shall not apply to rafts.\n"
    assert related("exception_to", law) == related("exception_to")
    assert not [to for subject, to in related("refers_to", law) if subject == "Article 4(4)"]


def test_what_a_law_amends_and_when_it_applies() -> None:
    assert related("amends") == {("Article 4(2)", "Directive 98/76/EC")}
    assert related("applies_from") == {("Article 4(3)", "25 May 2018")}


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
