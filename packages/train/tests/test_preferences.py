"""DPO on people's preferences, on a model of two layers: it learns to say what they preferred."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_model import BEFORE, TAUGHT, make_model, one_thread, teach, write_rows
from typer.testing import CliRunner

from lexloop.apps.cli.main import app
from lexloop.core.errors import InputError
from lexloop.core.files import check_sums
from lexloop_train.generator import AdapterRecipe
from lexloop_train.preferences import PreferencePlan, make_preferred

__all__ = ["one_thread"]
RECIPE = AdapterRecipe(
    epochs=4, rate=2e-2, decay=0.01, rank=4, batch=4, at_once=4, most_tokens=400, patience=4,
    seed=7, four_bit=False,
)  # fmt: skip


def pair(number: int, **changes: str) -> dict[str, str]:
    answers = {"chosen": TAUGHT, "rejected": BEFORE}
    return {"question": f"How long is boat {number} kept?", **answers, **changes}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that says one sentence and knows another, which people preferred."""
    folder = tmp_path_factory.mktemp("data")
    teach(teach(make_model(folder / "base")), BEFORE, steps=8)
    write_rows(folder / "pairs.jsonl", [pair(number) for number in range(12)])
    choice = {"question": "How long?", "choices": [BEFORE, TAUGHT], "answer": TAUGHT}
    write_rows(folder / "choice.jsonl", [choice])
    return folder


def planned(data: Path, **changes: Any) -> PreferencePlan:
    given: dict[str, Any] = {
        "base": str(data / "base"), "pairs": data / "pairs.jsonl", "out": data / "made",
        "tests": (data / "choice.jsonl",), "recipe": RECIPE, "held_back": 0.25,
        "reply_tokens": 24, "licence": "CC0-1.0", "command": "lexloop finetune generator",
    }  # fmt: skip
    return PreferencePlan(**{**given, **changes})


def test_what_people_preferred_becomes_likelier(data: Path) -> None:
    card = make_preferred(planned(data), list[str]().append)
    accuracy = [
        card["figures"]["choice.jsonl"][stage]["accuracy"]["mean"]
        for stage in ("before", "preferred")
    ]
    assert accuracy == [0.0, 1.0]
    adapter = card["adapters"]["preferred"]
    # 9 of 12 pairs are trained on, 4 a step, four times
    assert adapter["steps"] <= 12
    assert adapter["preferred"] == 1.0
    assert adapter["kept_loss"] < 0.6931  # ln 2, where both are as likely as in the base
    check_sums(data / "made")
    assert json.loads((data / "made" / "card.json").read_text("utf-8")) == card
    assert make_preferred(planned(data), list[str]().append) == card


def test_pairs_that_cannot_be_used_are_named(data: Path, tmp_path: Path) -> None:
    few = write_rows(tmp_path / "few.jsonl", [pair(1)])
    with pytest.raises(InputError, match=r"has 1 pairs"):
        make_preferred(planned(data, pairs=few), list[str]().append)
    same = write_rows(tmp_path / "same.jsonl", [pair(1, rejected=TAUGHT)])
    with pytest.raises(InputError, match="both answers are the same"):
        make_preferred(planned(data, pairs=same), list[str]().append)


def test_the_command_wants_one_kind_of_data(data: Path) -> None:
    command = ["finetune", "generator", "--base", str(data / "base"), "--out", str(data / "x")]
    both = ["--dpo", str(data / "pairs.jsonl"), "--domain", str(data / "pairs.jsonl")]
    for given in ([], both):
        result = CliRunner().invoke(app, [*command, *given])
        assert result.exit_code == 2
        assert "It is not said on what to train." in result.stderr
