"""Fitting answer and context relevance."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from records import passage
from statute import LAW, RULE

from lexloop.core.errors import InputError
from lexloop.finetune.logistic import FeatureRow
from lexloop.finetune.relevance import by_part, cited_in, fit, read_pairs, scores, table
from lexloop.nodes.evaluate.judges import AnswerFeatures, ContextFeatures

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


def made() -> list[tuple[str, FeatureRow]]:
    """Ten questions: right pairs are close, wrong ones are not."""
    sizes = {"answer": AnswerFeatures, "context": ContextFeatures}
    rows = []
    for n in range(10):
        for right, kind in ((True, "right: reference"), (False, "wrong: any other")):
            for part in ("answer", "context", "groundedness"):
                size = len(fields(sizes[part])) if part in sizes else 1
                value = (0.8 if right else 0.2,) * size
                rows.append((part, FeatureRow(value, right, f"question {n}", kind)))
    return rows


@pytest.mark.parametrize("part", ["answer", "context"])
def test_what_is_close_is_relevant(part: str) -> None:
    weights = fit(by_part(made()), part)
    assert all(weight > 0 for weight in weights["weights"].values())
    assert json.loads(json.dumps(weights)) == weights


def test_scores_of_groundedness_are_its_signs() -> None:
    rows = by_part(made())
    found = scores(rows, "groundedness").tolist()
    assert found == [row.features[0] for row in rows["groundedness"]]


def test_the_table_says_where_right_pairs_lie() -> None:
    told = table(by_part(made()), 0.05)
    assert "| groundedness | right: reference | 10 | 0.80 |" in told
    assert "groundedness: AUROC 1.000; 5% of the right pairs are below 0.80" in told


def test_pairs_of_one_side_are_refused() -> None:
    with pytest.raises(InputError, match="all are right or all are wrong"):
        fit({"answer": [row for row in by_part(made())["answer"] if row.label]}, "answer")


def test_rows_are_what_the_judge_reads(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "law.txt").write_text(LAW, encoding="utf-8")
    (docs / "rule.txt").write_text(RULE, encoding="utf-8")
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(map(json.dumps, GOLD)), encoding="utf-8")
    rows = by_part(read_pairs(gold, docs))
    answers = {(row.kind, row.label) for row in rows["answer"]}
    right = {("right: reference", True), ("right: quoted", True)}
    assert right | {("wrong: most alike", False)} <= answers
    contexts = {(row.kind, row.label) for row in rows["context"]}
    without = {("wrong: no evidence", False), ("wrong: no scope", False)}
    assert without | {("right: evidence", True)} <= contexts
    every = [row for part in rows.values() for row in part]
    assert all(0.0 <= feature <= 1.0 for row in every for feature in row.features)
    fee = [row for row in rows["answer"] if row.group == GOLD[0]["question"]]
    whole = {row.kind: row.features[0] for row in fee}
    assert whole["right: reference"] > whole["wrong: most alike"]


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
