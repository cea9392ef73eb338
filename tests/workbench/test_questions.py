"""Questions to ask of documents at first, and after an answer."""

from typing import Any

import pytest
from indexes import view_of

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.store.view import View
from lexloop.workbench.questions import first_questions, next_questions

RULES = """Harbour Act

Article 1 Definitions
"Berth" means a place where a boat lies.
"Keeper of a berth" means whoever has paid for it.

Article 2 Fees
1. The keeper of a berth shall pay a fee of 30 euro.
2. The fee is due on 31 March.

Article 3 Hardship
Article 2(1) shall not apply to wrecks.

Article 4 PENALTIES
Whoever does not pay is liable to a fine.

Article 5 Entry into force
This Act is in force from 1 May.
"""


def document(name: str, text: str) -> Document:
    return Document(name, name, text, Metadata())


@pytest.fixture(scope="module")
def rules() -> View:
    return view_of(document("act.txt", RULES), document("notes.txt", "No heading is here."))


def cited(quote: str, name: str = "act.txt", text: str = RULES) -> dict[str, Any]:
    start = text.index(quote)
    return {"document": name, "start": start, "end": start + len(quote), "quote": quote}


def test_the_first_questions_ask_for_a_breach_and_for_terms_in_turn(rules: View) -> None:
    assert first_questions(rules) == [
        "What does Article 4 say about “Penalties”?",
        "What is meant by “Berth”?",
        "What does Article 2 say about “Fees”?",
        "What is meant by “Keeper of a berth”?",
        "What does Article 3 say about “Hardship”?",
    ]
    assert first_questions(rules, 1) == ["What does Article 4 say about “Penalties”?"]


def test_documents_are_asked_in_turn_and_headings_that_ask_are_asked_as_they_are() -> None:
    faq = "# Dogs\n\n## Who needs a licence?\n\nKeepers.\n\n## Fees\n\nIt costs 40 euro.\n"
    found = first_questions(view_of(document("act.txt", RULES), document("faq.md", faq)), 3)
    assert found == [
        "What does Article 4 say about “Penalties”?",
        "Who needs a licence?",
        "What is meant by “Berth”?",
    ]


@pytest.mark.parametrize("text", ["", "No heading is here.", "\n\n\n"])
def test_documents_that_head_and_define_nothing_give_no_questions(text: str) -> None:
    assert first_questions(view_of(document("a.txt", text))) == []


def test_no_documents_give_no_questions() -> None:
    assert first_questions(view_of()) == []


def test_an_answer_leads_to_its_terms_exceptions_penalties_and_what_stands_next(
    rules: View,
) -> None:
    quote = cited("1. The keeper of a berth shall pay a fee of 30 euro.")
    assert next_questions(rules, "What does it cost?", [quote]) == [
        "What is meant by “Keeper of a berth”?",
        "What are the exceptions to Article 2(1)?",
        "What does Article 4 say about “Penalties”?",
        "What does Article 3 say about “Hardship”?",
    ]


def test_what_was_asked_is_not_asked_again(rules: View) -> None:
    quote = cited("1. The keeper of a berth shall pay a fee of 30 euro.")
    asked = "What are the exceptions to Article 2(1) and in Article 4 for a keeper of a berth?"
    found = next_questions(rules, asked, [quote])
    assert found == ["What does Article 3 say about “Hardship”?"]


def test_a_definition_is_not_asked_of_itself_and_the_last_provision_has_none_next(
    rules: View,
) -> None:
    own = next_questions(rules, "What is it?", [cited('"Berth" means a place where a boat lies.')])
    assert not any("“Berth”" in one for one in own)
    last = next_questions(rules, "When?", [cited("This Act is in force from 1 May.")])
    assert last == ["What does Article 4 say about “Penalties”?"]


def test_citations_of_what_is_there_no_more_lead_to_nothing(rules: View) -> None:
    gone = cited("The fee is due on 31 March.") | {"document": "gone.txt"}
    assert next_questions(rules, "When?", [gone]) == []
    assert next_questions(rules, "When?", []) == []
