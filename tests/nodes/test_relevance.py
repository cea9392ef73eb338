"""Relevance: definitions and lists that are asked for, and the measure by hand."""

import numpy as np
import pytest
from records import query

from lexloop.core.types import ParsedQuestion, Part
from lexloop.documents.chunks.statements import Statement
from lexloop.nodes.question.parts import parse, part_of
from lexloop.nodes.relevance import CLOSENESS, COVERAGE, EARLIER, LIST, PART, query_of, relevance
from lexloop.store.view import View


def said(*texts: str, points: int = 0) -> list[Statement]:
    return [Statement(0, len(text), (), "", "", text, points) for text in texts]


def test_relevance_by_hand(small: View) -> None:
    question = "Which sum does a boat owner pay for a berth?"
    asked = query(question, small)
    texts = ["A boat owner pays a sum for the use of a berth.", "| a row | of a table |"]
    vectors = small.embed(texts)
    cosines = small.embed([question]) @ vectors.T
    every = frozenset({"sum", "boat", "owner", "pay", "berth"})
    assert asked.all_terms.keys() == every
    # the first statement holds all five terms, the second none
    expected = np.array(
        [
            (CLOSENESS + PART) * cosines[0, 0] + COVERAGE * 1.0,
            (CLOSENESS + PART) * cosines[0, 1] + COVERAGE * 0.0,
        ]
    )
    scores = relevance(asked, said(*texts), vectors, small)
    assert scores.shape == (1, 2)
    assert scores[0] == pytest.approx(expected, abs=1e-5)


def test_a_list_gains_where_several_things_are_asked_for(small: View) -> None:
    texts = ["A hull inspection must include:", "The owner pays for a hull inspection."]
    vectors = small.embed(texts)
    for question, gain in (
        ("What must a hull inspection include?", LIST),
        ("Who pays for a hull inspection?", 0.0),
    ):
        asked = query(question, small)
        plain = relevance(asked, said(*texts), vectors, small)
        listed = [*said(texts[0], points=3), *said(texts[1])]
        found = relevance(asked, listed, vectors, small)
        assert found - plain == pytest.approx(np.array([[gain, 0.0]]), abs=1e-6)


def test_a_word_of_an_earlier_question_weighs_less_and_an_unknown_one_of_asking_nothing(
    small: View,
) -> None:
    asked = "What amount is the fee for a berth?"
    part: Part = {**part_of(asked), "earlier": ["berth"]}
    terms = query_of({**parse(asked), "parts": [part]}, small).terms[0]
    assert not small.knows("amount")
    assert terms == {"fee": small.idf("fee"), "berth": EARLIER * small.idf("berth")}


def test_a_wording_of_a_model_counts_for_the_part_that_it_is_nearest_to(small: View) -> None:
    asked = parse("What does a place for a boat cost, and who looks at the hull?")
    queries = ["sum that a boat owner pays for a berth"]
    worded: ParsedQuestion = {**asked, "queries": queries, "reworded": True}
    texts = ["A boat owner pays a sum for the use of a berth.", "The hull is looked at."]
    vectors = small.embed(texts)
    plain = query_of(asked, small)
    query_with = query_of(worded, small)
    before = relevance(plain, said(*texts), vectors, small)
    after = relevance(query_with, said(*texts), vectors, small)
    cosine = float(small.embed([queries[0]])[0] @ vectors[0])
    # the statement holds all five terms of the wording
    assert after[0, 0] == pytest.approx((CLOSENESS + PART) * cosine + COVERAGE, abs=1e-5)
    assert after[0, 0] > before[0, 0]
    assert after[1] == pytest.approx(before[1], abs=1e-6)
    assert query_with.read(0).endswith("sum that a boat owner pays for a berth")
    assert query_with.read(1) == plain.read(1)
