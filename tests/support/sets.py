"""Sets of examples in ``tests/data``: rows of JSON, and texts with what is read off them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[Any]:
    """The rows of ``rows/NAME.jsonl``, one a line. A line that begins with # is a comment."""
    lines = (DATA / "rows" / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line and not line.startswith("#")]


def whole_text(name: str) -> str:
    """The text of ``texts/NAME``."""
    return (DATA / "texts" / name).read_text("utf-8")


def write_rows(path: Path, *held: object) -> Path:
    """Write values as a file of JSON lines, whose folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(one)}\n" for one in held), encoding="utf-8")
    return path


def blocks(name: str) -> dict[str, tuple[str, list[str]]]:
    """The blocks of ``NAME.txt``: a text under ``%% title``, and under ``%%`` what is expected."""
    found = {}
    for block in (DATA / f"{name}.txt").read_text("utf-8").split("%% ")[1:]:
        title, _, rest = block.partition("\n")
        text, _, expected = rest.partition("%%\n")
        found[title] = (text, [line for line in expected.splitlines() if line])
    return found


def write_texts(folder: Path, texts: Mapping[str, str]) -> Path:
    """Write texts as files of a folder by their names; folders that are missing are made."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder
