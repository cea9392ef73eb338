"""How rows to train on are divided, which are left out, and which cannot be measured on."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from tiny_model import write_rows

from lexloop.core.errors import InputError
from lexloop_train.generator_rows import Example, divide, read_test

WORDS = st.text("ab C", min_size=1, max_size=6).filter(str.strip)


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


@settings(max_examples=examples(100))
@given(
    asked=st.lists(WORDS, max_size=40),
    known=st.lists(WORDS, max_size=5),
    seed=st.integers(0, 2**31),
)
def test_no_row_is_in_two_parts_and_none_is_lost(
    asked: list[str], known: list[str], seed: int
) -> None:
    numbered = [f"row {n}" for n in range(10)]  # enough to train on, whatever else there is
    rows = [Example(question=text, answer="A") for text in [*asked, *numbered]]
    split = divide(rows, known, 0.3, seed, "rows.jsonl")
    trained, held = ([plain(row.asked) for row in part] for part in (split.trained, split.held))
    left = {plain(row.asked) for row in rows} - {plain(text) for text in known}
    assert sorted([*trained, *held]) == sorted(left)
    assert len(held) == round(0.3 * len(left))
    assert split.left_out == len(rows) - len(left)
    assert divide(rows, known, 0.3, seed, "rows.jsonl") == split


def test_context_tells_rows_apart() -> None:
    rows = [Example(question="Q", context=f"C {n}", answer="A") for n in range(10)]
    more = [*rows, *(Example(question="R", context=f"C {n}", answer="A") for n in range(2))]
    parts = divide([*more, *more], ["c 3  q"], 0.5, 7, "rows.jsonl")
    assert len(parts.trained) + len(parts.held) == 11
    assert parts.left_out == 13


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "Q", "choices": ["a", "b"], "answer": "c"}], "not among its choices"),
        ([{"question": "Q", "choices": ["a", "b"], "answer": 2}], "not among its choices"),
        ([{"question": "Q", "choices": ["a", "a"], "answer": "a"}], "two choices are the same"),
        (
            [{"question": "Q", "choices": ["a"], "answer": 0}, {"question": "Q", "answer": "a"}],
            "kinds",
        ),
        ([{"context": "C", "label": "yes"}], "only one label, 'yes'"),
        ([{"answer": "a"}], "it asks nothing"),
    ],
)
def test_rows_that_cannot_be_measured_on(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_test(write_rows(tmp_path / "test.jsonl", rows))


@pytest.mark.parametrize(("share", "part"), [(0.0, "held back"), (1.0, "trained on")])
def test_an_empty_part(share: float, part: str) -> None:
    rows = [Example(question=f"Q {n}", answer="A") for n in range(12)]
    with pytest.raises(InputError, match=f"none would be {part}"):
        divide(rows, [], share, 7, "rows.jsonl")


ASKED = {"question": "How long is it kept?"}


def test_a_row_with_passages_is_asked_as_the_graph_asks_for_an_answer() -> None:
    row = Example.model_validate(
        {**ASKED, "passages": ["Boats.", "Five years."], "answer": "5 [2]"}
    )
    system, user = (turn["content"] for turn in row.turns())
    assert "numbered passages" in system + user
    assert 'passage="2">\nFive years.' in user
    assert "How long is it kept?" in user
    assert row.reply == "5 [2]"
    assert row.asked == "Boats.\n\nFive years.\n\nHow long is it kept?"


def test_a_row_with_a_history_learns_the_form_that_rewrite_asks_for() -> None:
    history = [{"role": "user", "content": "Who keeps the register?"}]
    row = Example.model_validate({**ASKED, "history": history, "answer": "How long is one kept?"})
    _, user = (turn["content"] for turn in row.turns())
    assert 'kind="user">\nWho keeps the register?' in user
    assert row.reply == '{"standalone":"How long is one kept?","queries":[],"keywords":[]}'


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"passages": ["A."], "context": "B."}, "two of: context or system, passages, history"),
        ({"passages": ["A."], "choices": ["a", "b"], "answer": "a"}, "answered in words"),
        ({"history": [], "label": "yes", "answer": ""}, "answered in words"),
    ],
)
def test_rows_of_two_forms(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    rows = [{**ASKED, "answer": "a", **more}]
    with pytest.raises(InputError, match=message):
        read_test(write_rows(tmp_path / "test.jsonl", rows))
