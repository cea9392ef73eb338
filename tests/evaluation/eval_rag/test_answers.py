"""Answers in a file: what may be missing, and what is refused by line and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import InputError
from lexloop.evaluation.eval_rag.judging import read_answers

GOOD: dict[str, Any] = {"question": "Why?", "answer": "So."}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def written(file: Path, *rows: Any) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return file


def test_what_may_be_missing(file: Path) -> None:
    bare, full = read_answers(
        written(file, GOOD, {**GOOD, "id": 7, "system": "gpt", "contexts": ["a"], "human": 3})
    )
    assert (bare.id, bare.system, bare.human, bare.contexts) == ("a0001", "", None, None)
    assert (full.id, full.system, full.human, full.contexts) == ("7", "gpt", 3.0, ("a",))


def test_a_column_of_another_name(file: Path) -> None:
    (answer,) = read_answers(written(file, {**GOOD, "lawyer": 8, "human": "not read"}), "lawyer")
    assert answer.human == 8.0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": " ", "answer": "So."}, "line 2, field question"),
        ({**GOOD, "contexts": "one text"}, "line 2, field contexts"),
        ({**GOOD, "human": "8"}, "line 2, field human"),
        ({**GOOD, "human": True}, "line 2, field human"),
        ({**GOOD, "human": float("nan")}, "line 2, field human"),
    ],
)
def test_malformed_lines(file: Path, row: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_answers(written(file, GOOD, row))


def test_ids_of_one_system(file: Path) -> None:
    row = {**GOOD, "id": "x"}
    assert len(read_answers(written(file, {**row, "system": "a"}, {**row, "system": "b"}))) == 2
    with pytest.raises(InputError, match="'x' of 'a'"):
        read_answers(written(file, {**row, "system": "a"}, {**row, "system": "a"}))


def test_a_column_that_is_not_there(file: Path) -> None:
    with pytest.raises(InputError, match="no line has a score in 'lawyer'"):
        read_answers(written(file, GOOD), "lawyer")
    with pytest.raises(InputError, match="holds no scores"):
        read_answers(written(file, GOOD), "question")
