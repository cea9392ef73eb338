"""Paragraphs that only numbers name, in documents without a heading."""

import pytest

from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse

RENT, OVEN, ROOF = "The rent is 700 crowns.", "The oven is swept.", "The landlord mends the roof."


def provisions(text: str) -> list[str]:
    """The label of each provision and what it says."""
    tree = parse(text)
    numbered = {unit.label for unit in tree.units if unit.kind == "provision" and unit.number}
    said = [(one.label, one.text) for one in statements(tree, text)]
    return [f"{label}: {words}" for label, words in said if label in numbered]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (f"LEASE\n\n1. {RENT}\n\n2. {OVEN}\n\n3. {ROOF}\n", "123"),
        (f"1) {RENT}\n2) {OVEN}\n3) {ROOF}", "123"),
        (f"(1) {RENT}\n(2) {OVEN}\n(3) {ROOF}", "123"),
        (f"1 {RENT}\n2 {OVEN}\n3 {ROOF}", "123"),
        (f"# Lease\n\n1. {RENT}\n2. {OVEN}\n3. {ROOF}\n", "123"),
        (f"## House\n\n1. {RENT}\n2. {OVEN}\n\n## Roof\n\n3. {ROOF}\n", "123"),
        # an extract, and one that leaves some out
        (f"Extract from the lease\n\n7. {RENT}\n8. {OVEN}\n9. {ROOF}", "789"),
        (f"1. {RENT}\n2. {OVEN}\n5. {ROOF}", "125"),
        # what announces them is no lead-in of theirs
        (f"Ann and Tom agree as follows:\n\n1. {RENT}\n2. {OVEN}\n3. {ROOF}", "123"),
        # wrapped by hand
        (f"1. The rent is\n   700 crowns.\n2. {OVEN}\n3. The landlord mends\nthe roof.", "123"),
    ],
)
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


@pytest.mark.parametrize(
    "text",
    [
        "The board has decided\n\n1. to close the pool,\n2. to open the sauna.\n",
        "The garden must not be used for:\n1. Fires.\n2. Ball games.\n",
        # a list is the least part of its document
        f"Go to the desk:\n\n1. {OVEN}\n2. {RENT}\n\n" + f"{ROOF} " * 9,
        # two lists
        f"## House\n\n1. {RENT}\n2. {OVEN}\n\n## Roof\n\n1. {ROOF}\n2. {RENT}\n",
        # the numbers between stand within a line
        f"1. {RENT} 2. {OVEN} 3. {OVEN}\n4. {ROOF} 5. {RENT}\n",
    ],
)
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


def test_numbers_that_follow_each_other_stand_apart_whatever_words_they_have() -> None:
    text = "9 Fees of section\n10 Application of Part\n11 Age of rowers\n12 Lamps\n"
    units = parse(text).units
    assert [unit.heading for unit in units if unit.kind == "provision"] == [
        *("Fees of section", "Application of Part", "Age of rowers", "Lamps")
    ]
