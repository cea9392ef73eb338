"""The fact of one document answers nothing about the thing of another."""

from pathlib import Path
from typing import Any

import pytest

from lexloop.graph.app import graph

_TEXTS = {
    "mill.txt": "HOUSE RULES OF THE MILL\n\nSection 1 Smoking\nSmoking is prohibited here.\n",
    "oath.txt": "SECRECY OATH\n\nSection 1 Penalty\nFor each breach the sum is 70 euros. The"
    " penalty for a lost key is 9 euros.\n",
}


def _asked(folder: Path, question: str) -> dict[str, Any]:
    for name, text in _TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    done: dict[str, Any] = graph.invoke({"question": question}, context={"corpus": str(folder)})
    return done


@pytest.mark.parametrize("where", ["", " in the mill"])
def test_a_penalty_of_one_document_for_the_smoking_of_another_does_not_pass(
    tmp_path: Path, where: str
) -> None:
    done = _asked(tmp_path, f"How much is the penalty for smoking{where}?")
    assert not done["evaluation"]["passed"]
    told = "No document that is quoted speaks of both “penalty” and “smoking”."
    assert done["abstained"] or told in done["evaluation"]["reasons"]


@pytest.mark.parametrize(
    "question",
    ["How much is the penalty for a lost key?", "Is smoking prohibited?", "What is the penalty?"],
)
def test_what_one_document_joins_is_no_wrong_premise(tmp_path: Path, question: str) -> None:
    done = _asked(tmp_path, question)
    assert not [one for one in done["evaluation"]["reasons"] if "speaks of both" in one]
