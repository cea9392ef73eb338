"""The embedder that ships, and folders of trained ones: what they hold, and what is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lexloop.core.errors import DataError
from lexloop.core.files import CARD
from lexloop.models.embedding import CODED
from lexloop.models.minilm import (
    MODEL,
    MiniLM,
    load_shipped,
    load_trained,
    read_card,
)

SHIPPED = Path(__file__).parents[2] / "data" / "embedder"
TEXTS = ["Who must report a leak?", "The operator reports every leak within two days.", "", "§ 5"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SHIPPED, tmp_path / "model"))


def test_it_gives_unit_vectors_and_codes_of_tokens() -> None:
    model = load_shipped()
    vectors = model.embed(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    codes = model.token_codes(TEXTS[0])
    assert (codes.dtype, codes.shape) == (np.int8, (model.count_tokens(TEXTS[0]), CODED))
    assert model.token_codes("").shape == (0, CODED)


def test_the_shipped_file_is_small_and_its_card_is_full() -> None:
    card = read_card(SHIPPED)
    assert (SHIPPED / MODEL).stat().st_size <= 25 * 2**20
    assert card.base == MiniLM.name
    assert card.licence
    assert card.command.startswith("lexloop finetune embedder")
    assert sum(int(one["rows"]) for one in card.data) > 10_000
    assert card.figures["after: late, all hit@1"] > card.figures["before: late, all hit@1"]


def forget(folder: Path) -> None:
    """Take the weights' hash out of the card."""
    card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    del card["sha256"][MODEL]
    (folder / CARD).write_text(json.dumps(card), encoding="utf-8")


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: (folder / MODEL).write_bytes(b"cut"), r"model\.onnx have SHA-256"),
        (lambda folder: (folder / MODEL).unlink(), "incomplete"),
        (lambda folder: (folder / CARD).unlink(), "no folder of a trained embedder"),
        (forget, r"does not say the SHA-256 of model\.onnx"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    folder: Path, break_it: Callable[[Path], object], said: str
) -> None:
    break_it(folder)
    with pytest.raises(DataError, match=said):
        load_trained(folder)
