"""Each package keeps within the statements and the dependencies that `budget.toml` allows it."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import house  # noqa: E402 - found through the line above

BUDGET = tomllib.loads((ROOT / "budget.toml").read_text("utf-8"))


def test_every_package_has_a_budget() -> None:
    assert set(BUDGET) == {"lexloop", *house.PACKAGES}
    assert {path.name for path in (ROOT / "packages").iterdir()} == {*house.PACKAGES}


@pytest.mark.parametrize("package", BUDGET)
def test_a_package_keeps_within_its_budget(package: str) -> None:
    rooms = house.PRODUCT if package == "lexloop" else (package,)
    sizes = house.sizes(ROOT)
    allowed = BUDGET[package]
    assert house.total(sizes[room] for room in rooms).statements <= allowed["statements"]
    folder = ROOT if package == "lexloop" else ROOT / "packages" / package
    assert len(house.dependencies(folder)) <= allowed["dependencies"]


def test_an_answer_without_torch_takes_less_than_700_megabytes() -> None:
    names, size = house.installed("lexloop")
    assert size < 700e6
    brought = house.installed("lexloop", "torch")[0] - names
    assert {"torch", "transformers", "sentence-transformers", "scikit-learn"} <= brought


def test_statements_are_counted_without_docstrings_and_comments() -> None:
    text = '"""Told."""\n# why\nx = 1; y = 2\ndef f() -> int:\n    """Told."""\n    return x\n'
    assert house.statements(ast.parse(text)) == 4
