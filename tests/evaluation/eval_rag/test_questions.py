"""The index of known questions and what its vectors are kept in, and work done side by side."""

import threading
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import DataError, ModelAuthError
from lexloop.evaluation.eval_rag.questions import (
    QuestionIndex,
    kept_vectors,
    side_by_side,
)
from lexloop.models.embedding import Embedder


def silent(done: int, total: int) -> None:
    """A progress report that nobody reads."""


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How much is a licence for my dog?", "dog_act.txt § 1"),
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
    assert found[0].authority.label == label
    assert 0.3 < found[1] <= 1.01


def test_a_known_question_finds_itself_and_only_documents_asked_for(
    index: QuestionIndex,
) -> None:
    questions = [entry.question for entry in index.entries]
    found = index.nearest(questions, [None] * len(questions))
    assert [one[0].question for one in found if one] == questions
    dog = "How much is a licence for my dog?"
    cats, nothing = index.nearest([dog, dog], [["cat_act.txt"], ["no_act.txt"]])
    assert cats is not None
    assert cats[0].authority.documents == ("cat_act.txt",)
    assert nothing is None
    assert index.nearest([], []) == []


def test_vectors_are_kept_to_the_bit_and_damage_is_seen(minilm: Embedder, tmp_path: Path) -> None:
    folder, asked = tmp_path / "kept", ["What does a chip cost?", "Why?"]
    vectors = kept_vectors(asked, minilm, folder, silent)
    (file,) = folder.iterdir()
    node, data = file.stat().st_ino, file.read_bytes()
    assert np.array_equal(kept_vectors(asked, minilm, folder, silent), vectors)
    assert file.stat().st_ino == node
    for place in (0, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert np.array_equal(kept_vectors(asked, minilm, folder, silent), vectors)
        assert file.read_bytes() == data
    file.write_bytes(data[:40])
    assert np.array_equal(kept_vectors(asked, minilm, folder, silent), vectors)
    kept_vectors(asked[1:], minilm, folder, silent)
    assert len(list(folder.iterdir())) == 2
    with pytest.raises(DataError, match="LEXLOOP_CACHE"):
        kept_vectors(asked, minilm, file, silent)


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
    assert list(side_by_side(str, [], silent, 4)) == []


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ModelAuthError("refused", "hint")

    with pytest.raises(ModelAuthError):
        list(side_by_side(work, range(1000), lambda *_: None, 1))
    assert len(begun) < 1000
