"""What a model's answers from passages and its questions written out are measured as."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.types import ABSTENTION
from lexloop_train.generator_figures import measure
from lexloop_train.generator_rows import MeasuredFile, MeasuredRow

PASSAGES = ["The harbour master keeps the register.", "Each boat is kept there for five years."]


@dataclass
class Says:
    """A model that says what it is told to, a reply a row."""

    replies: list[str]
    window: int = 9_999

    def prompt(self, turns: Any) -> list[int]:
        return [1]

    def write(self, prompts: Any, most: int) -> list[list[int]]:
        return [[ord(letter) for letter in self.replies.pop(0)] for _ in prompts]

    def text(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def figures(rows: list[dict[str, Any]], *replies: str) -> dict[str, Any]:
    asked = [MeasuredRow.model_validate(row) for row in rows]
    model: Any = Says(list(replies))
    made = measure(model, MeasuredFile(Path("rows.jsonl"), asked[0].kind, asked), 99, 2)
    return {k: v["mean"] if isinstance(v, dict) else v for k, v in made.items()}


def of_passages(answer: str = PASSAGES[0]) -> dict[str, Any]:
    return {"question": "Who keeps it?", "passages": PASSAGES, "answer": answer}


def test_of_three_sentences_one_is_cited_rightly_and_one_invented() -> None:
    answer = (
        "The harbour master keeps the register [1]. Each boat is kept there for five years [1]. "
        "Whales pay forty euros on Sundays [2]."
    )
    shares = figures([of_passages(), of_passages(ABSTENTION)], answer, ABSTENTION)
    # the second sentence names the passage that does not say it; the third is nowhere
    assert shares["cited"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["invented"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["abstained"] == 0.5
    assert shares["exact_match"] == 0.5


@pytest.mark.parametrize("reply", ["", ABSTENTION])
def test_answers_that_state_nothing_have_no_shares(reply: str) -> None:
    shares = figures([of_passages()], reply)
    assert (shares["cited"], shares["invented"]) == (None, None)


def test_a_marker_of_no_passage_cites_nothing() -> None:
    assert figures([of_passages()], f"{PASSAGES[0][:-1]} [7].")["cited"] == 0.0


def test_a_question_written_out_is_read_from_its_form() -> None:
    row = {"question": "And it?", "history": [], "answer": "Who keeps the register?"}
    shares = figures(
        [row, row, row],
        '{"standalone": "Who keeps the register?", "queries": [], "keywords": []}',
        "Who keeps the register?",
        '{"standalone": 3}',
    )
    assert shares["in_form"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["exact_match"] == pytest.approx(1 / 3, abs=1e-4)
    assert "cited" not in shares
