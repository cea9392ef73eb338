"""Questions to ask of documents after an answer."""

from typing import Any

import pytest
from indexes import view_of
from sets import whole_text

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.store.view import View
from lexloop_workbench.questions import next_questions

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
