"""Which questions are refused, and which answers are withheld."""

import json
from pathlib import Path

import pytest
from records import candidate

from lexloop import prompts
from lexloop.core.types import Candidate
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.guard import PromptGuard, QuestionGuard, RefusalClassifier
from lexloop.store.view import View

RULES = "one two three four five six seven eight nine ten"
INSTRUCTIONS = prompts.load("generate", {"passages", "triplets", "guidance", "question"}).system


@pytest.fixture
def guard(small: View) -> PromptGuard:
    return PromptGuard(small.embed, 0.8)


def test_a_recited_system_prompt_is_withheld_unless_the_question_has_it(
    guard: PromptGuard, small: View
) -> None:
    numbered = " ".join(f"{sentence}. [1]" for sentence in INSTRUCTIONS.split(". "))
    for recited in (INSTRUCTIONS, numbered):
        assert guard.withholds(recited, INSTRUCTIONS, "What do these rules say?")
    assert not guard.withholds(INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS)
    half = "one two three four five six seven eight nine ten and then something else entirely new"
    assert PromptGuard(small.embed, 0.1).withholds(half, RULES, "?")
    assert not PromptGuard(small.embed, 1.0).withholds(RULES, RULES, "?")


DATA = Path(__file__).parents[3] / "data"
KEPT_BACK = [
    json.loads(line)
    for line in (DATA / "refusal" / "kept_back.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def refuses() -> RefusalClassifier:
    return RefusalClassifier(load_minilm().embed, comparable=True)


def near(cosine: float) -> list[Candidate]:
    return [candidate("c1#0", "A.", dense=cosine)]


def test_orders_and_obscenities_are_refused_whatever_is_found(refuses: RefusalClassifier) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] != "irrelevant"]
    refused = [query for query in asked if refuses(query, query, near(0.9))]
    assert len(asked) == 39
    assert len(refused) >= 0.8 * len(asked)


def test_other_subjects_are_refused_unless_the_documents_are_about_them(
    refuses: RefusalClassifier,
) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] == "irrelevant"]
    assert sum(refuses(query, query, near(0.15)) for query in asked) >= 0.8 * len(asked)
    assert sum(refuses(query, query, near(0.9)) for query in asked) <= 0.35 * len(asked)


def test_a_question_is_on_the_subject_whose_telling_words_it_has(
    refuses: RefusalClassifier, small: View
) -> None:
    guard = QuestionGuard(small, 1.0, refuses)
    for question, refused in (("How many boats make a berth?", False), ("How many lions?", True)):
        assert refuses(question, question, near(0.2))
        assert guard.refuses(question, question, near(0.2)) is refused


def test_a_correction_is_no_order(refuses: RefusalClassifier) -> None:
    said, meant = "Sorry, the gas kiln.", "Where is the fee for the gas kiln paid?"
    assert refuses(said, said, near(0.9))
    assert not refuses(said, meant, near(0.9))


def test_without_a_cosine_that_can_be_compared_no_subject_is_refused(
    refuses: RefusalClassifier,
) -> None:
    question = "How many litres are in a gallon?"
    assert refuses(question, question, near(0.1))
    assert not refuses(question, question, [])
    lexical: list[Candidate] = [{**near(0.1)[0], "signals": {"lexical": 3.0}}]
    assert not refuses(question, question, lexical)
    assert not RefusalClassifier(load_minilm().embed, comparable=False)(
        question, question, near(0.1)
    )
