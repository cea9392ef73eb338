"""Questions over four collections near to each other, with the collections that each needs."""

import json
from pathlib import Path
from typing import NamedTuple

from lexloop.core.types import Turn

_ROOT = Path(__file__).parents[2]
_FOLDER = _ROOT / "tests" / "support" / "routing"


class Routed(NamedTuple):
    """A question, what was said before it, and the collections that hold its answer."""

    question: str
    collections: list[str]
    kind: str
    history: list[Turn]


def routing_collections() -> dict[str, Path]:
    """The folder of documents of each collection, by its name."""
    written = {name: _FOLDER / name for name in ("tenancy", "privacy", "workplace")}
    return {"hiring": _ROOT / "data" / "ll144", **written}


def routing_questions(name: str) -> list[Routed]:
    """The questions of `questions.jsonl` or `blind.jsonl`.

    Args:
        name: The file's name without its suffix.
    """
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Routed(**{"history": [], **json.loads(line)}) for line in lines]
