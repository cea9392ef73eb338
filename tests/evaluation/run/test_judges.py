"""What keeps one row from speeding up another, and one question from changing the next."""

import numpy as np
import pytest

from lexloop.evaluation.run.judges import CaseCache, OneByOne
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import load_minilm

TEXTS = ["A bias audit is impartial.", "Who pays the penalty?"]


@pytest.fixture
def embedder() -> Embedder:
    return load_minilm()


def test_one_by_one_the_company_of_a_text_does_not_show(embedder: Embedder) -> None:
    whole, reverse = OneByOne(embedder), OneByOne(embedder)
    assert np.array_equal(whole.embed(TEXTS), reverse.embed(TEXTS[::-1])[::-1])
    assert whole.embed([]).shape == (0, embedder.dimension)


def test_what_is_known_is_known_of_one_question() -> None:
    once = CaseCache()
    found: list[str] = []
    for question in ("a", "a", "b"):
        once.about(question)
        found.append(once.get("key", question.upper))
        found.append(once.get("key", lambda: "made anew"))
    assert found == ["A", "A", "A", "A", "B", "B"]
