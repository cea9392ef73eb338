"""Provisions quoted whole, by hand on the laws of tests/data/laws."""

import re

from hypothesis import given
from hypothesis import strategies as st
from library import TITLES, Shelf, pointed_in, shelf

from lexloop.core.types import Citation
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.generate.quoting import LEFT_OUT, quote_all

DIRECTIVE, ACT = shelf("directive.txt"), shelf("act.txt")

KEEPER = "1. A keeper shall, in accordance with Article 2(2)(a) and paragraph 2 of this Article:"


def quoted(
    question: str, library: Shelf = DIRECTIVE, limit: int = 500
) -> tuple[list[str], list[Citation]]:
    return quote_all(pointed_in(question, library)["units"], library, limit)


def sources(citations: list[Citation]) -> list[tuple[int, str, str]]:
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
    assert [(n, section) for n, section, _ in sources(citations)] == [
        (1, "Article 3(1)"),
        (2, "Article 3(2)"),
        (3, "Article 3(3)"),
    ]
    assert citations[0]["quote"].endswith("The keeper shall keep the receipt.")


def test_what_is_left_out_is_counted_and_named() -> None:
    assert quoted("Article 3", limit=25)[0][-2:] == [
        "(b) state, each year: [1]",
        "Left out: 3 more points, Article 3(1)(b)(i) to (iii); 1 more point, Article 3(1)(c); "
        "2 more paragraphs, Article 3(2) and (3). [1]",
    ]
    assert quoted("Articles 1 to 4", limit=8)[0] == [
        "Article 1 — Subject matter:",
        "This Directive lays down rules for river boats. [1]",
        "Left out: 3 more, Article 2 to Article 4. [1]",
    ]


def test_of_several_documents_it_is_said_in_which_a_provision_stands() -> None:
    both = shelf("act.txt", "contract.txt")
    lines, citations = quoted("Schedule 1", both)
    assert [line for line in lines if line.startswith("In ")] == [
        "In act.txt: Schedule 1 — FEES:",
        "In contract.txt: Schedule 1 — The Services:",
    ]
    assert [c["document"] for c in citations] == ["act.txt"] * 2 + ["contract.txt"] * 2
    assert [c["n"] for c in citations] == [1, 2, 3, 4]


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
