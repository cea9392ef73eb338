"""Statements that may answer: a question is none, and what follows one may answer it."""

import pytest
from records import query

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.answering import answering
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

FINE = "What is the fine for a first breach?"
OPEN = "The office opens at eight."


def read(text: str) -> tuple[View, list[Chunk]]:
    """A document as anybody sees it."""
    documents = [Document("a.md", "A", text)]
    view = build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())
    return view, list(view.every_chunk())


def left(text: str, question: str = FINE) -> list[tuple[str, str]]:
    """The statements of a text that may answer, each with the question that it answers."""
    view, chunks = read(text)
    asked = query(question, view)
    found = (one for chunk in chunks for one in answering(asked, chunk, view))
    return [(one.question, one.said.own) for one in found]


@pytest.mark.parametrize(
    "repeated",
    [
        FINE,
        f"“{FINE}” is what many people ask.",
        "The fine for a first breach is __________",
    ],
)
def test_what_only_asks_answers_nothing(repeated: str) -> None:
    assert left(f"{repeated}\n\n{OPEN}\n") == [("", OPEN)]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (FINE, "The fine for a first breach is 20 euros."),
        ("How long must records be kept?", "The Board orders how long records must be kept."),
    ],
)
def test_what_tells_more_than_the_question_may_answer(question: str, said: str) -> None:
    assert left(f"{said} {OPEN}\n", question) == [("", said), ("", OPEN)]


def test_of_several_questions_each_is_answered_by_what_follows() -> None:
    text = f"{FINE}\n\nTwenty euros each.\n\nMay a dog be kept?\n\nNo dog may.\n"
    assert left(text) == [(FINE, "Twenty euros each."), ("May a dog be kept?", "No dog may.")]


def test_what_follows_a_single_question_stands_alone() -> None:
    view, chunks = read(f"## {FINE}\n\n{OPEN}\n")
    (alone,) = answering(query(FINE, view), chunks[0], view)
    assert alone.question == ""
    assert alone.vector @ view.embed([OPEN])[0] == pytest.approx(1.0, abs=1e-3)
