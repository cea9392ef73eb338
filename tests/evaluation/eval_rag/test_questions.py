"""The index of known questions and what it is cached in, and work done side by side."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.core.errors import DataError, ModelAuthError
from lexloop.evaluation.eval_rag.authorities import Authority, Entry, authorities_of
from lexloop.evaluation.eval_rag.questions import (
    QuestionIndex,
    cached_index,
    entries_by_rule,
    side_by_side,
)
from lexloop.models.embedding import Embedder
from lexloop.store.view import View

ANSWER = Authority("pair", "answer", "a known answer", "Chips cost 20 euros.")


def silent(done: int, total: int) -> None:
    """A progress report that nobody reads."""


@pytest.fixture(scope="module")
def entries(acts: View) -> list[Entry]:
    return [*entries_by_rule(authorities_of(acts)), Entry("What is the price of a chip?", ANSWER)]


@pytest.fixture(scope="module")
def index(entries: list[Entry], minilm: Embedder) -> QuestionIndex:
    return QuestionIndex.build(entries, minilm, silent)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How much is a licence for my dog?", "dog_act.txt § 1"),
        ("Must I put my dog on a lead in the park?", "dog_act.txt § 2"),
        ("Does a cat outdoors need a chip?", "cat_act.txt § 7"),
        ("What does a chip cost?", "a known answer"),
        ("My dog died; do I get the fee back?", "2013MU2250.txt"),
    ],
)
def test_the_nearest_question_leads_to_the_authority(
    index: QuestionIndex, question: str, label: str
) -> None:
    (found,) = index.nearest([question], [None])
    assert found is not None
    entry, similarity = found
    assert entry.authority.label == label
    assert 0.3 < similarity <= 1.01


def test_a_known_question_finds_itself(index: QuestionIndex, entries: list[Entry]) -> None:
    questions = [entry.question for entry in entries]
    found = index.nearest(questions, [None] * len(questions))
    assert [one[0].question for one in found if one] == questions


def test_only_among_the_documents_asked_for(index: QuestionIndex) -> None:
    dog = "How much is a licence for my dog?"
    cats, nothing = index.nearest([dog, dog], [["cat_act.txt"], ["no_act.txt"]])
    assert cats is not None
    assert cats[0].authority.documents == ("cat_act.txt",)
    assert nothing is None
    assert index.nearest([], []) == []


def test_kept_and_found_again(
    entries: list[Entry], minilm: Embedder, tmp_path: Path, index: QuestionIndex
) -> None:
    folder = tmp_path / "kept"
    cached_index(entries, minilm, folder, silent)
    (file,) = folder.iterdir()
    again = QuestionIndex.load(file, minilm)
    assert again.entries == entries
    asked = ["What does a chip cost?"], [None]
    assert again.nearest(*asked) == index.nearest(*asked)
    before = file.stat().st_ino
    cached_index(entries, minilm, folder, silent)
    assert file.stat().st_ino == before
    cached_index(entries[1:], minilm, folder, silent)
    assert len(list(folder.iterdir())) == 2


@settings(max_examples=examples(20))
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_any_flipped_bit_is_seen(
    entries: list[Entry], minilm: Embedder, tmp_path_factory: pytest.TempPathFactory,
    at: int, bit: int,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("flipped")
    cached_index(entries[:2], minilm, folder, silent)
    (file,) = folder.iterdir()
    data = bytearray(file.read_bytes())
    data[at % len(data)] ^= 1 << bit
    file.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        QuestionIndex.load(file, minilm)
    assert len(cached_index(entries[:2], minilm, folder, silent)) == 2
    QuestionIndex.load(file, minilm)


def test_what_cannot_be_used_is_said(
    entries: list[Entry], minilm: Embedder, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="cannot be used"):
        QuestionIndex.load(tmp_path / "none", minilm)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(DataError, match="LEXLOOP_CACHE"):
        cached_index(entries, minilm, blocked, silent)


def test_vectors_are_kept_to_the_bit(
    entries: list[Entry], minilm: Embedder, tmp_path: Path
) -> None:
    vectors = minilm.encode([entry.question for entry in entries], silent)
    QuestionIndex(entries, vectors, minilm).save(tmp_path / "x")
    again = QuestionIndex.load(tmp_path / "x", minilm)
    assert np.array_equal(again._vectors, vectors)


def test_results_come_in_order_whoever_is_first() -> None:
    first_may_end = threading.Event()
    seen: list[tuple[int, int]] = []

    def work(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(10)
        else:
            first_may_end.set()
        return number * number

    made = side_by_side(work, range(5), lambda *done: seen.append(done), 2)
    assert list(made) == [i * i for i in range(5)]
    assert seen == [(i, 5) for i in range(6)]


def test_nothing_to_do() -> None:
    seen: list[tuple[int, int]] = []
    assert list(side_by_side(str, [], lambda *done: seen.append(done), 4)) == []
    assert seen == [(0, 0)]


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ModelAuthError("refused", "hint")

    with pytest.raises(ModelAuthError):
        list(side_by_side(work, range(1000), lambda *_: None, 1))
    assert len(begun) < 1000
