"""What a document is, and the questions to begin with and to go on with."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import view_of
from sets import whole_text

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.documents.structure.parse import parse
from lexloop.store.provisions import Source
from lexloop.store.view import View
from lexloop_workbench.profile import Profile, profile
from lexloop_workbench.questions import next_questions

LEASE = whole_text("berth_lease.txt")


def read(text: str, title: str = "", **how: object) -> Profile:
    source = Source("one.txt", "", parse(text), text, (0,))
    return profile(source, title, **how)  # type: ignore[arg-type]


def test_an_agreement() -> None:
    made = read(LEASE, "BERTH LEASE AGREEMENT")
    assert (made.kind, made.title, made.pages) == ("agreement", "BERTH LEASE AGREEMENT", 1)
    assert made.words == len(LEASE.split())
    assert [(one.said, one.role) for one in made.parties] == [
        ("Quay North, Inc.", "Landlord"),
        ("Sloop & Sons LLC", "Tenant"),
    ]
    assert [one.day for one in made.signed] == [date(2026, 1, 31)]
    assert [one.day for one in made.effective] == [date(2026, 3, 1)]
    assert [(one.said, one.section) for one in made.term] == [
        ("until February 28, 2029", "Section 2")
    ]
    assert [(one.said, one.section) for one in made.governing_law] == [
        ("State of Maine", "Section 4")
    ]
    assert [part.heading for part in made.outline if part.label] == [
        "Definitions",
        "Term",
        "Rent",
        "Governing Law",
    ]
    assert [one.said for one in made.terms] == ["Effective Date", "Berth"]
    assert "Exhibit A" in [one.said for one in made.refers_to]


def test_every_item_has_its_place() -> None:
    made = read(LEASE)
    lists = (made.parties, made.signed, made.effective, made.term, made.governing_law)
    for item in [one for items in lists for one in items] + made.terms + made.questions:
        assert LEASE[item.start : item.end].strip() == item.quote
        assert item.quote


def test_a_text_that_binds_nobody_is_asked_for_its_provisions() -> None:
    made = read("Harbour notes\n\n1. Tides\nThey come twice.\n\n2. Winds\nThey turn at noon.\n")
    assert [one.said for one in made.questions] == [
        "What does Section 1 say about “Tides”?",
        "What does Section 2 say about “Winds”?",
    ]


def test_it_names_itself_where_its_title_does_not() -> None:
    made = read(LEASE, "Agreement")
    assert (made.kind, made.title) == ("agreement", "Berth Lease Agreement")
    assert (
        read("Minutes of the meeting\n\nPresent: all.", "Minutes of the meeting").kind == "minutes"
    )


def test_questions_are_those_that_are_answered() -> None:
    tried: list[str] = []

    def answers(question: str) -> bool:
        tried.append(question)
        return question.startswith(("Which", "By when"))

    made = read(LEASE, answers=answers)
    assert [one.said for one in made.questions] == [
        "Which law governs this agreement?",
        "By when must the Tenant pay the rent?",
    ]
    assert "When does this agreement end?" in tried
    assert "What does “Berth” mean?" in tried
    assert len(read(LEASE).questions) == 5 or len(tried) < 5


@pytest.mark.parametrize("text", ["", "\n", "Between", "This Agreement", "(“A”) (“B”)"])
def test_little_text_says_little(text: str) -> None:
    made = read(text)
    assert made.parties == made.term == made.governing_law == made.questions == []


@settings(max_examples=50)
@given(st.text(alphabet="AB and between(“”)laws of State,.;\n 19Januy2", max_size=300))
def test_any_text_is_read(text: str) -> None:
    made = read(f"This Agreement is made by and between {text}")
    for one in made.parties:
        assert one.quote


RULES = whole_text("harbour_questions.txt")


def document(name: str, text: str) -> Document:
    return Document(name, name, text, Metadata())


@pytest.fixture(scope="module")
def rules() -> View:
    return view_of(document("act.txt", RULES), document("notes.txt", "No heading is here."))


def cited(quote: str, name: str = "act.txt", text: str = RULES) -> dict[str, Any]:
    start = text.index(quote)
    return {"document": name, "start": start, "end": start + len(quote), "quote": quote}


def test_an_answer_leads_to_its_terms_exceptions_penalties_and_what_stands_next(
    rules: View,
) -> None:
    quote = cited("1. The keeper of a berth shall pay a fee of 30 euro.")
    assert [*next_questions(rules, "What does it cost?", [quote])][:4] == [
        "What is meant by “Keeper of a berth”?",
        "What are the exceptions to Article 2(1)?",
        "What does Article 4 say about “Penalties”?",
        "What does Article 3 say about “Hardship”?",
    ]


def test_what_was_asked_is_not_asked_again(rules: View) -> None:
    quote = cited("1. The keeper of a berth shall pay a fee of 30 euro.")
    asked = "What are the exceptions to Article 2(1) and in Article 4 for a keeper of a berth?"
    found = [*next_questions(rules, asked, [quote])]
    assert found == ["What does Article 3 say about “Hardship”?"]


def test_a_definition_is_not_asked_of_itself_and_the_last_provision_has_none_next(
    rules: View,
) -> None:
    meant = cited('"Berth" means a place where a boat lies.')
    own = [*next_questions(rules, "What is it?", [meant])]
    assert not any("“Berth”" in one for one in own)
    last = [*next_questions(rules, "When?", [cited("This Act is in force from 1 May.")])]
    assert last == ["What does Article 4 say about “Penalties”?"]


def test_citations_of_what_is_there_no_more_lead_to_nothing(rules: View) -> None:
    gone = cited("The fee is due on 31 March.") | {"document": "gone.txt"}
    assert not [*next_questions(rules, "When?", [gone])]
    assert not [*next_questions(rules, "When?", [])]
