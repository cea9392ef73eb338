"""Statements that may answer: a question is none, and what follows one may answer it."""

import pytest
from indexes import view_of
from records import query
from sets import rows

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


@pytest.mark.parametrize(("text", "answers"), rows("answering"))
def test_what_only_asks_answers_nothing_and_what_follows_answers(
    text: str, answers: list[list[str]]
) -> None:
    view, chunks = read(text)
    asked = query(FINE, view)
    found = (one for chunk in chunks for one in answering(asked, chunk, view))
    assert [[one.question, one.statement.own] for one in found] == answers


def test_what_follows_a_single_question_stands_alone() -> None:
    view, chunks = read(f"## {FINE}\n\n{OPEN}\n")
    (alone,) = answering(query(FINE, view), chunks[0], view)
    assert alone.question == ""
    assert alone.vector @ view.embed([OPEN])[0] == pytest.approx(1.0, abs=1e-3)
