"""Review files: decisions, edits, what is accepted; and reviews that go through a spreadsheet."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexloop.core.errors import InputError
from lexloop_eval.case import Case, Said, Span
from lexloop_eval.testset.review import (
    COLUMNS,
    CRITERIA,
    DECISIONS,
    Reviewed,
    accepted,
    as_table,
    open_review,
    read_review,
    read_table,
)

QUESTIONS = [
    Case(
        id=name,
        question=f"What is {name}?",
        question_type="simple",
        reference_answer="A charge.",
        reference_context="The levy is\na charge.",
        conversation_history=(Said(role="user", content="Good day."),),
        evidence=(Span(document="a.txt", start=0, end=9, section="Section 1(1)"),),
    )
    for name in ("one", "two", "three")
]
ROWS = open_review(QUESTIONS)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
SOLID = TEXT.filter(lambda text: bool(text.strip()))


def table(rows: list[Reviewed]) -> list[dict[str, str]]:
    text = as_table(rows).removeprefix("\ufeff")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """A table that a person changed: (row, column, text), as a spreadsheet saves it."""

    def save(*changes: tuple[int, str, str], delimiter: str = ",", ends: str = "\r\n") -> Path:
        rows = table(ROWS)
        for place, column, text in changes:
            rows[place][column] = text
        path = tmp_path / "review.csv"
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, delimiter=delimiter, lineterminator=ends)
            writer.writeheader()
            writer.writerows(rows)
        return path

    return save


def test_a_decision_judges_every_criterion_and_an_edit_is_marked() -> None:
    row = ROWS[0]
    assert all(getattr(row.decided("accept"), name) is True for name in CRITERIA)
    dropped = row.decided("drop", ["clarity", "correctness"], "odd")
    assert (dropped.failed, dropped.note) == (["correctness", "clarity"], "odd")
    assert row.decided("drop").failed == []
    with pytest.raises(InputError, match="fails clarity"):
        accepted([row.decided("accept").model_copy(update={"clarity": False})])
    assert row.changed("", " ") is row
    changed = row.changed("What is it?", "")
    assert (changed.question, changed.reference_answer, changed.edited) == (
        "What is it?", "A charge.", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a", "question": "Q?", "decision": "maybe"}', "line 1, field decision"),
        ('{"id": "a", "question": "Q?", "descision": "drop"}', "field descision"),
        ('{"question": "Q?"}', "no id"),
        (
            '{"id": "a", "question": "Q?"}\n{"id": "a", "question": "R?"}',
            "1 ids occur more than once, first 'a'",
        ),
    ],
)
def test_a_malformed_review_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "review.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        read_review(path)


def test_decisions_and_edits_come_back_from_a_table(saved: Callable[..., Path]) -> None:
    assert table(ROWS)[0] == {
        "decision": "", "id": "one", "type": "simple", "section": "Section 1(1)",
        "before": "user: Good day.", "question": "What is one?", "answer": "A charge.",
        "evidence": "The levy is\na charge.", "failed": "", "note": "",
    }  # fmt: skip
    path = saved(
        (0, "decision", "Keep"),
        (1, "decision", "edit"), (1, "question", "How high is the levy?"),
        (2, "decision", "drop"), (2, "failed", "clarity, correctness"), (2, "note", "odd"),
    )  # fmt: skip
    one, two, three = read_table(path, ROWS)
    assert one == ROWS[0].decided("accept")
    assert two == ROWS[1].changed("How high is the levy?", "").decided("accept")
    assert three == ROWS[2].decided("drop", ["correctness", "clarity"], "odd")
    assert [row["decision"] for row in table([one, two, three])] == list(DECISIONS)


def test_what_a_spreadsheet_does_to_a_file_changes_nothing(saved: Callable[..., Path]) -> None:
    assert read_table(saved(delimiter=";", ends="\n"), ROWS) == ROWS
    crlf = saved(*((place, "evidence", "The levy is\r\na charge.") for place in range(3)))
    assert read_table(crlf, ROWS) == ROWS
    path = saved((0, "decision", "keep"))
    lines = path.read_text("utf-8-sig").split("\r\n")
    path.write_text("\r\n".join(lines[:2]) + "\r\n\r\n", "utf-8", newline="")
    assert read_table(path, ROWS) == [ROWS[0].decided("accept"), *ROWS[1:]], "rows left out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((1, "decision", "maybe"), r"row 3 \(line 5\), column decision: 'maybe' is none of keep"),
        ((0, "id", "two"), r"row 3 \(line 5\), column id: 'two' occurs more than once"),
        ((2, "evidence", "The levy is free."), r"row 4 .*, column evidence: it was changed"),
        ((0, "question", "How high is it?"), "column question: it was changed, but the decision"),
        ((0, "failed", "clarity"), "column failed: only a question that is dropped"),
    ],
)
def test_wrong_cells_are_named_and_nothing_is_taken(
    saved: Callable[..., Path], change: tuple[int, str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_table(saved(change), ROWS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "line 1: the columns decision, id"),
        ((as_table(ROWS) + "keep,one\r\n").encode(), r"row 5 .*2 cells where there are 10 columns"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)
def test_broken_tables_are_refused(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "review.csv"
    path.write_bytes(text)
    with pytest.raises(InputError, match=message):
        read_table(path, ROWS)


@given(texts=st.tuples(SOLID, SOLID, TEXT, TEXT), decision=st.sampled_from(DECISIONS))
@example(texts=("=1", "'a\r\nb\rc", "'=", '"'), decision="edit")
@example(texts=("@SUM(A1)", "\t=1", "\r=1", "＝1"), decision="edit")
@example(texts=("0", "\t0", "'\t0", "\r"), decision="edit")
@example(texts=("a;b\tc", '"",""', "\x00", "\ufeff"), decision="edit")
def test_every_text_survives_byte_for_byte_and_no_cell_is_a_formula(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str, str, str], decision: str
) -> None:
    question, answer, note, evidence = texts
    path = tmp_path_factory.mktemp("table") / "review.csv"
    before = ROWS[0].model_copy(update={"reference_context": evidence})
    edited = before.model_copy(
        update={"question": question, "reference_answer": answer, "edited": True}
    )
    decided = edited.decided("drop" if decision == "drop" else "accept", (), note)
    for row in (before, decided):
        for cell in table([row])[0].values():
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝"))
        path.write_bytes(as_table([row]).encode())
        assert read_table(path, [row]) == [row]
    if decision == "edit":
        assert read_table(path, [before]) == [decided]
