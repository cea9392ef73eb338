"""Lists answered whole, or by the one point that is asked for."""

from collections.abc import Callable

import pytest
from records import Read, problems
from records import passage as record

from lexloop.core.metadata import Filters
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.types import Draft, Passage
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate import extractive
from lexloop.nodes.generate.extractive import (
    ExtractiveGenerator,
    Lengths,
    Quotable,
    with_antecedent,
)
from lexloop.nodes.question import parse
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

FERRIES = """\
Ferry Act

Article 2
Log of voyages
1. The master of a ferry shall keep a log of voyages, which contains:
(a) the name of the vessel;
(b) the number of passengers carried, where it exceeds 12;
(c) the weather; and
(d) a description of every collision. Its date is given.
2. The log shall be kept for 5 years. However, the harbour board may extend that period.
"""
NAME = "act2019.txt"
LOG = [
    "Article 2(1) — Log of voyages:",
    "1. The master of a ferry shall keep a log of voyages, which contains: [1]",
    "(a) the name of the vessel; [1]",
    "(b) the number of passengers carried, where it exceeds 12; [1]",
    "(c) the weather; and [1]",
    "(d) a description of every collision. Its date is given. [1]",
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


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the passages answer is sure here, so that what suits best is quoted alone."""
    monkeypatch.setattr(extractive, "SURE", 0.0)


@pytest.fixture
def answer(ferries: View) -> Answer:
    def run(question: str, max_words: int = 800) -> Draft:
        generator = ExtractiveGenerator(ferries, Lengths(whole=max_words))
        return waited(generator.generate(parse(question), given(ferries), [], None))

    return run


def test_a_list_is_answered_whole_heading_first(ferries: View, answer: Answer) -> None:
    draft = answer("What must the log of voyages contain?")
    assert draft["answer"].split("\n") == LOG
    assert [(c["n"], c["section"]) for c in draft["citations"]] == [(1, "Article 2(1)")]
    assert draft["citations"][0]["quote"].startswith("1. The master")
    assert draft["citations"][0]["quote"].endswith("Its date is given.")
    assert draft["told"] == LOG[:1]
    assert problems(ferries, draft) == []


def test_the_one_point_that_is_asked_for_stands_alone_after_its_lead_in(
    ferries: View, answer: Answer
) -> None:
    draft = answer("Must the log contain the weather?")
    assert draft["answer"] == f"{LEAD} the weather; and [1]"
    [citation] = draft["citations"]
    assert (citation["section"], citation["lead"]) == ("Article 2(1)(c)", LEAD)
    [[start, end]] = citation["lead_spans"]
    assert FERRIES[start:end] == f"1. {LEAD}"
    assert problems(ferries, draft) == []


def test_what_is_left_out_of_a_list_is_told_and_verifies(ferries: View, answer: Answer) -> None:
    draft = answer("What must the log of voyages contain?", max_words=20)
    left_out = "Left out: 3 more points, Article 2(1)(b) to (d). [1]"
    assert draft["answer"].split("\n") == [*LOG[:3], left_out]
    assert draft["told"] == [LOG[0], left_out]
    assert problems(ferries, draft) == []


def test_a_statement_that_points_back_is_quoted_with_the_one_before(
    ferries: View, answer: Answer
) -> None:
    draft = answer("May the harbour board extend that period?")
    assert draft["answer"] == (
        "The log shall be kept for 5 years. [1] "
        "However, the harbour board may extend that period. [1]"
    )
    [citation] = draft["citations"]
    assert citation["section"] == "Article 2(2)"
    assert FERRIES[citation["start"] : citation["end"]] == citation["quote"]
    assert problems(ferries, draft) == []


@pytest.mark.parametrize(
    ("opening", "before"),
    [
        ("However, in such cases the fee is halved.", True),
        ("That period may be extended.", True),
        ("It must be paid at once.", True),
        ("This Ordinance applies to rafts.", False),  # the text speaks of itself
        ("In this section, a raft is a boat.", False),
        ("A raft is free of it, however.", False),
    ],
)
def test_what_points_back_brings_what_stands_before_it(opening: str, before: bool) -> None:
    text = f"A boat pays the fee on 1 May. {opening}"
    given = record(1, text)
    first, second = statements_in_text(text)
    said = with_antecedent(Quotable(given, second, 1), Read(given))
    assert said == ([first, second] if before else [second])
