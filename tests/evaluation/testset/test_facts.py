"""What can be asked of sentences, worked by hand."""

import pytest

from lexloop.evaluation.testset.deeds import deeds
from lexloop.evaluation.testset.facts import read_facts
from lexloop.evaluation.testset.material import Material
from lexloop.evaluation.testset.of_deeds import asked_of
from lexloop.evaluation.testset.of_statements import asked_of_statement
from lexloop.evaluation.testset.wording import as_statement, from_reader, subject_of


def asked(sentence: str) -> list[str]:
    own = [found for deed in deeds(sentence) for found in asked_of(deed)]
    return [found.ask.direct() for found in (*asked_of_statement(sentence), *own)]


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("A permit is a written consent of the council.", "What is a permit?"),
        ("“Levy” means the yearly charge on each boat.", "What does the term 'Levy' mean?"),
        ("The purpose of the levy is to pay for the lock.", "What is the purpose of the levy?"),
        ("The mooring fee is $40 a week.", "How much is the mooring fee?"),
        (
            "Any person who moors without a permit is liable for a fine.",
            "What is a person who moors without a permit liable for?",
        ),
        (
            "The owner may moor a boat overnight if the harbour is not full.",
            "Under what conditions may the owner moor a boat overnight?",
        ),
        (
            "The owner must not paint a boat in the basin unless the warden agrees.",
            "Under what conditions may the owner paint a boat in the basin?",
        ),
        (
            "The owner must report a collision within 3 days of the collision.",
            "How soon after the collision must the owner report a collision?",
        ),
        (
            "The notice must be posted at least 10 days before the sale.",
            "How long before the sale must the notice be posted?",
        ),
        ("The owner must keep the log for at least 2 years.", "For how long must the owner keep "
         "the log?"),
        ("The warden must inspect the lock once a month.", "How often must the warden inspect the "
         "lock?"),
        ("The log must include the name of every guest.", "What must the log include?"),
        ("The order took effect on May 3, 2021.", "When did the order take effect?"),
        ("The bylaw was adopted on 4 June 2020.", "When was the bylaw adopted?"),
        ("The bylaw was adopted by the harbour board.", "By whom was the bylaw adopted?"),
        ("The bylaw has two parts: one on boats and one on fees.", "What two parts does the bylaw "
         "have?"),
        ("We use your phone number to send you warnings.", "For what purpose do you use my phone "
         "number?"),
    ],
)  # fmt: skip
def test_a_sentence_gives_its_question(sentence: str, question: str) -> None:
    assert question in asked(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It must include the name of every guest.",
        "Such notice must be posted at least 10 days before the sale.",
        "Permit has the meaning given in section 4.",
        "The requirements of paragraph (2) must be met within 3 days.",
        "",
        "?!",
        "( ( ( must must must",
    ],
)
def test_what_is_unclear_by_itself_is_not_asked(sentence: str) -> None:
    assert asked(sentence) == []


def test_words_to_the_reader_are_turned_round() -> None:
    assert from_reader("we share your data with us") == "you share my data with you"
    assert from_reader("if you are under 16") == "if I am under 16"
    assert from_reader("we tell you") == "you tell me"


def test_subjects_are_named_so_that_they_stand_alone() -> None:
    assert subject_of("Any owner") == "an owner"
    assert subject_of("This Agreement") == "the Agreement"
    assert subject_of("this notice of the sale") == "the notice of the sale"
    assert subject_of("this notice") == ""
    assert subject_of("its owner") == ""


def test_statements_are_whole_sentences() -> None:
    assert as_statement("Job posting: the notice is in a posting; and") == (
        "The notice is in a posting."
    )
    assert as_statement("The summary must include two things: a and b") == (
        "The summary must include two things: a and b."
    )


def test_statements_that_answer_one_question_are_one_answer(sample: Material) -> None:
    facts = {fact.ask.direct(): fact for fact in read_facts(sample)}
    fact = facts["What must the bias audit calculate?"]
    assert "selection rate" in fact.answer
    assert "impact ratio" in fact.answer
    assert fact.pieces == 2


def test_a_list_is_answered_with_all_its_items(contract: Material) -> None:
    facts = {fact.ask.direct(): fact for fact in read_facts(contract)}
    fact = facts["What must a delivery note state?"]
    for item in ("batch number", "net weight", "moisture test"):
        assert item in fact.answer
    assert "moisture test." in contract.quote(fact.spans[0])


def test_clauses_lose_their_numbers(contract: Material) -> None:
    fact = next(f for f in read_facts(contract) if "price" in f.ask.direct().lower())
    assert not fact.answer[0].isdigit()


def test_what_a_thing_must_give_is_part_of_what_it_must_include(sample: Material) -> None:
    facts = {fact.ask.direct(): fact for fact in read_facts(sample)}
    answer = facts["What must the summary of results include?"].answer
    assert "five things" in answer
    assert "the number of applicants in each category" in answer
    assert "What must the summary of results give?" not in facts
