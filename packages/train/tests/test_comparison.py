"""Hit rate and MRR of embedders over sets, by hand: what is searched, and what is right."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import write_rows, write_texts

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import load_minilm
from lexloop_train.comparison import SearchSet, compared, places_of, read_sets, scores_at, tables
from lexloop_train.pairs import TrainingPair, write_pairs

SETTINGS = Settings()
SILENT = lambda *_: None  # noqa: E731 - of two kinds of callers


class Letters:
    """An embedder whose vectors count letters; a token is a letter, and five are a window."""

    name, dimension, window = "letters", 26, 7

    def embed(self, texts: list[str]) -> Vectors:
        rows = np.zeros((len(texts), 26), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text:
                if letter.isalpha():
                    row[ord(letter) - 97] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        progress(len(texts), len(texts))
        return self.embed([*texts]).astype(np.float16)

    def count_tokens(self, text: str) -> int:
        return sum(letter.isalpha() for letter in text)

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count_tokens(text) for text in texts]


def pairs_of(path: Path, *rows: tuple[str, str]) -> SearchSet:
    write_pairs(path, [TrainingPair(question, text, "", "one") for question, text in rows])
    [search_set] = read_sets([path], None, SETTINGS)
    return search_set


def test_places_by_hand(tmp_path: Path) -> None:
    search_set = pairs_of(
        tmp_path / "pairs.jsonl",
        ("aa", "aab"),  # aac is as near: it is no better than second
        ("b", "aac"),  # only aab has a b; the others are all as far
        ("d", "ddd"),
        ("d", "aac"),  # either is right
        ("z", "aaaaa zzzzz"),  # two windows, of which the better counts
    )
    assert (len(search_set.texts), search_set.questions) == (4, ["aa", "b", "d", "z"])
    assert search_set.right == [frozenset({0}), frozenset({1}), frozenset({1, 2}), frozenset({3})]
    # a: the window aaaaa is nearest
    assert places_of(Letters(), search_set, SETTINGS, SILENT) == {"cosine": [2, 3, 0, 0]}


def test_figures_by_hand() -> None:
    places = {"one": {"s": [0, 2, 9], "t": [0]}, "other": {"s": [0, 0, 0], "t": [1]}}
    rows = compared(places, [1, 3])
    assert [(row["k"], row["embedder"], row["set"]) for row in rows] == [
        *((1, "one", "s"), (1, "one", "t"), (1, "other", "s"), (1, "other", "t")),
        *((3, "one", "s"), (3, "one", "t"), (3, "other", "s"), (3, "other", "t")),
    ]
    assert rows[0]["hit"]["mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert rows[4]["hit"]["mean"] == pytest.approx(2 / 3, abs=1e-6)
    assert rows[4]["mrr"]["mean"] == pytest.approx((1 + 1 / 3) / 3, abs=1e-6)
    assert rows[4]["hit"]["low"] <= 2 / 3 <= rows[4]["hit"]["high"]
    assert "p" not in rows[4]["hit"]
    assert 0 < rows[6]["hit"]["p"] <= 1
    lines = tables(rows)
    assert lines[0] == "|  | embedder | mean | s | t |"
    assert len(lines) == 2 * (2 + 4) + 1
    # 0.333 of s and 1 of t
    assert lines[2].startswith("| Hit rate @ 1 | one | 0.667 | 0.333 [")
    assert lines[6] == ""
    assert "| MRR @ 3 | other | 0.750 | 1.000 [1.000, 1.000] p = " in "\n".join(lines)


@given(st.lists(st.integers(0, 30), min_size=1), st.integers(1, 20), st.integers(1, 20))
def test_more_texts_are_never_worse_and_mrr_is_never_more(
    places: list[int], depth: int, more: int
) -> None:
    few, many = scores_at(places, depth), scores_at(places, depth + more)
    assert np.mean(few["hit"]) <= np.mean(many["hit"])  # type: ignore[arg-type]
    assert np.mean(few["mrr"]) <= np.mean(few["hit"])  # type: ignore[arg-type]


LAW = """\
Article 1

The clerk keeps the register.

Article 2

The mayor keeps the seal.
"""


@pytest.fixture
def law(tmp_path: Path) -> Path:
    """A folder with a law of two articles."""
    return write_texts(tmp_path / "law", {"law.txt": LAW})


def asked(question: str, quote: str) -> dict[str, object]:
    start = LAW.index(quote)
    span = {"document": "law.txt", "start": start, "end": start + len(quote)}
    return {"question": question, "evidence": [span]}


def test_gold_questions_search_the_chunks_beside_them(law: Path) -> None:
    write_rows(
        law / "gold.jsonl",
        asked("Who keeps the seal?", "The mayor keeps the seal."),
        asked("Who keeps the register?", "The clerk keeps the register."),
        {"question": "Who keeps the dog?", "question_type": "out of scope"},
        {"question": "And the cat?"},
    )
    [search_set] = read_sets([law / "gold.jsonl"], None, SETTINGS)
    assert (search_set.name, len(search_set.questions), search_set.left_out) == ("gold", 2, 1)
    assert ["seal" in search_set.texts[place]["text"] for place in search_set.right[0]] == [True]
    places = places_of(load_minilm(), search_set, SETTINGS, SILENT)
    assert places == {"cosine": [0, 0], "late": [0, 0]}


def test_documents_elsewhere_and_names_that_tell_sets_apart(law: Path, tmp_path: Path) -> None:
    first, other = tmp_path / "a", tmp_path / "b"
    case = asked("Who keeps the seal?", "The mayor keeps the seal.")
    for folder in (first, other):
        folder.mkdir()
        write_rows(folder / "gold.jsonl", case)
    paths = [first / "gold.jsonl", other / "gold.jsonl"]
    assert [search_set.name for search_set in read_sets(paths, law, SETTINGS)] == [
        "a/gold",
        "b/gold",
    ]
    with pytest.raises(InputError, match="given twice"):
        read_sets([paths[0], paths[0]], law, SETTINGS)


def test_gold_without_evidence(law: Path) -> None:
    path = write_rows(law / "gold.jsonl", {"question": "Who keeps the seal?"})
    with pytest.raises(InputError, match="names no evidence"):
        read_sets([path], None, SETTINGS)
    span = {"document": "other.txt", "start": 0, "end": 9}
    write_rows(path, {"question": "Who keeps the seal?", "evidence": [span]})
    with pytest.raises(InputError, match=r"No evidence of .* is in the documents"):
        read_sets([path], None, SETTINGS)
    path.write_text("no JSON", "utf-8")
    with pytest.raises(InputError, match="malformed"):
        read_sets([path], None, SETTINGS)
