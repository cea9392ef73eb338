"""Provisions and lists quoted whole, or by the one point that is asked for."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexes import passages_of, view_of
from library import TITLES, Shelf, pointed_in, shelf
from records import problems

from lexloop.core.running import waited
from lexloop.core.types import Citation, Draft
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.generate import extractive
from lexloop.nodes.generate.extractive import ExtractiveGenerator
from lexloop.nodes.generate.quoting import LEFT_OUT, quote_all
from lexloop.nodes.generate.select import Lengths
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

DIRECTIVE = shelf("directive.txt")
KEEPER = "1. A keeper shall, in accordance with Article 2(2)(a) and paragraph 2 of this Article:"


def quoted(
    question: str, library: Shelf = DIRECTIVE, limit: int = 500
) -> tuple[list[str], list[Citation]]:
    return quote_all(pointed_in(question, library)["units"], library, limit)


def sections(citations: list[Citation]) -> list[tuple[int, str, str]]:
    return [(c["n"], c["section"], c["quote"]) for c in citations]


def test_an_article_comes_heading_first_with_a_source_for_each_paragraph() -> None:
    lines, citations = quoted("Article 3")
    assert lines == [
        "Article 3 — Duties of keepers:",
        f"{KEEPER} [1]",
        "(a) moor the boat safely; [1]",
        "(b) state, each year: [1]",
        "(i) its length; [1]",
        "(ii) its place; and [1]",
        "(iii) the information referred to in Annex I, point 2; [1]",
        "(c) pay the fee. [1]",
        "The keeper shall keep the receipt. [1]",
        "2. Paragraph 1, point (c), shall not apply to boats shorter than five metres. [2]",
        "3. Lists run on: [3]",
        "(g) grates; [3]",
        "(h) hulls; [3]",
        "(i) ink; [3]",
        "(j) jars. [3]",
    ]
    assert [(n, section) for n, section, _ in sections(citations)] == [
        (1, "Article 3(1)"),
        (2, "Article 3(2)"),
        (3, "Article 3(3)"),
    ]
    assert citations[0]["quote"].endswith("The keeper shall keep the receipt.")


def test_bracketed_numbers_of_the_text_are_no_markers() -> None:
    points = "1. Boats [2] pay a fee. It is small [4, 5].\n2. Ships pay more [1]."
    law = Shelf({"law.txt": f"Article 1\nFees [3]\n{points}\nArticle 2\nEnd\nEnd.\n"})
    lines, citations = quoted("Article 1", law)
    assert lines == [
        "Article 1 — Fees {3}:",
        "1. Boats {2} pay a fee. It is small {4, 5}. [1]",
        "2. Ships pay more {1}. [2]",
    ]
    assert citations[0]["quote"] == "1. Boats [2] pay a fee. It is small [4, 5]."
    assert citation_problems("\n".join(lines), citations, law.text_of, lines[:1]) == []


def test_a_list_of_very_many_points_costs_what_is_shown() -> None:
    points = "".join(f"({i}) thing;\n" for i in range(1, 1000))
    long = Shelf({"law.txt": f"Article 1\nThings\n1. These count:\n{points}Article 2\nEnd\nEnd.\n"})
    lines, _ = quoted("Article 1", long, limit=100)
    assert len(lines) < 60
    assert lines[-1] == "Left out: 951 more points, Article 1(1)(49) to (999). [1]"
    law = "".join(f"{i}. Thing.\n" for i in range(1, 1000))
    many = Shelf({"law.txt": f"Article 1\nThings\n{law}Article 2\nEnd\nEnd.\n"})
    lines, citations = quoted("Article 1", many, limit=100)
    assert len(citations) == 50
    assert lines[-1] == "Left out: 949 more paragraphs, Article 1(51) to (999). [50]"


LABELS = [
    (name, label) for name in TITLES for label in list(shelf(name).tree_of(name).labels) if label
]


@given(st.sampled_from(LABELS), st.integers(20, 200))
def test_every_line_stands_in_the_source_that_it_cites(where: tuple[str, str], limit: int) -> None:
    name, label = where
    library = shelf(name)
    tree = library.tree_of(name)
    assert tree is not None
    place = tree.labels[label]
    unit = tree.units[place]
    at = {"document": name, "place": place, "label": label, "start": unit.start, "end": unit.end}
    lines, citations = quote_all([at], library, limit)
    by_number = {c["n"]: c for c in citations}
    assert list(by_number) == list(range(1, len(citations) + 1))
    for line in lines:
        marker = re.search(r" \[(\d+)\]$", line)
        if marker is None:
            assert line.endswith(":")
            continue
        source = by_number[int(marker[1])]["quote"]
        said = line[: marker.start()]
        if not said.startswith(LEFT_OUT) and "—" not in said:
            words = re.findall(r"\w+", said)
            assert set(words[1:]) <= set(re.findall(r"\w+", f"{source} {label} {unit.heading}"))


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
Answer = Callable[..., Draft]


@pytest.fixture(scope="module")
def ferries() -> View:
    return view_of(Document(NAME, "Ferry Act", FERRIES), embedder=load_minilm())


@pytest.fixture(autouse=True)
def sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the passages answer is sure here, so that what suits best is quoted alone."""
    monkeypatch.setattr(extractive, "probability_found", lambda _: 1.0)


@pytest.fixture
def answer(ferries: View) -> Answer:
    def run(question: str, max_words: int = 800) -> Draft:
        generator = ExtractiveGenerator(ferries, Lengths(whole=max_words))
        return waited(generator.generate(parse(question), passages_of(ferries), [], None))

    return run


def test_a_list_is_answered_whole_heading_first(ferries: View, answer: Answer) -> None:
    draft = answer("What must the log of voyages contain?")
    assert draft["answer"].split("\n") == LOG
    assert [(c["n"], c["section"]) for c in draft["citations"]] == [(1, "Article 2(1)")]
    assert draft["citations"][0]["quote"].startswith("1. The master")
    assert draft["citations"][0]["quote"].endswith("Its date is given.")
    assert draft["told"] == LOG[:1]
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
