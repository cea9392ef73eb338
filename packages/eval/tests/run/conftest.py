"""A small run: a few questions on the sample corpus, under variants that answer in milliseconds."""

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Connection, Settings
from lexloop_eval.run.prepare import PreparedRun, RunRequest, prepare
from lexloop_eval.run.variants import Variant

OUTSIDE = "What is the recipe for a lemon cake?"
VARIANTS = (
    Variant("few", {"variant": "fixed", "plan.k": 2, "loop.max_retries": 0}, "ours"),
    Variant("same", {"variant": "fixed", "plan.k": 2, "loop.max_retries": 0}, "theirs"),
    Variant("bereft", {"variant": "fixed", "plan.k": 2, "loop.max_retries": 0}, closed=True),
)
Begin = Callable[..., PreparedRun]


def gold_rows(count: int = 3) -> list[dict[str, Any]]:
    """The first questions of the shipped gold file, and one that the sample does not answer."""
    lines = (files("lexloop.data") / "gold.jsonl").read_text("utf-8").splitlines()
    outside = {
        "id": "outside",
        "question": OUTSIDE,
        "question_type": "out of scope",
        "reference_answer": "The documents provided do not answer how a lemon cake is baked.",
    }
    return [*map(json.loads, lines[:count]), outside]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    """``begin(out=..., variants=..., gold=..., **settings)``: a run that can begin."""

    def prepared(
        out: str = "run",
        variants: Sequence[Variant] = VARIANTS,
        gold: list[dict[str, Any]] | None = None,
        negative: list[dict[str, Any]] | None = None,
        **settings: Any,
    ) -> PreparedRun:
        path, queries = tmp_path / "gold.jsonl", tmp_path / "negative.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in gold or gold_rows()), "utf-8")
        if negative is not None:
            queries.write_text("".join(json.dumps(row) + "\n" for row in negative), "utf-8")
        wanted = RunRequest(
            gold=path,
            base=Settings(**settings),
            variants=variants,
            negative=queries if negative is not None else None,
            out=tmp_path / out,
        )
        return prepare(wanted, Connection())

    return prepared
