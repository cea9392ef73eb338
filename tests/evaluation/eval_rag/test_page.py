"""The page of judged answers: its figures, plots where people scored, and nothing that runs."""

from xml.etree import ElementTree

from lexloop.evaluation.eval_rag.judging import Judged
from lexloop.evaluation.eval_rag.page import to_html
from lexloop.evaluation.eval_rag.summary import summarise

EVIL = "<script>alert(1)</script>"
ABOUT = {
    "answers_file": EVIL,
    "model": None,
    "human": "grade",
    "known_questions": 0,
    "version": "0",
}


def judged(place: int, human: float | None) -> Judged:
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
