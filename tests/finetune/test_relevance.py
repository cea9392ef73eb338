"""Fitting answer and context relevance."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from records import passage
from statute import LAW, RULE

from lexloop.core.errors import InputError
from lexloop.finetune.relevance import fit, scored, table
from lexloop.finetune.relevance_rows import Row, cited_in, read_rows
from lexloop.nodes.evaluate.embedded import AnswerFeatures, ContextFeatures

GOLD = [
    {
        "question": "When must the owner pay the mooring fee?",
        "question_type": "simple",
        "reference_answer": "The boat owner pays the mooring fee within 10 business days.",
        "reference_context": LAW.split("§ 10-2")[1].split("§ 10-3")[0],
    },
    {
        "question": "What must a hull inspection include?",
        "question_type": "simple",
        "reference_answer": "The rate of corrosion, a photograph of the keel and a statement.",
        "reference_context": RULE.split("§ 5-100")[1].split("§ 5-200")[0],
    },
    {
        "question": "What is the mooring fee in Chicago?",
        "question_type": "out of scope",
        "reference_answer": "The documents do not say.",
        "reference_context": "",
    },
]


def made() -> list[Row]:
    """Ten questions: right pairs are close, wrong ones are not."""
    rows = []
    for n in range(10):
        for right in (True, False):
            value = 0.8 if right else 0.2
            kind = "reference" if right else "any other"
            question = f"question {n}"
            rows += [
                Row("answer", kind, right, question, (value,) * len(fields(AnswerFeatures))),
                Row("context", kind, right, question, (value,) * len(fields(ContextFeatures))),
                Row("groundedness", kind, right, question, (value,)),
            ]
    return rows


@pytest.mark.parametrize("part", ["answer", "context"])
def test_what_is_close_is_relevant(part: str) -> None:
    weights = fit(made(), part)
    assert all(weight > 0 for weight in weights["weights"].values())
    assert json.loads(json.dumps(weights)) == weights


def test_scores_of_groundedness_are_its_signs() -> None:
    rows, scores = scored(made(), "groundedness")
    assert scores.tolist() == [row.signs[0] for row in rows]


def test_the_table_says_where_right_pairs_lie() -> None:
    told = table(made(), 0.05)
    assert "| groundedness | right: reference | 10 | 0.80 |" in told
    assert "groundedness: AUROC 1.000; 5% of the right pairs are below 0.80" in told


def test_pairs_of_one_side_are_refused() -> None:
    with pytest.raises(InputError, match="all are right or all are wrong"):
        fit([row for row in made() if row.right], "answer")


def test_rows_are_what_the_judge_reads(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "law.txt").write_text(LAW, encoding="utf-8")
    (docs / "rule.txt").write_text(RULE, encoding="utf-8")
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(map(json.dumps, GOLD)), encoding="utf-8")
    rows = read_rows(gold, docs)
    answers = {(row.kind, row.right) for row in rows if row.part == "answer"}
    assert {("reference", True), ("quoted", True), ("most alike", False)} <= answers
    contexts = {(row.kind, row.right) for row in rows if row.part == "context"}
    assert {("evidence", True), ("no evidence", False), ("no scope", False)} <= contexts
    assert all(0.0 <= sign <= 1.0 for row in rows for sign in row.signs)
    fee = [row for row in rows if row.part == "answer" and row.question == GOLD[0]["question"]]
    whole = {row.kind: row.signs[0] for row in fee}
    assert whole["reference"] > whole["most alike"]


def test_a_passage_is_cited_where_it_holds_words_of_a_citation() -> None:
    passages = [
        {**passage(1, "x" * 10, start=0), "document": "a.txt"},
        {**passage(2, "x" * 10, start=10), "document": "a.txt"},
        {**passage(3, "x" * 10, start=20), "document": "a.txt"},
        {**passage(4, "x" * 10, start=10), "document": "b.txt"},
    ]
    # numbers are those of use: what is cited first is the second passage
    for start, end, held in ((10, 20, {"c2"}), (19, 21, {"c2", "c3"}), (0, 0, set())):
        cited = {"n": 1, "document": "a.txt", "start": start, "end": end}
        assert cited_in(passages, [cited]) == held
    assert cited_in(passages, [{"document": "b.txt", "start": 0, "end": 40}]) == {"c4"}
    assert cited_in(passages, []) == set()
