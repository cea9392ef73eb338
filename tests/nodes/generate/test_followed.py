"""A statement that only says where the answer stands is followed there."""

from pathlib import Path

import pytest

from lexloop.graph.app import graph

_FERRY = """FERRY AGREEMENT

1. Charges
The charges are {where}.

2. Cars
A car needs a ticket, and its driver must comply with the safety rules of Schedule 2.

Schedule 1
Charges

The charge for a car is 12 crowns.
The charge for a bicycle is 3 crowns.

Schedule 2
Safety

Engines are stopped on board.
"""


def _asked(folder: Path, where: str, question: str) -> tuple[str, list[str]]:
    (folder / "ferry.txt").write_text(_FERRY.format(where=where), encoding="utf-8")
    done = graph.invoke({"question": question}, context={"corpus": str(folder)})
    return done["answer"], [citation["section"] for citation in done["citations"]]


@pytest.mark.parametrize(
    "where",
    [
        "those of Schedule 1",
        "the ones set out in Schedule 1",
        "set forth in Schedule 1 (Charges)",
        "payable in accordance with Schedule 1",
    ],
)
def test_what_a_statement_leaves_the_answer_to_is_quoted(tmp_path: Path, where: str) -> None:
    answer, sections = _asked(tmp_path, where, "What are the charges?")
    assert "12 crowns" in answer
    assert "3 crowns" in answer
    assert sections[:2] == ["Section 1", "Schedule 1"]


def test_a_reference_beside_an_answer_is_not_followed(tmp_path: Path) -> None:
    answer, _ = _asked(
        tmp_path, "those of Schedule 1", "What must the driver of a car comply with?"
    )
    assert "Engines" not in answer


def test_a_statement_with_the_figure_is_not_followed(tmp_path: Path) -> None:
    answer, _ = _asked(tmp_path, "7 crowns under Schedule 1", "What are the charges?")
    assert "12 crowns" not in answer
