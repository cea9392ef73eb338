"""What one section of a document names and others of its form lack narrows an answer to it."""

from pathlib import Path

import pytest

from lexloop.graph.app import graph

_PERMITS = """HARBOUR PERMITS

1. Permit for the Heron
This permit has the number P-170.
The holder may moor at the north quay.
The yearly fee is 40 crowns.

2. Permit for the Osprey
This permit has the number P-171.
The holder may moor at the south quay.
The yearly fee is 65 crowns.

3. General
Every permit ends on 31 December.
"""
_SUPPLY = """SUPPLY AGREEMENT

1. Orders
Orders are made in writing.

Schedule 1
Deliveries

The supplier is Marlow Ltd.
Flour is delivered within five days.
The price of flour is 9 crowns a sack.

Schedule 2
Deliveries

The supplier is Kestrel Ltd.
Flour is delivered within twelve days.
The price of flour is 8 crowns a sack.
"""


@pytest.mark.parametrize(
    ("text", "question", "said", "other"),
    [
        (_PERMITS, "What is the yearly fee for P-171?", "65 crowns", "40 crowns"),
        (_PERMITS, "What is the yearly fee for permit P-170?", "40 crowns", "65 crowns"),
        (_PERMITS, "Where may the holder of P-170 moor?", "north quay", "south quay"),
        (_PERMITS, "When does permit P-171 end?", "31 December", "P-170"),
        (_SUPPLY, "Within how many days does Kestrel deliver flour?", "twelve", "five"),
        (_SUPPLY, "What is the price of flour from Marlow?", "9 crowns", "8 crowns"),
    ],
)
def test_only_the_section_that_is_named_answers(
    tmp_path: Path, text: str, question: str, said: str, other: str
) -> None:
    (tmp_path / "harbour.txt").write_text(text, encoding="utf-8")
    done = graph.invoke({"question": question}, context={"corpus": str(tmp_path)})
    assert said in done["answer"]
    assert other not in done["answer"]


def test_a_number_of_no_section_is_told(tmp_path: Path) -> None:
    (tmp_path / "harbour.txt").write_text(_PERMITS, encoding="utf-8")
    asked = "What is the yearly fee for P-172?"
    done = graph.invoke({"question": asked}, context={"corpus": str(tmp_path)})
    assert (done["abstained"], done["evaluation"]["reasons"]) == (
        True,
        ["No document names P-172."],
    )
