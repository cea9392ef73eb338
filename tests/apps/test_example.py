"""``lexloop example``: documents to try things on, which no file of anybody's is lost for."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_there_is_left_alone(run: Run) -> None:
    Path("mine").mkdir()
    assert run("example", "mine", "laws").exit_code == 0
    acts = sorted(os.listdir("mine"))
    assert acts == ["data-act.md", "harbour-act.md", "kennel-act.md"]
    Path("file").write_text("mine")
    for place, said in (
        ("mine", "mine is not empty. Name a folder that is new, or empty."),
        ("file", "file cannot be written"),
        ("file/below", "file/below cannot be written"),
    ):
        refused = run("example", place)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert said in refused.stderr
    assert (sorted(os.listdir("mine")), Path("file").read_text()) == (acts, "mine")
    assert run("example", "new", "poems").exit_code == 2
    assert not Path("new").exists()
