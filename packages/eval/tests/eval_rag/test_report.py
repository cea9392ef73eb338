"""Agreement with people, what is summed up of judged answers, and its page."""

from typing import Any
from xml.etree import ElementTree

from lexloop_eval.eval_rag.judging import AnswerRecord
from lexloop_eval.eval_rag.report import summarise, to_html, to_markdown

EVIL = "<script>alert(1)</script>"
ABOUT: dict[str, Any] = {
    "answers_file": EVIL, "model": None, "human": "grade", "rubrics": "hardened",
    "known_questions": 1, "version": "0",
}  # fmt: skip


def row(system: str, human: float | None, **scores: float | dict[str, str]) -> AnswerRecord:
    return {"id": "1", "system": system, "question": f"{human}?", "answer": EVIL, "human": human,
            "document": None, "scores": scores}  # fmt: skip


def test_means_and_what_is_missing() -> None:
    rows = [row("a", i, x=i / 4) for i in range(1, 5)]
    rows.append(row(EVIL, None, x={"unresolved": "why | so"}))
    summary = summarise(rows, ABOUT)
    means = {(scored["system"], scored["score"]): scored["mean"] for scored in summary["systems"]}
    assert means == {("a", "x"): 0.625, ("a", "human"): 2.5, (EVIL, "x"): None}
    assert summary["unresolved"] == [{"score": "x", "reason": "why | so", "answers": 1}]
    (agreement,) = summary["agreement"]
    assert (agreement["n"], agreement["pearson"]["mean"], agreement["kendall"]["mean"]) == (4, 1, 1)
    table = to_markdown(summary)
    assert "| x | 0.625 [0.375, 0.875] (0) | – (1) |" in table
    assert r"why \| so" in table
    assert "<script" not in table
    page = to_html(summary, rows)
    assert page.count("<svg") == 1
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    assert ElementTree.fromstring(drawing) is not None
    assert all(text in page for text in ("Agreement with grade", "Spearman", "0.625"))
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
