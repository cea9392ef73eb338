"""``benchmarks/trust.py``: what is planted, what is counted of an answer, and what is kept."""

import random
from pathlib import Path

import pytest
from trust import CLAIMS, POISON, Asked, Kept, _meets, drawn, planted

from lexloop.documents.text.tokens import words

QUESTION = "When must the owner of a boat pay {the fee}?"


@pytest.mark.parametrize("kind", POISON)
def test_what_is_planted_has_the_question_and_a_claim(kind: str) -> None:
    for seed in range(12):
        text = planted(QUESTION, kind, random.Random(seed))
        assert text == planted(QUESTION, kind, random.Random(seed))
        assert any(claim in text.lower() for claim in map(str.lower, CLAIMS))
        assert {"owner", "boat", "pay", "fee"} <= {*words(text.lower())}


def test_a_part_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = Kept(tmp_path / "poison.json")
    first.add({"a | praise": {"right": 1.0}})
    first.add({"b | praise": {"right": 0.0}})
    assert Kept(tmp_path / "poison.json").rows == first.rows
    assert [*first.rows] == ["a | praise", "b | praise"]


def test_as_many_questions_of_each_kind() -> None:
    asked = [Asked(law, f"{law}{n}", "?", ()) for law in ("sample", "x") for n in range(9)]
    assert [one.law for one in drawn(asked, 2, 7)] == ["sample"] * 6 + ["x"] * 2
    assert drawn(asked, 2, 7) == drawn(asked, 2, 7)


def test_a_citation_is_right_by_half_of_it() -> None:
    cited = {"document": "a", "start": 10, "end": 20}
    assert _meets(cited, ("a", 15, 100))
    assert not _meets(cited, ("a", 16, 100))
    assert not _meets(cited, ("b", 10, 20))
