"""How rows to train on are divided, and which are left out."""

from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.finetune.generator_rows import Example, divide

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
