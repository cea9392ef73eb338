"""Whether the documents answer a question, read off the statements nearest to it."""

from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from records import query
from sets import rows

from lexloop.core.types import Part, Passage
from lexloop.nodes.generate.answerable import (
    AnswerabilityFeatures,
    lacks,
    probability_found,
    probability_there,
    read_features,
    without_fact,
)
from lexloop.nodes.generate.score import score_quotables
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]


@pytest.mark.parametrize("question", ["?", "a" * 3000])
def test_features_of_any_text_lie_in_their_range(
    small: View, passages: Passages, question: str
) -> None:
    asked = query(question, small)
    scored = score_quotables(asked, passages(), small)
    assert scored is not None
    found = read_features(asked, scored, small)
    for field in fields(AnswerabilityFeatures):
        assert -1.0 <= getattr(found, field.name) <= 2.0
    assert 0.0 <= probability_there(found) <= 1.0
    assert 0.0 <= probability_found(found) <= 1.0


def test_beside_an_answer_only_names_and_numbers_lack_and_no_word_of_an_earlier_question(
    small: View, passages: Passages
) -> None:
    asked = query("Must a zeppelin moor at Amsterdam, like a kayak?", small)
    scored = score_quotables(asked, passages(), small)
    assert scored is not None
    assert lacks(asked, scored, small) == [
        "Not in the documents: “zeppelin”, “amsterdam”, “kayak”."
    ]
    assert lacks(asked, scored, small, given=True) == ["Not in the documents: “amsterdam”."]
    part: Part = {**asked.parts[0], "earlier": ["amsterdam", "kayak"]}
    later = replace(asked, parts=[part])
    assert lacks(later, scored, small) == ["Not in the documents: “zeppelin”."]


@pytest.mark.parametrize(("question", "answer", "lacking"), rows("without_fact"))
def test_an_answer_without_the_kind_of_fact_asked_for_lacks_it(
    small: View, question: str, answer: str, lacking: bool
) -> None:
    assert bool(without_fact(query(question, small), answer)) is lacking
