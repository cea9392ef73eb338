"""Rows that a generator is trained on, and figures of what it writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from tiny_model import write_rows

from lexloop.core.errors import InputError
from lexloop.core.types import ABSTENTION
from lexloop_train.generator_figures import measure
from lexloop_train.generator_rows import Example, MeasuredFile, MeasuredRow, divide, read_test

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


PASSAGES = ["The harbour master keeps the register.", "Each boat is kept there for five years."]


@dataclass
class Says:
    """A model that says what it is told to, a reply a row."""

    replies: list[str]
    window: int = 9_999

    def prompt(self, turns: Any) -> list[int]:
        return [1]

    def write(self, prompts: Any, most: int) -> list[list[int]]:
        return [[ord(letter) for letter in self.replies.pop(0)] for _ in prompts]

    def text(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def figures(rows: list[dict[str, Any]], *replies: str) -> dict[str, Any]:
    asked = [MeasuredRow.model_validate(row) for row in rows]
    model: Any = Says(list(replies))
    made = measure(model, MeasuredFile(Path("rows.jsonl"), asked[0].kind, asked), 99, 2)
    return {k: v["mean"] if isinstance(v, dict) else v for k, v in made.items()}


def of_passages(answer: str = PASSAGES[0]) -> dict[str, Any]:
    return {"question": "Who keeps it?", "passages": PASSAGES, "answer": answer}


def test_of_three_sentences_one_is_cited_rightly_and_one_invented() -> None:
    answer = (
        "The harbour master keeps the register [1]. Each boat is kept there for five years [1]. "
        "Whales pay forty euros on Sundays [2]."
    )
    shares = figures([of_passages(), of_passages(ABSTENTION)], answer, ABSTENTION)
    # the second sentence names the passage that does not say it; the third is nowhere
    assert shares["cited"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["invented"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["abstained"] == 0.5
    assert shares["exact_match"] == 0.5


@pytest.mark.parametrize("reply", ["", ABSTENTION])
def test_answers_that_state_nothing_have_no_shares(reply: str) -> None:
    shares = figures([of_passages()], reply)
    assert (shares["cited"], shares["invented"]) == (None, None)


def test_a_marker_of_no_passage_cites_nothing() -> None:
    assert figures([of_passages()], f"{PASSAGES[0][:-1]} [7].")["cited"] == 0.0


def test_a_question_written_out_is_read_from_its_form() -> None:
    row = {"question": "And it?", "history": [], "answer": "Who keeps the register?"}
    shares = figures(
        [row, row, row],
        '{"standalone": "Who keeps the register?", "queries": [], "keywords": []}',
        "Who keeps the register?",
        '{"standalone": 3}',
    )
    assert shares["in_form"] == pytest.approx(1 / 3, abs=1e-4)
    assert shares["exact_match"] == pytest.approx(1 / 3, abs=1e-4)
    assert "cited" not in shares
