"""What ships of the embedder: its graph without weights, and the projection of token vectors."""

from importlib import resources

import numpy as np
import pytest

from lexloop.models.embedding import CODED, projection
from lexloop.models.minilm import GRAPH, genuine_folder
from lexloop_train.encoder_graph import encoder_graph
from training.projection import fit, word_texts


def test_the_shipped_graph_is_the_one_that_the_command_writes() -> None:
    shipped = resources.files("lexloop.data") / "embedder" / GRAPH
    assert shipped.read_bytes() == encoder_graph(genuine_folder() / "model.safetensors")


def test_the_shipped_projection_turns_and_does_not_stretch() -> None:
    held = projection()
    assert held.shape == (384, CODED)
    np.testing.assert_allclose(held.T @ held, np.eye(CODED), atol=2e-3)


def test_the_main_directions_come_first() -> None:
    states = np.zeros((4, 200), dtype=np.float32)
    states[:3, 7], states[3, 9] = (2.0, -5.0, 1.0), -3.0  # lengths do not count
    found, kept = fit(iter([states[:2], states[2:]]))
    assert found.shape == (200, CODED)
    assert found[:, 0].tolist() == pytest.approx(np.eye(200)[7].tolist())
    assert found[:, 1].tolist() == pytest.approx(np.eye(200)[9].tolist())
    assert kept == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no tokens"):
        fit(iter([]))


def test_every_word_stands_once_in_each_order() -> None:
    texts = list(word_texts([f"w{n}" for n in range(7)], seed=1))
    assert [len(text.split()) for text in texts] == [3, 3, 1, 7, 7, 7]
    assert sorted(" ".join(texts[:3]).split()) == [f"w{n}" for n in range(7)]
    assert texts == list(word_texts([f"w{n}" for n in range(7)], seed=1))
