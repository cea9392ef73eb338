"""A section is found by its heading; one that is not there is told with the nearest."""

import pytest
from library import Shelf, pointed_in, shelf

ALL = shelf()
POLICY = shelf("policy.md")


def pointed(question: str, library: Shelf = POLICY) -> tuple[list[str], bool]:
    """The labels pointed to, and whether nothing else is asked."""
    found = pointed_in(question, library)
    return [unit["label"] for unit in found["units"]], found["only"]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ('What does the section "Responsibilities" say?', "Responsibilities"),
        ("What does the section on responsibilities say?", "Responsibilities"),
        ("What does the section “lengths” say?", "Section 2.1"),
    ],
)
def test_a_heading_is_found_quoted_or_not_and_in_another_form(question: str, label: str) -> None:
    assert pointed(question) == ([label], True)
    assert pointed(question, ALL) == ([label], True)


def test_the_longest_run_of_words_that_is_a_heading_counts() -> None:
    library = Shelf({"a.md": "# Fees\n\nText.\n\n# Fees for boats\n\nMore.\n"})
    assert pointed("What does the section on fees for boats say?", library) == (
        ["Fees for boats"],
        True,
    )
    assert pointed("What does the section on fees say?", library) == (["Fees"], True)


def test_a_heading_is_found_by_its_telling_words() -> None:
    library = Shelf({"a.md": "# Fees and charges for boats\n\nText.\n\n# Keys\n\nMore.\n"})
    assert pointed('What does the section "boat charges" say?', library) == (
        ["Fees and charges for boats"],
        True,
    )


def test_what_else_is_asked_is_not_answered_by_the_section_alone() -> None:
    assert pointed('By the section "Length", may a password be in capitals?') == (
        ["Section 2.1"],
        False,
    )


@pytest.mark.parametrize(
    "question",
    [
        "Who has responsibilities under the policy?",
        'What does "responsibilities" mean?',
        'What does the section "" say?',
    ],
)
def test_a_word_that_is_a_heading_as_well_points_nowhere(question: str) -> None:
    assert pointed(question)[0] == []


def test_a_heading_that_is_not_there_is_told_with_the_nearest() -> None:
    found = pointed_in('What does the section "Responsibilities abroad" say?', POLICY)
    assert [line["line"] for line in found["told"]] == [
        "No heading reads “Responsibilities abroad”; the nearest are:",
        "Responsibilities.",
    ]
    (cited,) = (c for line in found["told"] for c in line["citations"])
    assert cited["section"] == "Responsibilities"
    (line,) = pointed_in('What does the section "Refunds" say?', POLICY)["told"]
    assert line == {"line": "No heading reads “Refunds”.", "citations": []}
