"""The signs of relevance, by hand."""

import numpy as np
import pytest

from lexloop.models.embedding import Vectors
from lexloop.nodes.evaluate.embedded import context_signs, read_answer_signs
from lexloop.nodes.evaluate.evidence import Evidence
from lexloop.nodes.relevance import Asked


def rows(*values: tuple[float, float]) -> Vectors:
    return np.array(values, dtype=np.float32)


ASKED = Asked(
    question="What of the berth and the fee?",
    parts=["berth", "fee"],
    vectors=rows((1, 0), (0.8, 0.6), (1, 0), (0, 1)),  # question, core, then each part
    terms=[{"berth": 1.0}, {"fee": 2.0}],
    definitions=[None, None],
)


def test_answer_signs() -> None:
    signs = read_answer_signs(ASKED, "The fee.", rows((0, 1))[0], rows((1, 0), (-1, 0)))
    assert signs.whole == pytest.approx(0.6)  # the core is closer than the question
    assert signs.sentence == pytest.approx(1.0)
    assert signs.parts == pytest.approx(0.5)  # 1 for the first part, 0 for the second
    assert signs.covered == pytest.approx(2 / 3)
    assert signs.least == 0.0  # nothing of the berth


def test_context_signs() -> None:
    evidence = Evidence(["A berth.", "A fee."], rows((1, 0), (0, -1)))
    signs = context_signs(ASKED, evidence)
    assert signs is not None
    assert signs.closest == pytest.approx(1.0)
    assert signs.few == pytest.approx(0.5)  # cosines 1 and 0, clipped mean of both
    assert signs.parts == pytest.approx(0.5)
    assert signs.least == 0.0
    assert signs.covered == 1.0
    assert signs.statement == 1.0
