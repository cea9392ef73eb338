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
    rent, use, other = load_reader().read(QUESTION, [RENT, USE, OTHER]).tolist()
    assert rent > use > other
    assert rent > 0 > other


def test_a_text_reads_the_same_whatever_is_read_with_it() -> None:
    reader = load_reader()
    alone = [float(reader.read(QUESTION, [text])[0]) for text in (RENT, USE, OTHER)]
    fresh = Reader(_weights(), genuine_folder() / TOKENIZER)
    assert fresh.read(QUESTION, [OTHER, USE * 30, RENT, USE]).tolist()[2] == alone[0]
    assert fresh.read(QUESTION, [RENT, USE, OTHER]).tolist() == alone


@pytest.mark.parametrize("question", ["", "?", "rent " * 2000, "租" * 900])
def test_any_question_and_text_is_read(question: str) -> None:
    found = load_reader().read(question, ["", " ", "rent " * 5000])
    assert found.shape == (3,)
    assert np.isfinite(found).all()
    assert load_reader().read(question, []).shape == (0,)


def test_a_long_question_leaves_room_for_the_text() -> None:
    long = f"{QUESTION} {'boathouse ' * 130}"
    rent, other = load_reader().read(f"{long}{'bats ' * 500}", [RENT, OTHER]).tolist()
    assert [rent, other] == load_reader().read(long, [RENT, OTHER]).tolist()
    assert rent > other


def test_another_file_is_refused(tmp_path: Path) -> None:
    changed = tmp_path / "model.onnx"
    changed.write_bytes(_weights().read_bytes()[:-1] + b"\0")
    for weights in (changed, tmp_path / "none.onnx"):
        with pytest.raises(DataError, match="not the one that ships"):
            Reader(weights, genuine_folder() / TOKENIZER)


def _weights() -> Path:
    return Path(__file__).parents[2] / "data" / "reader" / "model.onnx"
