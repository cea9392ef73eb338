"""Pairs of a question and its provision: the file, the split, click logs."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import InputError
from lexloop.finetune.pairs import (
    FEWEST,
    TrainingPair,
    deduplicated,
    read_clicks,
    read_pairs,
    split,
    write_pairs,
)

FEE = TrainingPair(
    "What is the fee?", "The fee is 5 euros.", "Fees", "a.txt", "rule", ("Boats pay.",)
)
LINE = '{"question": "What?", "text": "That.", "document": "a"}'


def many(count: int, documents: int) -> list[TrainingPair]:
    return [
        TrainingPair(f"Why {n}?", f"Because of {n}.", "", f"d{n % documents}") for n in range(count)
    ]


def test_pairs_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    other = TrainingPair("Wofür? \u2028", "Für „alles“.", "", "b")
    write_pairs(path, [FEE, other])
    assert read_pairs(path) == [FEE, other]
    first, second = (json.loads(line) for line in path.read_text("utf-8").strip().split("\n"))
    assert list(first) == ["question", "text", "heading", "document", "source", "negatives"]
    assert "negatives" not in second


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{LINE}\nno json\n", "line 2: no JSON"),
        (f'{LINE}\n\n{{"question": "What?", "text": "That."}}', "line 3, field document"),
        (f'{LINE}\n{{"question": " ", "text": "t", "document": "a"}}', "line 2, field question"),
        (f'{LINE}\n{{"question": "q", "text": 1, "document": "a"}}', "line 2, field text"),
        (f"{LINE}\n[]", "line 2: a list"),
        (LINE, "holds 1 pairs"),
        ("", "holds no records"),
    ],
)
def test_a_file_that_cannot_be_used(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_pairs(path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_pairs(tmp_path / "gone" / "pairs.jsonl", [FEE])


def test_repeats_are_told_by_their_words() -> None:
    shouted = TrainingPair("what is the FEE", "The fee is 5 euros", "Other", "b.txt")
    same_question = TrainingPair(FEE.question, "It is 6 euros.", "", "a.txt")
    assert deduplicated([FEE, shouted, same_question]) == [FEE, same_question]
    assert deduplicated([]) == []


def test_the_split_is_the_same_on_every_machine() -> None:
    # SHA-256 of "0:d4" begins with 53b3, of "0:d0" with 5a03, of "0:d3" with b4f8: .33, .35, .71
    training, kept = split(many(14, 7), 0.36)
    assert {pair.document for pair in kept} == {"d0", "d4"}
    assert [pair.question for pair in training] == [
        f"Why {n}?" for n in range(14) if n % 7 not in (0, 4)
    ]
    assert split(many(14, 7), 0.36, seed=1)[1] != kept
    # none is below a tenth, and all are below 99 %: the nearest one changes sides
    assert {pair.document for pair in split(many(14, 7), 0.1)[1]} == {"d4"}
    assert {pair.document for pair in split(many(14, 7), 0.99)[0]} == {"d6"}


@pytest.mark.parametrize("share", [0.01, 0.2, 0.99])
def test_two_pairs_are_kept_where_a_document_has_one(share: float) -> None:
    training, kept = split(many(7, 7), share)
    assert len(kept) >= FEWEST
    assert training
    assert len(kept) == {0.01: 2, 0.2: 2, 0.99: 6}[share]


@given(st.integers(2, 40), st.floats(0.01, 0.99), st.integers(0, 5))
def test_no_document_is_on_both_sides(documents: int, share: float, seed: int) -> None:
    pairs = many(2 * documents, documents)
    training, kept = split(pairs, share, seed)
    assert training
    assert kept
    assert not {p.document for p in training} & {p.document for p in kept}
    assert len(training) + len(kept) == len(pairs)
    # another document moves none of those that decide for themselves
    again, _ = split([*pairs, TrainingPair("New?", "New.", "", "new")], share, seed)
    if 1 < len({p.document for p in kept}) < documents - 1:
        assert [p for p in again if p.document != "new"] == training


def test_a_text_that_is_kept_is_not_trained_on() -> None:
    copied = [TrainingPair(f"Who {n}?", "because of 4", "", "d0") for n in range(2)]
    training, kept = split([*many(14, 7), *copied], 0.1)
    assert "Because of 4." in [pair.text for pair in kept]
    assert len(training) == 12


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, float("nan")])
def test_a_share_that_is_none(share: float) -> None:
    with pytest.raises(InputError, match="share"):
        split(many(4, 2), share)


@pytest.mark.parametrize(("count", "documents"), [(0, 1), (4, 1)])
def test_an_empty_side(count: int, documents: int) -> None:
    with pytest.raises(InputError, match="for training and"):
        split(many(count, documents), 0.5)


CLICKED = """query,document,title,body,clicks
pdf merge,d1,Merge files,How to merge files.,3
pdf merge,d2,Split files,How to split files.,0
pdf merge,d1,Merge files,How to merge files.,1
sign,,Sign,,2
"""


def test_clicks_are_pairs_with_title_and_body(tmp_path: Path) -> None:
    table, lines = tmp_path / "clicks.csv", tmp_path / "clicks.jsonl"
    table.write_text(CLICKED, encoding="utf-8")
    expected = [
        TrainingPair("pdf merge", "Merge files", "", "d1", "clicks, title"),
        TrainingPair("pdf merge", "How to merge files.", "Merge files", "d1", "clicks, body"),
        TrainingPair("sign", "Sign", "", "Sign", "clicks, title"),
    ]
    assert read_clicks(table) == expected
    rows = [
        {"query": "pdf merge", "document": 1, "title": "Merge files", "body": "How.", "clicks": 3},
        {"query": "sign", "title": "Sign", "clicks": 2},
    ]
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [pair.document for pair in read_clicks(lines)] == ["1", "1", "Sign"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("clicks.txt", CLICKED, "no click log"),
        ("clicks.csv", CLICKED.replace(",3\n", ",many\n"), "line 2, field clicks"),
        ("clicks.csv", CLICKED.replace("query,", "asked,"), "line 2, field query"),
        ("clicks.csv", "", "holds 0 pairs"),
        ("clicks.csv", "query,title,clicks\na,b,0\n", "holds 0 pairs"),
        ("clicks.csv", 'query,title,clicks\n"a,b,0\n', "cannot be read"),
        ("clicks.jsonl", '{"query": "a", "title": "b", "clicks": -1}', "line 1, field clicks"),
    ],
)
def test_a_click_log_that_cannot_be_used(name: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_clicks(tmp_path / name)
