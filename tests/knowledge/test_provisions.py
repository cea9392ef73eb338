"""Relations between the provisions of a document, and the acts and terms that they name."""

import time

import pytest

from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.knowledge.rules import extract_document

LAW = """HARBOUR REGULATION

Whereas:

(1) Boats sink. This Regulation builds on Article 3 and on Directive 12/34/EC.

CHAPTER I
General provisions

Article 1
Terms
For the purposes of this Regulation:
(1) ‘berth’ means a place where a boat lies;
(2) ‘pilot’ of a boat means whoever steers it;

Article 2
Right to a berth (‘berth right’)
1. The harbour master shall give every owner a berth.
2. The owner shall pay under paragraph 1 of this Article and points (a) to (c) of Article 3(1).
3. Paragraphs 1 and 2 shall not apply where:
(a) the boat is a wreck;
(b) the owner agrees.

Article 3
Fees
1. The owner shall:
(a) pay by the month;
(b) keep the receipt as Article 9(1) of the Harbour Treaty says;
(c) insure the boat under Directive 12/34/EC.
2. This Article does not apply to fishing boats.
3. By way of derogation from Article 2(1), the harbour master may close the harbour.
4. Article 77 and 15 U.S.C. 6501 stand.

Article 4
Fines
1. Breaches of the following shall, as Article 3 says, be subject to fines up to 10 000 EUR:
(a) the duties of the owner under Articles 2 and 3;
(b) Article 1.
2. Whoever breaches this Article is liable for a fine of $5.
"""


def told(law: str = LAW) -> set[tuple[str, str, str, str]]:
    """Provision, subject, relation and object of everything that a law states."""
    chunk: Chunk = {
        "id": "c1", "document": "law.txt", "title": "", "section": "", "page": None, "start": 0,
        "end": len(law), "text": law,
    }  # fmt: skip
    found = extract_document(Document("law.txt", "Harbour", law), [chunk])
    return {(t["section"], t["subject"], t["predicate"], t["object"]) for t in found}


def referred(label: str) -> set[str]:
    return {
        o
        for section, _, predicate, o in told()
        if section == label == _ and predicate == "refers_to"
    }


def test_references_lead_to_provisions_of_the_same_document() -> None:
    assert referred("Article 2(2)") == {
        "Article 2(1)", "Article 3(1)(a)", "Article 3(1)(b)", "Article 3(1)(c)"
    }  # fmt: skip
    assert referred("Article 2(3)") == {"Article 2(1)", "Article 2(2)"}
    assert referred("Article 4(1)(a)") == {"Article 2", "Article 3"}


def test_other_acts_are_told_from_the_document() -> None:
    assert referred("Article 3(1)(b)") == {"Article 9(1) of the Harbour Treaty"}
    assert referred("Article 3(1)(c)") == {"Directive 12/34/EC"}
    assert referred("Article 3(4)") == {"Article 77", "15 U.S.C. 6501"}


def test_a_recital_refers_and_binds_nobody() -> None:
    said = {(p, o) for section, _, p, o in told() if section == "Recital 1"}
    assert said == {("refers_to", "Article 3"), ("refers_to", "Directive 12/34/EC")}


def test_terms_are_defined_in_the_words_of_the_law() -> None:
    assert ("Article 1(1)", "berth", "defines", "a place where a boat lies") in told()
    assert ("Article 1(2)", "pilot", "defines", "whoever steers it") in told()
    assert ("Article 2", "Article 2", "concerns", "right to a berth") in told()
    assert ("Article 2", "Article 2", "concerns", "berth right") in told()


def test_a_term_may_be_named_after_it_was_described() -> None:
    text = "Section 1\nThe firm that sells the boat (the “Seller”) must clean it."
    said = {(s, p, o) for _, s, p, o in told(text)}
    assert ("Seller", "defines", "The firm that sells the boat") in said


def test_exceptions_lead_to_what_they_except() -> None:
    found = {(s, e, o) for s, e, p, o in told() if p == "exception_to"}
    assert found == {
        ("Article 2(3)(a)", "the boat is a wreck", "Article 2(1)"),
        ("Article 2(3)(a)", "the boat is a wreck", "Article 2(2)"),
        ("Article 2(3)(b)", "the owner agrees", "Article 2(1)"),
        ("Article 2(3)(b)", "the owner agrees", "Article 2(2)"),
        ("Article 3(2)", "fishing boats", "Article 3"),
        ("Article 3(3)", "the harbour master may close the harbour", "Article 2(1)"),
    }


def test_sanctions_lead_to_what_they_punish() -> None:
    found = {(s, e, o) for s, e, p, o in told() if p == "penalises" and o.startswith("Article")}
    assert found == {
        ("Article 4(1)(a)", "fines up to 10 000 EUR", "Article 2"),
        ("Article 4(1)(a)", "fines up to 10 000 EUR", "Article 3"),
        ("Article 4(1)(b)", "fines up to 10 000 EUR", "Article 1"),
        ("Article 4(2)", "fine of $5", "Article 4"),
    }


def test_what_says_nothing_else_is_stated_once() -> None:
    stated = {(s, o) for s, _, p, o in told() if p == "states"}
    assert stated == {("Article 3(4)", "Article 77 and 15 U.S.C. 6501 stand")}


@pytest.mark.parametrize(
    "item",
    ["keep record {} under Article 1(1) and paragraph 1;", "the duties of Articles 1 to 9;"],
)
def test_many_points_take_linear_time(item: str) -> None:
    seconds = []
    for count in (500, 4000):
        points = "".join(f"({n}) {item.format(n)}\n" for n in range(1, count + 1))
        law = (
            f"Article 1\nFines\n1. Breaches of the following shall be subject to a fine:\n{points}"
        )
        began = time.process_time()
        told(law)
        seconds.append(time.process_time() - began)
    assert seconds[1] < 8 * 3 * seconds[0]
