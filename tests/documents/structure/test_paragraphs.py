"""Paragraphs that only numbers name, in documents without a heading."""

import pytest
from sets import rows

from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse


@pytest.mark.parametrize(("text", "expected"), rows("provisions"))
def test_each_numbered_paragraph_is_a_provision(text: str, expected: list[str]) -> None:
    tree = parse(text)
    numbered = {unit.label for unit in tree.units if unit.kind == "provision" and unit.number}
    said = [f"{one.label}: {one.text}" for one in statements(tree, text) if one.label in numbered]
    assert said == expected
    assert bool(numbered) == bool(expected)


def test_a_title_above_the_first_paragraph_is_not_its_heading() -> None:
    tree = parse("LEASE\n\n1. The rent is 700 crowns.\n\n2. The oven is swept.\n")
    assert [(unit.kind, unit.heading) for unit in tree.units if unit.kind != "text"] == [
        ("part", "LEASE"),
        ("provision", ""),
        ("provision", ""),
    ]
