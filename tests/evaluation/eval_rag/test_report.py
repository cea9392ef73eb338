"""Agreement with people, what is summed up of judged answers, and its page."""

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr, spearmanr

from lexloop.evaluation.eval_rag.judging import AnswerRecord
from lexloop.evaluation.eval_rag.report import (
    COEFFICIENTS,
    correlations,
    summarise,
    to_html,
    to_markdown,
)
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.statistics import Estimate

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}
GRADES = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=12
)
EVIL = "<script>alert(1)</script>"
ABOUT: dict[str, Any] = {
    "answers_file": EVIL, "model": None, "human": "grade", "known_questions": 1, "version": "0",
}  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
@given(cases=GRADES)
def test_a_weight_is_so_many_repetitions(name: str, cases: list[tuple[int, int, int]]) -> None:
    x, y, counts = np.array(cases, np.float64).T
    repeated = np.repeat(np.stack([x, y]), counts.astype(int), axis=1)
    (found,) = COEFFICIENTS[name][1](x, y, counts[None, :])
    if repeated.shape[1] < 2 or any(len(set(series)) < 2 for series in repeated):
        assert np.isnan(found)
    else:
        assert found == pytest.approx(SCIPY[name](*repeated).statistic, abs=1e-9)


def test_by_hand() -> None:
    pairs = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)]
    found = correlations(pairs, range(4))
    # one of six pairs is discordant: (5 - 1) / 6; ranks differ by 1 twice: 1 - 6 * 2 / (4 * 15)
    for name, value in (("kendall", 4 / 6), ("spearman", 0.8)):
        made = found[name]
        assert isinstance(made, Estimate)
        assert made.mean == pytest.approx(value)
        assert made.low <= made.mean <= made.high
    assert found == correlations(pairs, range(4))


@pytest.mark.parametrize("pairs", [[], [(1.0, 2.0)], [(1.0, 2.0)] * 5, [(1.0, 2.0), (1.0, 3.0)]])
def test_nothing_to_correlate(pairs: list[tuple[float, float]]) -> None:
    found = correlations(pairs, range(len(pairs)))
    assert all(isinstance(value, Unresolved) for value in found.values())


def row(system: str, human: float | None, **scores: float | dict[str, str]) -> AnswerRecord:
    return {"id": "1", "system": system, "question": f"{human}?", "answer": EVIL, "human": human,
            "document": None, "scores": scores}  # fmt: skip


def test_means_and_what_is_missing() -> None:
    rows = [row("a", i, x=i / 4) for i in range(1, 5)]
    rows.append(row(EVIL, None, x={"unresolved": "why | so"}))
    summary = summarise(rows, ABOUT)
    found = {(one["system"], one["score"]): one["mean"] for one in summary["systems"]}
    assert found == {("a", "x"): 0.625, ("a", "human"): 2.5, (EVIL, "x"): None}
    assert summary["unresolved"] == [{"score": "x", "reason": "why | so", "answers": 1}]
    (agreement,) = summary["agreement"]
    assert (agreement["n"], agreement["pearson"], agreement["kendall"]) == (4, 1.0, 1.0)
    table = to_markdown(summary)
    assert "| x | 0.625 [0.375, 0.875] (0) | – (1) |" in table
    assert r"why \| so" in table
    assert "<script" not in table
    page = to_html(summary, rows)
    assert page.count("<svg") == 1
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    assert ElementTree.fromstring(drawing) is not None
    assert all(said in page for said in ("Agreement with grade", "Spearman", "0.625"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_without_people_there_is_no_agreement_and_no_plot() -> None:
    rows = [row("", None, x=0.5)]
    summary = summarise(rows, ABOUT)
    assert summary["agreement"] == []
    for shown in (to_markdown(summary), to_html(summary, rows)):
        assert "0.5" in shown
        assert "Agreement" not in shown
        assert "<svg" not in shown
