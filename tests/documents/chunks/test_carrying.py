"""What a statement carries on from."""

import pytest
from sets import whole_text

from lexloop.documents.chunks.carrying import carried_from
from lexloop.documents.chunks.statements import statements
from lexloop.documents.structure.parse import parse

ACT = whole_text("dogs_act.txt")


def carried(opening: str, text: str = ACT) -> list[str]:
    tree = parse(text)
    [said] = [one for one in statements(tree, text) if one.own.startswith(opening)]
    return [before.own for before in carried_from(said, tree, text)]


@pytest.mark.parametrize("opening", ["A person convicted", "Whoever helps"])
def test_a_paragraph_carries_on_from_the_one_that_it_names(opening: str) -> None:
    assert carried(opening) == ["A person who sells a dog without a tag commits an offence."]


def test_a_sentence_that_points_back_carries_on_from_the_one_before() -> None:
    assert carried("It bears") == ["A tag is of brass."]


def test_a_proviso_carries_on_from_what_it_limits() -> None:
    fee, first = "The fee of section 1 is paid to the council.", "Provided that the council"
    assert carried(first) == [fee]
    assert carried("Provided further") == [fee, f"{first} may waive it."]


@pytest.mark.parametrize(
    "line", ["Penalty: 40 crowns.", "Maximum penalty: 40 crowns.", "Note 1: It is."]
)
def test_a_line_that_belongs_to_a_paragraph_carries_on_from_it(line: str) -> None:
    text = f"1 Lamps\n(1) A boat must have a lamp.\n{line}\n\n2 Oars\nOars float.\n"
    assert carried(line.split(":", maxsplit=1)[0], text) == ["A boat must have a lamp."]


@pytest.mark.parametrize("opening", ["A person who sells", "This section", "A tag", "The fee"])
def test_what_stands_alone_carries_on_from_nothing(opening: str) -> None:
    assert carried(opening) == []


def test_a_long_paragraph_is_not_carried() -> None:
    long = ACT.replace("without a tag", "without " + "a tag or " * 30)
    assert carried("Whoever helps", long) == []
