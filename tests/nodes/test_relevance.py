"""The one measure of relevance, on the small statute."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lexloop.corpus.index.view import View
from lexloop.nodes.relevance import (
    CENTRE,
    CLOSENESS,
    COVERAGE,
    DEFINITION,
    NEWS,
    PART,
    coverage,
    relevance,
    understand,
)


def test_coverage_weighs_terms_by_rarity(small: View) -> None:
    # "notic" stands in 1 of 9 chunks, "harbour" in all: titles are searched too
    rare, common = math.log(1 + 9 / 1.5), math.log(1 + 9 / 9.5)
    assert small.rarity("notic") == pytest.approx(rare)
    assert small.rarity("harbour") == pytest.approx(common)
    wanted = frozenset({"notic", "harbour"})
    covered = coverage(wanted, frozenset({"notic", "x"}), small)
    assert covered == pytest.approx(rare / (rare + common))


def test_coverage_of_nothing_and_by_nothing(small: View) -> None:
    assert coverage(frozenset(), frozenset({"fee"}), small) == 1.0
    assert coverage(frozenset({"fee"}), frozenset(), small) == 0.0
    assert coverage(frozenset({"fee"}), frozenset({"fee"}), small) == 1.0


def test_a_question_is_understood_in_parts(small: View) -> None:
    asked = understand("What is a hull inspection and who must do it?", small)
    assert asked.parts == ["What is a hull inspection", "who must do a hull inspection?"]
    assert asked.vectors.shape == (4, 384)
    assert asked.definitions == ["hull inspection", None]
    assert asked.terms == [frozenset({"hull", "inspect"}), frozenset({"must", "hull", "inspect"})]
    assert asked.all_terms == frozenset({"must", "hull", "inspect"})
    assert not asked.vague
    assert understand("What is it?", small).vague


def test_relevance_by_hand(small: View) -> None:
    question = "Which sum does a boat owner pay for a berth?"
    asked = understand(question, small)
    texts = ["A boat owner pays a sum for the use of a berth.", "| a row | of a table |"]
    vectors = small.embed(texts)
    cosines = small.embed([question]) @ vectors.T
    every = frozenset({"sum", "boat", "owner", "pay", "berth"})
    assert asked.all_terms == every
    # the first statement holds all five terms and one more; the second none and two more
    expected = np.array(
        [
            (CLOSENESS + PART) * cosines[0, 0] + COVERAGE * 1.0 + NEWS * 1 / 8,
            (CLOSENESS + PART) * cosines[0, 1] + COVERAGE * 0.0 + NEWS * 2 / 8 - 0.1,
        ]
    )
    scores = relevance(asked, texts, vectors, small)
    assert scores.shape == (1, 2)
    assert scores[0] == pytest.approx(expected, abs=1e-5)


def test_a_definition_that_is_asked_for_counts_more(small: View) -> None:
    asked = understand("What is a hull inspection, and who does one?", small)
    plain = replace(asked, definitions=[None] * len(asked.parts))
    texts = ["A hull inspection is a check.", "The owner pays for a hull inspection."]
    vectors = small.embed(texts)
    gained = relevance(asked, texts, vectors, small) - relevance(plain, texts, vectors, small)
    assert gained == pytest.approx(np.array([[DEFINITION, 0.0], [0.0, 0.0]]), abs=1e-6)


def test_a_vague_question_is_led_by_what_the_documents_are_about(small: View) -> None:
    asked = understand("What is it?", small)
    text = ["The owner pays."]
    vectors = small.embed(text)
    cosine = float((asked.vectors[:2] @ vectors.T).max())
    part = float(asked.vectors[2] @ vectors[0])
    centre = float(vectors[0] @ small.centre())
    expected = CLOSENESS * cosine + PART * part + COVERAGE + NEWS * 2 / 8 + CENTRE * centre
    assert relevance(asked, text, vectors, small)[0, 0] == pytest.approx(expected, abs=1e-5)


def test_no_statements_have_no_relevance(small: View) -> None:
    asked = understand("What is a berth?", small)
    assert relevance(asked, [], small.embed([]), small).shape == (1, 0)


def test_the_answering_statement_is_the_most_relevant(small: View) -> None:
    texts = [s.text for chunk in small.every_chunk() for s in small.statements(chunk["id"])[0]]
    vectors = np.concatenate([small.statements(chunk["id"])[1] for chunk in small.every_chunk()])
    for question, expected in (
        ("What is a mooring fee?", '"Mooring fee" means'),
        ("When must the owner pay the mooring fee?", "A boat owner must pay"),
        ("Which boats are exempt from the fee?", "A boat shorter than 4 metres"),
    ):
        scores = relevance(understand(question, small), texts, vectors, small).max(axis=0)
        assert texts[int(scores.argmax())].startswith(expected)
