"""Follow-ups made to stand alone: what a turn leans on is written out of what was said before."""

import time

import pytest

from lexloop.core.types import Turn
from lexloop.nodes.rewrite import leans_on_history, resolved


def user(*contents: str) -> list[Turn]:
    return [{"role": "user", "content": content} for content in contents]


ANSWERED: list[Turn] = [
    {"role": "user", "content": "I am off in winter. Can my boat stay here?"},
    {"role": "assistant", "content": "They may.", "about": "Winter storage", "at": "Article 9"},
]
INSPECTED = user("When must a hull be inspected?", "Who pays for it?")
QUAY = user("Who owns the quay?", "And the Board?")


@pytest.mark.parametrize(
    ("said", "question", "standalone"),
    [
        (user("I would like to know about bias audits"), "What is it?", "What are bias audits?"),
        (user("What is a mooring fee?"), "Who pays it?", "Who pays a mooring fee?"),
        (user("What is a fee?"), "What about its penalties?", "What about the penalties of a fee?"),
        (user("Who must pay the mooring fee?"), "Why?", "Why, regarding the mooring fee?"),
        # nobody named a thing: the assistant's words name none
        ([], "What is it?", "What is it?"),
        ([{"role": "assistant", "content": "The fee is $5."}], "What is it?", "What is it?"),
        # a provision stands alone, a paragraph is one of the provision named before
        (user("What does Article 17 say?"), "And Article 18?", "And Article 18?"),
        (user("Explain § 5."), "And paragraph 2?", "And paragraph 2 of § 5?"),
        (user("Hello!"), "What does paragraph 2 say?", "What does paragraph 2 say?"),
        # a turn that leans on one that leans is about the same
        (INSPECTED, "What about yachts?", "What about yachts, regarding a hull?"),
        (QUAY, "Who sits on it?", "Who sits on the Board?"),
        ([*QUAY, *user("Who sits on it?")], "How does it decide?", "How does the Board decide?"),
        # where the last answer on the topic comes from is the context
        (ANSWERED, "Can that be extended?", "Can that be extended, regarding Winter storage?"),
        (ANSWERED, "And paragraph 3?", "And paragraph 3 of Article 9?"),
        ([*ANSWERED, *user("Explain § 4.")], "And paragraph 3?", "And paragraph 3 of § 4?"),
        (ANSWERED, "What is demurrage?", "What is demurrage?"),
    ],
)
def test_what_it_leans_on_is_written_out(said: list[Turn], question: str, standalone: str) -> None:
    assert resolved(question, said) == standalone


@pytest.mark.parametrize(
    ("question", "leans"),
    [
        ("What is it?", True),
        ("And the penalty?", True),
        ("Which courts?", True),
        ("What is needed?", True),
        ("Who can sue?", False),
        ("What is demurrage?", False),
    ],
)
def test_leaning(question: str, leans: bool) -> None:
    assert leans_on_history(question) is leans


def test_a_conversation_of_200_turns_grows_no_question() -> None:
    history = user("What is a mooring fee?", *["And for yachts, must they pay it?"] * 200)
    assert len(resolved("And its penalty?", history)) < 120
    began = time.process_time()
    for letters in ("a", "[", "it ", "and what about ", "§ 5(", "who ", "who can impose a fee "):
        one = user(*[letters * (100_000 // len(letters))] * 30)
        for question in ("And to them?", "And paragraph 3?", "Why?"):
            assert len(resolved(question, one)) < 5_000
    assert time.process_time() - began < 6.0
