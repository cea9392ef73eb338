"""docs/papers.md: what it names is there, its settings are accepted, its figures are published."""

import importlib
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.configuration import read_value
from lexloop.core.settings import Settings

ROOT = Path(__file__).parents[2]
COLUMNS = ["where", "what", "in the code", "setting", "published", "here", "what differs"]
CODE = re.compile(r"`([^`]+)`")


def rows() -> list[dict[str, str]]:
    lines = (ROOT / "docs" / "papers.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if line[:1] == "|"]
    assert all(len(line) == len(COLUMNS) for line in cells)
    return [
        dict(zip(COLUMNS, line, strict=True))
        for line in cells
        if line != COLUMNS and not line[0].startswith("---")
    ]


ROWS = rows()


def found(name: str) -> Any:
    """What a dotted name of a module, or of something in one, stands for."""
    module, _, last = name.rpartition(".")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return getattr(importlib.import_module(module), last)


@pytest.mark.parametrize(
    "name", sorted({n for row in ROWS for n in CODE.findall(row["in the code"])})
)
def test_the_code_it_names_is_there(name: str) -> None:
    assert (ROOT / name).exists() if "/" in name else found(name) is not None


@pytest.mark.parametrize(
    "setting", sorted({s for row in ROWS for s in CODE.findall(row["setting"])})
)
def test_the_settings_are_accepted(setting: str) -> None:
    name, value = setting.split("=", 1)
    group = (
        {"fusion": "linear"}
        if name.startswith(("fusion.bm25", "fusion.host", "fusion.norm"))
        else {}
    )
    Settings(**group).changed(**{name: read_value(name, value)})


def test_every_published_figure_of_the_same_questions_stands_in_it() -> None:
    known = json.loads((files("lexloop.data") / "published.json").read_text("utf-8"))["tables"]
    listed = {(row["where"], row["what"]): row["published"] for row in ROWS}
    of_ll144 = {name: there for name, there in known.items() if there["asked"] == "ll144"}
    assert len(of_ll144) == 3
    for table, there in of_ll144.items():
        for name, figures in there["rows"].items():
            where = table.removeprefix("HyPA-RAG ")
            assert float(listed[where, name]) == figures["correctness"]


def test_every_line_says_where_what_and_what_came_of_it() -> None:
    assert len(ROWS) > 130
    assert all(row["where"] and row["what"] and row["in the code"] and row["here"] for row in ROWS)
