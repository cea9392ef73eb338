"""What keeps one row from speeding up another, and one question from changing the next."""

import numpy as np
import pytest

from lexloop.evaluation.run.judges import CaseCache, Metered, OneByOne
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import load_minilm

TEXTS = ["A bias audit is impartial.", "Who pays the penalty?"]


@pytest.fixture
def embedder() -> Embedder:
    return load_minilm()


def test_a_batch_is_made_once_and_what_that_saved_is_known(embedder: Embedder) -> None:
    meter = Metered(embedder)
    first = meter.embed(TEXTS)
    assert meter.saved_s == 0.0
    assert meter.embed(TEXTS) is first
    cost = meter.saved_s
    assert cost > 0.0
    # another batch is other work, though it holds a text that is known
    meter.embed(TEXTS[:1])
    assert meter.saved_s == cost
    meter.clear()
    assert np.array_equal(meter.embed(TEXTS), first)
    assert meter.saved_s == cost


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
