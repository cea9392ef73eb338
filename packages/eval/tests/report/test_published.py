"""Our figures beside the published ones: of the same questions alone, with what differs."""

import json
from importlib.resources import files

import pytest
from run_records import record, run_info

from lexloop_eval.record import Record, VariantInfo
from lexloop_eval.report.page import to_html, to_markdown
from lexloop_eval.report.published import published_tables
from lexloop_eval.report.summary import summarise, timings
from lexloop_eval.report.tables import Table, figure

TABLE = "HyPA-RAG table 2"
KNOWN = json.loads((files("lexloop.data") / "published.json").read_text("utf-8"))
LL144 = {"gold_sha256": KNOWN["ll144"]["gold"][0]}
ROW: VariantInfo = {
    "name": "Fixed k = 3",
    "source": TABLE,
    "settings": {},
    "differs": ["generator: quoted sentences (there GPT-3.5-Turbo)", "embedder: embedded"],
}
SKIPPED = {
    "variant": "LLM only: GPT-3.5-Turbo",
    "reason": "no model is configured (--model)",
    "source": TABLE,
}


def asked(metrics: dict[str, object], **fields: object) -> list[Record]:
    return [
        record(
            variant="Fixed k = 3", id=f"q{n}", metrics=metrics | {"faithfulness": score}, **fields
        )
        for n, score in enumerate((0.5, 0.9))
    ]


def tables(records: list[Record], row: VariantInfo = ROW, **fields: object) -> list[Table]:
    info = run_info(**{"variants": [row], "skipped": [SKIPPED], **fields})
    summary = summarise(records, info)
    assert to_markdown(summary).count(f"\n## {row['source']}") >= 1
    assert "Published tables" in to_html(summary, timings(records, info), records)
    return published_tables(summary)


def rows(table: Table) -> list[dict[str, str]]:
    return [
        {head: str(cell) for head, cell in zip(table.head, line, strict=True)}
        for line in table.cells
    ]


def test_the_standard_deviation_by_hand() -> None:
    # off the mean 0.7 by 0.2 each: the squares add up to 0.08, over n - 1
    made = figure([0.5, 0.9])
    assert made["sd"] == pytest.approx(0.08**0.5, abs=1e-6)
    assert (figure([0.5])["sd"], figure([])["sd"]) == (None, None)


def test_ours_stands_beside_theirs() -> None:
    first, by_type = tables(asked({}), **LL144)
    assert (first.title, by_type.title) == (TABLE, f"{TABLE}, faithfulness by question type")
    assert "figures are of 269 questions, of which 3 are asked here" in first.note
    ran, skipped = rows(first)
    assert ran["Row"] == "Fixed k = 3"
    assert ran["faithfulness"] == "0.700 ± 0.283 [0.500, 0.900] (0)"
    assert ran["published faithfulness"] == "0.775"
    assert ran["published correctness (1–5)"] == "4.037"
    assert ran["What differs"] == "; ".join(ROW["differs"])
    assert skipped["#"] == "–"
    assert skipped["Row"] == "LLM only: GPT-3.5-Turbo"
    assert (skipped["faithfulness"], skipped["published faithfulness"]) == ("–", "0.286")
    assert skipped["What differs"] == "not run: no model is configured (--model)"
    assert rows(by_type) == [{"Row": "Fixed k = 3", "simple": ran["faithfulness"]}]


def test_other_questions_have_no_published_figure() -> None:
    first = tables(asked({}))[0]
    assert "gold.jsonl is not known to be of them" in first.note
    assert not [name for name in first.head if name.startswith("published")]
    assert [*rows(first)[0]] == ["#", "Row", "faithfulness", "What differs"]


def test_figures_of_other_data_are_not_shown_even_on_ll144() -> None:
    row: VariantInfo = {"name": "Naive RAG", "source": "LQ-RAG table 11", "settings": {}}
    records = [record(variant="Naive RAG", metrics={"groundedness": 0.5})]
    first = tables(records, row, **LL144, skipped=[])[0]
    assert [*rows(first)[0]] == ["#", "Row", "groundedness", "What differs"]
    assert "its figures are of other data" in first.note


def test_the_scores_of_a_judging_model_stand_behind_the_embedded_ones() -> None:
    first = tables(asked({"correctness": 4.0, "model_correctness_examples": 3.0}), **LL144)[0]
    assert first.head[4:7] == [
        "correctness (1–5)",
        "published correctness (1–5)",
        "correctness (1–5), criteria and examples, by a model",
    ]
    assert rows(first)[0][first.head[6]].startswith("3.000 ± 0.000")


def test_gold_without_reference_answers_or_question_types_says_so() -> None:
    silent = {"unresolved": "the gold record has no reference answer"}
    poor = asked({"correctness": silent, "correct": silent}, question_type="")
    first, by_type = tables(poor)
    assert "No correctness (1–5): the gold record has no reference answer." in first.note
    assert [*rows(first)[0]] == ["#", "Row", "faithfulness", "What differs"]
    assert by_type.title == f"{TABLE} by question type"
    assert by_type.rows == [["no question has a question_type"]]


def test_a_table_of_failed_questions_gives_their_errors() -> None:
    failed = [record(variant="Fixed k = 3", error="ModelError: silent", answer="")]
    [only] = tables(failed)
    assert "No faithfulness: ModelError: silent." in only.note
    assert [*rows(only)[0]] == ["#", "Row", "What differs"]


def test_other_runs_have_no_such_table() -> None:
    assert published_tables(summarise([record()], run_info("fixed"))) == []
