"""Tables as text, and what readers of them must be told."""

from run_records import record, run_info

from lexloop.evaluation.record import Record, RefusalRecord
from lexloop.evaluation.report.labels import grouped, label
from lexloop.evaluation.report.page import to_markdown
from lexloop.evaluation.report.summary import summarise
from lexloop.evaluation.report.tables import escaped


def written(records: list[Record], *rows: str, refusals: tuple[RefusalRecord, ...] = ()) -> str:
    info = run_info(*rows, skipped=[{"variant": "llm_only", "reason": "no model is configured"}])
    return to_markdown(summarise(records, info, refusals))


def test_every_figure_has_its_interval_and_unresolved_count() -> None:
    records = [
        record(id="q1", metrics={"similarity": 0.5}),
        record(id="q2", metrics={"similarity": 0.5}),
        record(id="q3", metrics={"similarity": {"unresolved": "no reference"}}),
    ]
    text = written(records, "fixed")
    assert "| 1 | fixed | 0.500 \\[0.500, 0.500\\] (1) |" in text
    assert "| no reference | 1 | 1 | similarity to the reference |" in text
    assert "| llm\\_only | no model is configured |" in text


def test_what_others_wrote_is_no_markup() -> None:
    assert escaped("a|b\n<img src=x> `c` *d* $e$") == (
        "a\\|b \\<img src=x\\> \\`c\\` \\*d\\* \\$e\\$"
    )
    text = written([record(variant="x | <b>\n# y", question_type="a|b")], "x | <b>\n# y")
    assert "x \\| \\<b\\> \\# y" in text
    assert "<b>" not in text


def test_metrics_have_names_and_tables() -> None:
    assert label("model_faithfulness") == "faithfulness, by a model"
    assert label("document_recall@3") == "document recall@3"
    groups = grouped(["ndcg@10", "similarity", "recall@k", "model_faithfulness", "novel"])
    assert groups == {
        "Quality": ["similarity"],
        "Judged by a model": ["model_faithfulness"],
        "Retrieval, at each plan's own k": ["recall@k"],
        "Retrieval, at fixed depths": ["ndcg@10"],
        "Other metrics": ["novel"],
    }
