"""The embedded generator: whether documents answer, what it answers with, or that it abstains."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest
from indexes import passages_of, view_of
from records import query
from sets import rows

from lexloop.core.running import waited
from lexloop.core.types import Draft, Part, Passage
from lexloop.documents.document import Document
from lexloop.graph.app import graph
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate import extractive
from lexloop.nodes.generate.answerable import (
    AnswerabilityFeatures,
    lacks,
    probability_found,
    probability_there,
    read_features,
    without_fact,
)
from lexloop.nodes.generate.extractive import ExtractiveGenerator
from lexloop.nodes.generate.score import score_quotables
from lexloop.nodes.question.parts import parse
from lexloop.nodes.relevance import Query
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]
Answer = Callable[..., Draft]


@pytest.fixture
def answer(small: View, passages: Passages) -> Answer:
    def run(question: str) -> Draft:
        generator = ExtractiveGenerator(small)
        return waited(generator.generate(parse(question), passages(), [], None))

    return run


QUESTION = "When must the owner pay the mooring fee?"


@pytest.mark.parametrize(("there", "near"), [(0.09, 0), (0.1, 2), (0.4, None)])
def test_what_comes_near_an_answer_is_shown(
    answer: Answer, small: View, monkeypatch: pytest.MonkeyPatch, there: float, near: int | None
) -> None:
    monkeypatch.setattr(extractive, "probability_there", lambda _: there)
    monkeypatch.setattr(extractive, "probability_found", lambda _: 0.25)
    draft = answer(QUESTION)
    assert draft["abstained"] is (near is not None)
    assert draft["answers"] == (0.25 if near is None else None)
    assert [citation["n"] for citation in draft["near"]] == [1, 2][: near or 0]
    assert not near or draft["near"][0]["quote"].endswith("within 10 business days of arrival.")
    for citation in draft["near"]:
        source = small.text_of(citation["document"]) or ""
        assert source[citation["start"] : citation["end"]] == citation["quote"]


def test_the_parts_that_are_not_answered_are_named(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "What is the e-mail address of the harbour master?"
    asked: list[str] = []
    read = extractive.read_features

    def reading(about: Query, *rest: Any) -> Any:
        asked.append(about.text)
        return read(about, *rest)

    monkeypatch.setattr(extractive, "read_features", reading)
    # the question as a whole is answered; alone, the part that lacks its fact is not
    there = {address: 0.39}
    monkeypatch.setattr(extractive, "probability_there", lambda _: there.get(asked[-1], 0.4))
    assert answer(f"{QUESTION} {address}")["unanswered"] == [address]
    assert answer(f"{QUESTION} What is a berth?")["unanswered"] == []
    assert answer(address)["abstained"]


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        (QUESTION, []),
        (
            "When must a zeppelin or a Zeppelin pay its mooring fee?",
            ["Not in the documents: “zeppelin”."],
        ),
        # words that only ask are not missing, nor others beside an answer
        ("What does it say, in detail, of the mooring fee that the owner must pay?", []),
        ("What is an owner?", ["No definition of “owner” was found."]),
        (
            "Which phone number has the harbour master?",
            ["What comes nearest gives no address or number to call."],
        ),
    ],
)
def test_what_lacks_is_named(answer: Answer, question: str, lacking: list[str]) -> None:
    assert answer(question)["lacks"] == lacking


@pytest.mark.parametrize(
    ("question", "findings"),
    [
        ("What is a bias audit?", ["answers", "answers", "answers"]),
        ("What must be on the website?", ["answers", "answers", "in part"]),
        ("How are categories counted?", ["answers", "in part", "in part"]),
        ("May the landlord enter at night?", ["in part", "near", "near"]),
    ],
)
def test_the_more_a_wrong_answer_costs_the_less_is_given_and_passed(
    question: str, findings: list[str]
) -> None:
    asked = [
        graph.invoke({"question": question}, context={"loop.care": care})["finding"]
        for care in ("low", "normal", "high")
    ]
    assert asked == findings


FERRIES = """FERRY ACT
3. Sale of tickets
(1) A person who sells a forged ticket commits an offence.
(2) A person convicted under this section is liable to a fine not exceeding nine hundred pounds.

4. Smoking
(1) No passenger may smoke below deck.
(2) Whoever contravenes subsection (1) is liable to a fine not exceeding forty pounds.

5. Crew
The captain appoints the crew.
"""


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What happens to a person who sells forged tickets?", "3"),
        ("What is the fine for smoking below deck?", "4"),
    ],
)
def test_an_offence_is_quoted_with_its_penalty(question: str, number: str) -> None:
    view = view_of(Document("act.txt", "Ferry Act", FERRIES), embedder=load_minilm())
    draft = waited(ExtractiveGenerator(view).generate(parse(question), passages_of(view), [], None))
    [_, first, second, *_] = FERRIES[FERRIES.index(f"{number}. ") :].split("\n")
    assert draft["answer"] == f"{first[4:]} [1] {second[4:]} [1]"


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
