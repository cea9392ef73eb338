"""Review files: decisions, edits, and what is accepted."""

import json
from pathlib import Path

import pytest

from lexloop.core.errors import InputError
from lexloop.evaluation.case import Case, Span, read_cases
from lexloop.evaluation.testset.review import (
    CRITERIA,
    accepted,
    apply_review,
    open_review,
    read_review,
    write_review,
)

SPAN = Span(document="a.txt", start=0, end=9)
QUESTIONS = [
    Case(id=name, question=f"What is {name}?", reference_answer="A.", evidence=(SPAN,))
    for name in ("one", "two", "three")
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "review.jsonl"
    write_review(path, open_review(QUESTIONS))
    return path


def test_a_review_opens_with_nothing_decided(file: Path) -> None:
    rows = read_review(file)
    assert [row.decision for row in rows] == ["open"] * 3
    assert file.read_text("utf-8").startswith('{"decision": "open", "id": "one"')
    assert set(json.loads(file.read_text("utf-8").splitlines()[0])) >= set(CRITERIA)


def test_accepted_questions_become_a_gold_file(file: Path, tmp_path: Path) -> None:
    one, two, three = read_review(file)
    rows = [one.decided("accept"), two.decided("drop", ["clarity"]), three]
    write_review(file, rows)
    assert apply_review(file, tmp_path / "gold.jsonl") == (1, 1, 1)
    assert read_cases(tmp_path / "gold.jsonl") == [QUESTIONS[0]]


def test_a_decision_judges_every_criterion(file: Path) -> None:
    row = read_review(file)[0]
    assert all(getattr(row.decided("accept"), name) is True for name in CRITERIA)
    dropped = row.decided("drop", ["clarity", "correctness"], "odd")
    assert dropped.failed == ["correctness", "clarity"]
    assert dropped.note == "odd"
    assert row.decided("drop").failed == []


def test_what_a_person_edits_in_the_file_is_kept(file: Path, tmp_path: Path) -> None:
    row = json.loads(file.read_text("utf-8").splitlines()[0])
    row |= {"decision": "accept", "question": "What is a permit?"}
    file.write_text(json.dumps(row), "utf-8")
    apply_review(file, tmp_path / "gold.jsonl")
    assert read_cases(tmp_path / "gold.jsonl")[0].question == "What is a permit?"


def test_an_edit_is_marked_and_blanks_change_nothing(file: Path) -> None:
    row = read_review(file)[0]
    assert row.changed("", " ") is row
    changed = row.changed("What is it?", "")
    assert (changed.question, changed.reference_answer, changed.edited) == (
        "What is it?", "A.", True,
    )  # fmt: skip


def test_a_gold_file_is_a_review_with_nothing_decided(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(QUESTIONS[0].model_dump_json(), "utf-8")
    assert read_review(path) == open_review(QUESTIONS[:1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a", "question": "Q?", "decision": "maybe"}', "line 1, field decision"),
        ('{"id": "a", "question": "Q?", "descision": "drop"}', "field descision"),
        ('{"question": "Q?"}', "no id"),
        ('{"id": "a", "question": "Q?"}\n{"id": "a", "question": "R?"}', "two questions"),
        ("{", "line 1: no JSON"),
        ("", "no records"),
    ],
)
def test_a_malformed_review_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "review.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=said):
        read_review(path)


def test_nothing_accepted_makes_no_gold_file(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="None of 3"):
        apply_review(file, tmp_path / "gold.jsonl")
    assert not (tmp_path / "gold.jsonl").exists()


def test_an_accepted_question_fails_no_criterion(file: Path) -> None:
    row = read_review(file)[0].decided("accept").model_copy(update={"clarity": False})
    with pytest.raises(InputError, match="fails clarity"):
        accepted([row])
