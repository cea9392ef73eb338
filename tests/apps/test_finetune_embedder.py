"""``lexloop finetune embedder``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
THINGS = "register seal keys purse lamp gate".split()


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rows = [
        {
            "question": f"Who keeps the {thing}?",
            "text": f"Clerk {number} keeps the {thing}.",
            "document": f"act {number % 3}",
        }
        for number, thing in enumerate(THINGS)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_clicks_make_a_folder_that_answers(run: Run, tmp_path: Path) -> None:
    clicks, out = tmp_path / "clicks.csv", tmp_path / "out"
    row = "who keeps the {0},{0},The {0},Clerk {1} keeps the {0}.,1"
    lines = [row.format(thing, number) for number, thing in enumerate(THINGS)]
    clicks.write_text("\n".join(["query,document,title,body,clicks", *lines]), encoding="utf-8")
    made = run("finetune", "embedder", str(clicks), "--recipe", "infonce", "--out", str(out),
               "--steps", "1", "--batch", "4")  # fmt: skip
    assert made.exit_code == 0, made.stderr
    assert "| cosine, all: MRR |" in made.stdout
    card = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert {one["set"] for one in card["data"]} == {"clicks, title", "clicks, body"}
    assert str(tmp_path) not in card["command"]
    asked = run("ask", "What is a bias audit?", "--json", "--set", f"index.embedder=trained:{out}")
    assert json.loads(asked.stdout)["citations"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--recipe", "none"], "The recipe is 'none'"),
        (["--recipe", "infonce"], "field query"),
        (["--keep", "0"], "The share to keep is 0.0"),
        (["--keep", "0.4"], "fewer than make a batch of 60"),
        (["--kept", "/nowhere.jsonl"], "/nowhere.jsonl cannot be read"),
        (["--base", "/nowhere"], "it holds no model.safetensors"),
    ],
)
def test_bad_input_is_refused_with_one_line(
    run: Run, pairs: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    result = run("finetune", "embedder", str(pairs), "--out", str(tmp_path / "out"), *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out" / "card.json").exists()
