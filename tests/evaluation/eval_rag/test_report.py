"""What is summed up of judged answers, and its page: plots where people scored, no script."""

from typing import Any
from xml.etree import ElementTree

from lexloop.evaluation.eval_rag.judging import AnswerRecord
from lexloop.evaluation.eval_rag.report import summarise, to_html, to_markdown

EVIL = "<script>alert(1)</script>"
ABOUT: dict[str, Any] = {
    "answers_file": EVIL,
    "model": None,
    "human": "grade",
    "known_questions": 1,
    "version": "0",
}


def row(system: str, human: float | None, **scores: float | dict[str, str]) -> AnswerRecord:
    return {"id": "1", "system": system, "question": f"{human}?", "answer": "So.", "human": human,
            "document": None, "scores": scores}  # fmt: skip


def judged(place: int, human: float | None) -> AnswerRecord:
    return {
        "id": str(place),
        "system": EVIL,
        "question": f"{place}?",
        "answer": EVIL,
        "human": human,
        "document": None,
        "scores": {
            "correctness": float(place),
            "groundedness": {"unresolved": f"no contexts {EVIL}"},
        },
    }


def test_agreement_is_shown_with_its_plot() -> None:
    rows = [judged(place, float(place % 5)) for place in range(1, 11)]
    page = to_html(summarise(rows, ABOUT), rows)
    assert page.count("<svg") == 1
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    assert ElementTree.fromstring(drawing) is not None
    assert "Agreement with grade" in page
    assert "Spearman" in page
    assert "5.500" in page


def test_without_people_there_is_no_plot() -> None:
    rows = [judged(1, None), judged(2, None)]
    page = to_html(summarise(rows, ABOUT), rows)
    assert "<svg" not in page
    assert "Agreement" not in page
    assert "1.500" in page


def test_what_others_wrote_is_escaped() -> None:
    rows = [judged(place, float(place)) for place in range(1, 5)]
    page = to_html(summarise(rows, ABOUT), rows)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_means_and_what_is_missing() -> None:
    rows = [row("a", i, x=i / 4) for i in range(1, 5)]
    rows.append(row("b", None, x={"unresolved": "why | so"}))
    summary = summarise(rows, ABOUT)
    found = {(one["system"], one["score"]): one["mean"] for one in summary["systems"]}
    assert found == {("a", "x"): 0.625, ("a", "human"): 2.5, ("b", "x"): None}
    assert summary["unresolved"] == [{"score": "x", "reason": "why | so", "answers": 1}]
    (agreement,) = summary["agreement"]
    assert (agreement["n"], agreement["pearson"], agreement["kendall"]) == (4, 1.0, 1.0)
    table = to_markdown(summary)
    assert "| x | 0.625 [0.375, 0.875] | unresolved |" in table
    assert r"why \| so" in table


def test_without_human_scores_there_is_no_agreement() -> None:
    summary = summarise([row("", None, x=0.5)], ABOUT)
    assert summary["agreement"] == []
    assert "Agreement" not in to_markdown(summary)
