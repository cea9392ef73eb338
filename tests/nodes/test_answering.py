"""Statements that may answer: a question is none, and what follows one may answer it."""

import pytest
from indexes import view_of
from records import query

from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.answering import answering
from lexloop.store.view import View

FINE = "What is the fine for a first breach?"
OPEN = "The office opens at eight."


def read(text: str) -> tuple[View, list[Chunk]]:
    """A document as anybody sees it."""
    view = view_of(Document("a.md", "A", text), embedder=load_minilm())
    return view, list(view.every_chunk())


def left(text: str, question: str = FINE) -> list[tuple[str, str]]:
    """The statements of a text that may answer, each with the question that it answers."""
    view, chunks = read(text)
    asked = query(question, view)
    found = (one for chunk in chunks for one in answering(asked, chunk, view))
    return [(one.question, one.said.own) for one in found]


TOLD, KEPT = "The fine for a first breach is 20 euros.", "The Board orders how long fines are kept."


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        (FINE, f"{FINE}\n\n{OPEN}\n", [("", OPEN)]),
        (FINE, f"“{FINE}” is what many people ask.\n\n{OPEN}\n", [("", OPEN)]),
        (FINE, f"The fine for a first breach is __________\n\n{OPEN}\n", [("", OPEN)]),
        (FINE, f"{TOLD} {OPEN}\n", [("", TOLD), ("", OPEN)]),
        (
            FINE,
            f"{FINE}\n\nTwenty euros each.\n\nMay a dog be kept?\n\nNo dog may.\n",
            [(FINE, "Twenty euros each."), ("May a dog be kept?", "No dog may.")],
        ),
    ],
)
def test_what_only_asks_answers_nothing_and_what_follows_answers(
    question: str, text: str, answers: list[tuple[str, str]]
) -> None:
    assert left(text, question) == answers


def test_what_follows_a_single_question_stands_alone() -> None:
    view, chunks = read(f"## {FINE}\n\n{OPEN}\n")
    (alone,) = answering(query(FINE, view), chunks[0], view)
    assert alone.question == ""
    assert alone.vector @ view.embed([OPEN])[0] == pytest.approx(1.0, abs=1e-3)
