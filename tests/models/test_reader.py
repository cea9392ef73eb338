"""The reader of questions and texts."""

from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import DataError
from lexloop.models.minilm import TOKENIZER, genuine_folder
from lexloop.models.reader import Reader, load_reader

QUESTION = "What is the rent of the boathouse?"
RENT = "Lease of the boathouse. Rent. The rent is 900 pounds a quarter."
USE = "Lease of the boathouse. Use. The Tenant must not paint the boathouse."
OTHER = "Bats are counted at dusk."


def test_what_answers_comes_before_what_shares_words_and_that_before_the_rest() -> None:
    rent, use, other = load_reader().read(QUESTION, [RENT, USE, OTHER]).order.tolist()
    assert rent > use > other
    assert rent > 0 > other


def test_what_is_only_near_is_told_from_what_answers() -> None:
    rent, use, other = load_reader().read(QUESTION, [RENT, USE, OTHER]).answers.tolist()
    assert rent > 0 > max(use, other)


def test_a_text_reads_the_same_whatever_is_read_with_it() -> None:
    reader = load_reader()
    alone = [reader.read(QUESTION, [text]) for text in (RENT, USE, OTHER)]
    fresh = Reader(_weights(), genuine_folder() / TOKENIZER)
    assert fresh.read(QUESTION, [OTHER, USE * 30, RENT, USE]).order[2] == alone[0].order[0]
    together = fresh.read(QUESTION, [RENT, USE, OTHER])
    assert together.order.tolist() == [float(one.order[0]) for one in alone]
    assert together.answers.tolist() == [float(one.answers[0]) for one in alone]


@pytest.mark.parametrize("question", ["", "?", "rent " * 2000, "租" * 900])
def test_any_question_and_text_is_read(question: str) -> None:
    found = np.stack(load_reader().read(question, ["", " ", "rent " * 5000]))
    assert found.shape == (2, 3)
    assert np.isfinite(found).all()
    assert np.stack(load_reader().read(question, [])).shape == (2, 0)


def test_a_long_question_leaves_room_for_the_text() -> None:
    long = f"{QUESTION} {'boathouse ' * 130}"
    rent, other = load_reader().read(f"{long}{'bats ' * 500}", [RENT, OTHER]).order.tolist()
    assert [rent, other] == load_reader().read(long, [RENT, OTHER]).order.tolist()
    assert rent > other


def test_another_file_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(_weights().read_bytes()[:-1] + b"\0")
    for weights in (changed, tmp_path / "none.onnx"):
        with pytest.raises(DataError, match="not the one that ships"):
            Reader(weights, genuine_folder() / TOKENIZER)


def _weights() -> Path:
    return Path(__file__).parents[2] / "data" / "reader" / "model.onnx"
