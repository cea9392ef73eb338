"""Lists answered whole, or by the one point that is asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Passage
from lexloop.corpus.index.assemble import build_collection
from lexloop.corpus.index.view import View
from lexloop.corpus.load.document import Document
from lexloop.corpus.opening import tools_for
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.generate.extractive import ExtractiveGenerator
from lexloop.nodes.generate.lists import list_asked
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.selection import Evidence
from lexloop.nodes.relevance import understand

FERRIES = """\
Ferry Act

Article 1
Definitions
For the purposes of this Act:
(1) ‘ferry’ means a vessel that carries passengers, including:
(a) a raft;
(b) a tug;
(2) ‘crew’ means those who work on a ferry.

Article 2
Log of voyages
1. The master of a ferry shall keep a log of voyages, which contains:
(a) the name of the vessel;
(b) the number of passengers carried, where it exceeds 12;
(c) the weather; and
(d) a description of every collision. Its date is given.
2. The log shall be kept for 5 years. However, the harbour board may extend that period.

Article 3
Fines
A master who keeps no log is liable to a fine of 500 euro, unless:
(a) the ferry was laid up; or
(b) the board had exempted the ferry.
"""
NAME = "act2019.txt"
LOG = [
    "Article 2(1) — Log of voyages:",
    "1. The master of a ferry shall keep a log of voyages, which contains: [1]",
    "(a) the name of the vessel; [1]",
    "(b) the number of passengers carried, where it exceeds 12; [1]",
    "(c) the weather; and [1]",
    "(d) a description of every collision. [1] Its date is given. [1]",
]
LEAD = "The master of a ferry shall keep a log of voyages, which contains:"
Answer = Callable[..., Draft]


@pytest.fixture(scope="module")
def ferries() -> View:
    documents = [Document(NAME, "Ferry Act", FERRIES)]
    return build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())


def given(view: View) -> list[Passage]:
    chunks = enumerate(view.every_chunk(), 1)
    return [{**chunk, "score": 1.0, "signals": {}, "n": n} for n, chunk in chunks]


@pytest.fixture
def answer(ferries: View, finish: Callable[[Any], Draft]) -> Answer:
    def run(question: str, max_words: int = 800) -> Draft:
        generator = ExtractiveGenerator(ferries, max_words)
        return finish(generator.generate(question, given(ferries), [], None))

    return run


def problems(view: View, draft: Draft) -> list[str]:
    return citation_problems(draft.answer, draft.citations, view.text_of, draft.told)


def test_a_list_is_answered_whole_heading_first(ferries: View, answer: Answer) -> None:
    draft = answer("What must the log of voyages contain?")
    assert draft.answer.split("\n") == LOG
    assert [(c["n"], c["section"]) for c in draft.citations] == [(1, "Article 2(1)")]
    assert draft.citations[0]["quote"].startswith("1. The master")
    assert draft.citations[0]["quote"].endswith("Its date is given.")
    assert draft.told == LOG[:1]
    assert problems(ferries, draft) == []


@pytest.mark.parametrize(
    ("question", "label", "said"),
    [
        (
            "What does the log say of the number of passengers?",
            "Article 2(1)(b)",
            "the number of passengers carried, where it exceeds 12;",
        ),
        ("Must the log contain the weather?", "Article 2(1)(c)", "the weather; and"),
    ],
)
def test_the_one_point_that_is_asked_for_stands_alone_after_its_lead_in(
    ferries: View, answer: Answer, question: str, label: str, said: str
) -> None:
    draft = answer(question)
    assert draft.answer == f"{LEAD} {said} [1]"
    [citation] = draft.citations
    assert (citation["section"], citation["lead"]) == (label, LEAD)
    [[start, end]] = citation["lead_spans"]
    assert FERRIES[start:end] == f"1. {LEAD}"
    assert problems(ferries, draft) == []


def test_a_definition_is_quoted_with_all_its_points(ferries: View, answer: Answer) -> None:
    draft = answer("What is a ferry?")
    assert draft.answer.split("\n") == [
        "Article 1(1) — Definitions:",
        "For the purposes of this Act: [1]",
        "(1) ‘ferry’ means a vessel that carries passengers, including: [2]",
        "(a) a raft; [2]",
        "(b) a tug; [2]",
    ]
    assert [c["section"] for c in draft.citations] == ["Article 1", "Article 1(1)"]
    assert problems(ferries, draft) == []


def test_of_a_list_of_definitions_the_one_asked_for_is_quoted(answer: Answer) -> None:
    draft = answer("What is crew?")
    assert (
        draft.answer == "For the purposes of this Act: ‘crew’ means those who work on a ferry. [1]"
    )
    assert [c["section"] for c in draft.citations] == ["Article 1(2)"]


def test_what_is_left_out_of_a_list_is_told_and_verifies(ferries: View, answer: Answer) -> None:
    draft = answer("What must the log of voyages contain?", max_words=20)
    left_out = "Left out: 3 more points, Article 2(1)(b) to (d). [1]"
    assert draft.answer.split("\n") == [*LOG[:3], left_out]
    assert draft.told == [LOG[0], left_out]
    assert problems(ferries, draft) == []


def test_a_statement_that_points_back_is_quoted_with_the_one_before(
    ferries: View, answer: Answer
) -> None:
    draft = answer("May the harbour board extend that period?")
    assert draft.answer == (
        "The log shall be kept for 5 years. [1] "
        "However, the harbour board may extend that period. [1]"
    )
    [citation] = draft.citations
    assert citation["section"] == "Article 2(2)"
    assert FERRIES[citation["start"] : citation["end"]] == citation["quote"]
    assert problems(ferries, draft) == []


@pytest.mark.parametrize(
    ("question", "own", "unit"),
    [
        # the lead-in and the heading hold all of the question
        ("What must the log contain?", "the weather; and", "Article 2(1)"),
        ("Who keeps the log?", "the name of the vessel;", "Article 2(1)"),
        # "weather" is one of two terms, and the rarest
        ("Is weather in the log?", "the weather; and", None),
        # no point is asked for where the list is found as a whole
        ("Who keeps the log?", "Log of voyages: " + LEAD, "Article 2(1)"),
        # a sentence of no list
        ("How long is it kept?", "The log shall be kept for 5 years.", None),
        # a list within a definition, where its term is asked for
        ("What is a ferry?", "a raft;", "Article 1(1)"),
    ],
)
def test_which_list_a_question_asks_for(
    ferries: View, question: str, own: str, unit: str | None
) -> None:
    items = [
        Evidence(passage, said, 0)
        for passage in given(ferries)
        for said in ferries.statements(passage["id"])[0]
        if said.own == own
    ]
    assert len(items) == 1
    found = list_asked(items[0], understand(question, ferries), ferries)
    assert (found["label"] if found else None) == unit
    if found:
        tree = ferries.tree_of(NAME)
        assert tree is not None
        assert tree.units[found["place"]].label == unit
        assert FERRIES[found["start"] :].startswith(("1. The master", "(1) ‘ferry’"))


def test_of_a_document_that_is_gone_no_list_is_quoted(ferries: View, small: View) -> None:
    [passage] = [one for one in given(ferries) if one["section"] == "Article 3"]
    said = ferries.statements(passage["id"])[0][0]
    assert said.points == 2
    assert list_asked(Evidence(passage, said, 0), understand("Who?", small), small) is None
