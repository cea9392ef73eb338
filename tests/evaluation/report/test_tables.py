"""Tables as text, and what readers of them must be told."""

from run_records import attempt, record, run_info

from lexloop.evaluation.record import Record, RefusalRecord
from lexloop.evaluation.report.labels import grouped, label, main_metrics
from lexloop.evaluation.report.page import to_markdown
from lexloop.evaluation.report.summary import summarise
from lexloop.evaluation.report.tables import escaped, number, probability


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


def test_rows_after_the_first_have_a_p_value() -> None:
    records = [
        record(id=f"q{number}", variant=row, metrics={"similarity": score})
        for number in range(12)
        for row, score in (("fixed", 0.5), ("k = 5", 0.9))
    ]
    assert "0.900 \\[0.900, 0.900\\] (0) p \\< 0.001" in written(records, "fixed", "k = 5")


def test_what_others_wrote_is_no_markup() -> None:
    assert escaped("a|b\n<img src=x> `c` *d* $e$") == (
        "a\\|b \\<img src=x\\> \\`c\\` \\*d\\* \\$e\\$"
    )
    text = written([record(variant="x | <b>\n# y", question_type="a|b")], "x | <b>\n# y")
    assert "x \\| \\<b\\> \\# y" in text
    assert "<b>" not in text


def test_the_accounts_are_there() -> None:
    tries = [attempt(0.2, correctness=2.0), attempt(0.8, correctness=4.0, passed=True)]
    refusal: RefusalRecord = {
        "variant": "fixed",
        "id": "n1",
        "kind": "jailbreak",
        "abstained": True,
    }
    records = [record(attempts=tries, warning="Not good.")]
    text = written(records, "fixed", refusals=(refusal,))
    for title in (
        "The loop's account",
        "Negative queries refused",
        "Failed, degraded and warned",
        "Tokens of context by complexity class",
    ):
        assert f"## {title}" in text
    assert "1 of 1" in text


def test_an_empty_run_is_still_a_page_of_tables() -> None:
    assert "## Variants" in written([], "fixed")
    assert "## Variants not run" in written([])


def test_numbers_are_as_long_as_they_need() -> None:
    assert [number(x) for x in (0.12345, -0.5, 12.34, 1234.5)] == [
        "0.123",
        "-0.500",
        "12.3",
        "1,234",
    ]
    assert (probability(0.0001), probability(0.0504)) == ("< 0.001", "= 0.050")


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


def test_the_main_metrics_are_those_that_have_scores() -> None:
    info = run_info("fixed")
    silent = {"unresolved": "silent"}
    own = summarise([record(metrics={"correctness": silent, "similarity": 0.5})], info)
    assert main_metrics(row["metrics"] for row in own["variants"]) == ["similarity"]
    other = summarise([record(metrics={"novel": 0.5})], info)
    assert main_metrics(row["metrics"] for row in other["variants"]) == ["novel"]
