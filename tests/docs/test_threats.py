"""The threat model: every line names a test, and every test that it names is there."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operator" / "threats.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def functions_of(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {one.name for one in ast.walk(tree) if isinstance(one, kinds)}


def test_every_line_names_tests_that_are_there() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 20
    assert [row for row in rows if not NAMED.search(row.rpartition(" | ")[2])] == []
    lost = [
        f"{file}::{name}"
        for file, name in NAMED.findall(PAGE)
        if name not in functions_of(ROOT / ("" if file.startswith("packages") else "tests") / file)
    ]
    assert lost == []
