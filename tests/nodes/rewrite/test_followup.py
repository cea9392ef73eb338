"""Follow-ups made to stand alone."""

import time

import pytest

from lexloop.core.types import Turn
from lexloop.nodes.rewrite import _followed, leans_on_history, resolved


def user(*contents: str) -> list[Turn]:
    return [{"role": "user", "content": content} for content in contents]


def standalone_question(question: str, history: list[Turn]) -> str:
    return resolved(question, history)


@pytest.mark.parametrize(
    ("question", "said", "standalone"),
    [
        ("What is it?", "I would like to know about bias audits", "What are bias audits?"),
        ("Who pays it?", "What is a mooring fee?", "Who pays a mooring fee?"),
        (
            "What about its penalties?",
            "I want to know about hull inspections",
            "What about the penalties of hull inspections?",
        ),
        ("Why?", "Who must pay the mooring fee?", "Why, regarding the mooring fee?"),
    ],
)
def test_what_it_leans_on_is_written_out(question: str, said: str, standalone: str) -> None:
    assert standalone_question(question, user(said)) == standalone


def test_the_assistant_names_no_topic() -> None:
    history: list[Turn] = [{"role": "assistant", "content": "The mooring fee is $1,500."}]
    assert _followed(history).topic is None
    assert standalone_question("What is it?", history) == "What is it?"


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("What is it?", True),
        ("And the penalty?", True),
        ("Which courts?", True),
        ("Who can sue?", False),
        ("What is demurrage?", False),
        ("What is needed?", True),
        ("What is the penalty for mooring without an inspection?", False),
    ],
)
def test_leaning(question: str, leans: bool) -> None:
    assert leans_on_history(question) is leans


@pytest.mark.parametrize(
    ("question", "said", "standalone"),
    [
        ("And what about Article 18?", "What does Article 17 say?", "And what about Article 18?"),
        (
            "What does paragraph 2 say?",
            "What does Article 17 say?",
            "What does paragraph 2 of Article 17 say?",
        ),
        ("What does paragraph 2 say?", "Hello!", "What does paragraph 2 say?"),
    ],
)
def test_a_provision_stands_alone_and_a_paragraph_in_the_one_named_before(
    question: str, said: str, standalone: str
) -> None:
    assert standalone_question(question, user(said)) == standalone


INSPECTED = ("When must a hull be inspected?", "Who pays for it?")


@pytest.mark.parametrize(
    ("question", "said", "standalone"),
    [
        ("What about yachts?", INSPECTED, "What about yachts, regarding a hull?"),
        ("Can that be extended?", INSPECTED, "Can that be extended, regarding a hull?"),
        ("Who sits on it?", ("Who owns the quay?", "And the Board?"), "Who sits on the Board?"),
        (
            "How does it decide?",
            ("Who owns the quay?", "And the Board?", "Who sits on it?"),
            "How does the Board decide?",
        ),
        ("And the Board?", ("Who owns the quay?",), "And the Board, regarding the quay?"),
    ],
)
def test_a_turn_that_leans_on_one_that_leans_is_about_the_same(
    question: str, said: tuple[str, ...], standalone: str
) -> None:
    assert standalone_question(question, user(*said)) == standalone


ANSWERED: list[Turn] = [
    {"role": "user", "content": "I am off in winter. Can my boat stay here?"},
    {"role": "assistant", "content": "They may.", "about": "Winter storage", "at": "Article 9"},
]


@pytest.mark.parametrize(
    ("question", "since", "standalone"),
    [
        ("Can that be extended?", (), "Can that be extended, regarding Winter storage?"),
        ("And if not?", ("And the sails?",), "And if not, regarding Winter storage?"),
        ("And paragraph 3?", (), "And paragraph 3 of Article 9?"),
        ("And paragraph 3?", ("What does § 4 say?",), "And paragraph 3 of § 4?"),
        ("What is demurrage?", (), "What is demurrage?"),
    ],
)
def test_where_the_last_answer_on_the_topic_comes_from_is_the_context(
    question: str, since: tuple[str, ...], standalone: str
) -> None:
    assert standalone_question(question, [*ANSWERED, *user(*since)]) == standalone


def test_a_provision_that_the_user_named_goes_before_that_of_the_answer() -> None:
    answer: Turn = {"role": "assistant", "content": "Boats.", "about": "Boats", "at": "Article 7"}
    history = [*user("What does Article 5 say of boats?"), answer]
    assert standalone_question("and paragraph 3?", history) == "and paragraph 3 of Article 5?"
    unnumbered = [*user("Tell me about boats"), Turn({**answer, "at": "Boats"})]
    assert (
        standalone_question("and paragraph 3?", unnumbered) == "and paragraph 3, regarding Boats?"
    )


def test_a_conversation_of_200_turns_grows_no_question() -> None:
    history = user("What is a mooring fee?", *["And for yachts, must they pay it?"] * 200)
    assert len(standalone_question("And its penalty?", history)) < 120
    long = user(*["Who can " + "impose the fee " * 10_000] * 30)
    began = time.process_time()
    assert len(standalone_question("And twice?", long)) < 400
    for letters in ("a", "[", "it ", "and what about ", "§ 5(", "who "):
        one = user(*[letters * (100_000 // len(letters))] * 200)
        for question in ("And to them?", "And paragraph 3?", "Why?"):
            assert len(resolved(question, one)) < 5_000
    assert time.process_time() - began < 6.0
