"""The projection of token vectors: its directions by hand, and the file that ships."""

import numpy as np
import pytest

from lexloop.finetune.projection import fit, word_texts
from lexloop.models.embedding import CODED, projection


def test_the_main_directions_come_first() -> None:
    states = np.zeros((4, 200), dtype=np.float32)
    states[:3, 7], states[3, 9] = (2.0, -5.0, 1.0), -3.0  # lengths do not count
    found, kept = fit(iter([states[:2], states[2:]]))
    assert found.shape == (200, CODED)
    assert found[:, 0].tolist() == pytest.approx(np.eye(200)[7].tolist())
    assert found[:, 1].tolist() == pytest.approx(np.eye(200)[9].tolist())
    assert kept == pytest.approx(1.0)


def test_nothing_to_fit_to() -> None:
    with pytest.raises(ValueError, match="no tokens"):
        fit(iter([]))


def test_every_word_stands_once_in_each_order() -> None:
    texts = list(word_texts([f"w{n}" for n in range(7)], seed=1))
    assert [len(text.split()) for text in texts] == [3, 3, 1, 7, 7, 7]
    assert sorted(" ".join(texts[:3]).split()) == [f"w{n}" for n in range(7)]
    assert texts == list(word_texts([f"w{n}" for n in range(7)], seed=1))


def test_what_ships_turns_and_does_not_stretch() -> None:
    held = projection()
    assert held.shape == (384, CODED)
    np.testing.assert_allclose(held.T @ held, np.eye(CODED), atol=2e-3)
