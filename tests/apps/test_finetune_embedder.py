"""``lexloop finetune embedder``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
THINGS = "register seal keys purse lamp gate".split()


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
