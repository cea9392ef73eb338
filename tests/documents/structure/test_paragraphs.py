"""Paragraphs that only numbers name, in documents without a heading."""

import pytest
from sets import rows

from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse

RENT, OVEN, ROOF = "The rent is 700 crowns.", "The oven is swept.", "The landlord mends the roof."


def provisions(text: str) -> list[str]:
    """The label of each provision and what it says."""
    tree = parse(text)
    numbered = {unit.label for unit in tree.units if unit.kind == "provision" and unit.number}
    said = [(one.label, one.text) for one in statements(tree, text)]
    return [f"{label}: {words}" for label, words in said if label in numbered]


@pytest.mark.parametrize(("text", "numbers"), rows("numbered_paragraphs"))
def test_each_numbered_paragraph_is_a_provision(text: str, numbers: str) -> None:
    said = (RENT, OVEN, ROOF)
    assert provisions(text) == [
        f"Section {number}: {one}" for number, one in zip(numbers, said, strict=True)
    ]


def test_a_document_says_what_it_calls_its_paragraphs() -> None:
    text = f"1. {RENT}\n2. {OVEN}\n3. If clause 1 is broken, the lease ends.\n"
    assert provisions(text)[1] == f"Clause 2: {OVEN}"


def test_paragraphs_without_a_stop_are_no_headings() -> None:
    text = "RULES\n\n1. Doors are locked at ten\n\n2. Guests must be announced\n\n3. No noise\n"
    assert provisions(text) == [
        "Section 1: Doors are locked at ten",
        "Section 2: Guests must be announced",
        "Section 3: No noise",
    ]


@pytest.mark.parametrize("text", rows("lists"))
def test_a_list_is_none(text: str) -> None:
    assert not [unit for unit in parse(text).units if unit.kind == "provision" and unit.number]


def test_a_title_above_the_first_paragraph_is_not_its_heading() -> None:
    tree = parse(f"LEASE\n\n1. {RENT}\n\n2. {OVEN}\n")
    assert [(unit.kind, unit.heading) for unit in tree.units if unit.kind != "text"] == [
        ("part", "LEASE"),
        ("provision", ""),
        ("provision", ""),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "A lamp must light within\n12 seconds after it fell.",
        "Records made before\n2019 may be burnt.",
        "Notice is given within\n30 Business Days of the fall.",
        "Whoever is fined for a lamp that does not burn may appeal to the Lamp\nCourt in a week.",
    ],
)
def test_a_sentence_goes_on_in_a_line_that_begins_with_a_figure_or_a_name(said: str) -> None:
    text = (
        f"1 Scope\n\nLamps are of brass.\n\n2 Test\n\n{said}\n\n3 Storing\n\nLamps are kept dry.\n"
    )
    assert provisions(text) == [
        "Section 1: Lamps are of brass.",
        f"Section 2: {said}".replace("\n", " "),
        "Section 3: Lamps are kept dry.",
    ]


def test_a_figure_that_goes_on_counting_opens_one() -> None:
    text = (
        "Preliminary\n1 Citation\nThis is the Lamps Act.\nGeneral\n2 Brass\nLamps are of brass.\n"
    )
    assert provisions(text) == [
        "Section 1: This is the Lamps Act.",
        "Section 2: Lamps are of brass.",
    ]
