"""Fitting when to abstain."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from statute import LAW, RULE

from lexloop.core.errors import InputError
from lexloop.finetune.answerable import fit, table
from lexloop.finetune.answerable_rows import Row, read_rows
from lexloop.nodes.generate.answerable import Signs

NONE = Signs(*[0.0] * len(fields(Signs)))
GOLD = [
    {
        "question": "When must the owner pay the mooring fee?",
        "question_type": "simple",
        "conversation_history": [],
        "reference_context": "A boat owner must pay the mooring fee within 10 business days of "
        "arrival. The fee is $1,500 for each season and is paid to the harbour master. A boat "
        "owner must publish the results of a hull inspection on a website before the boat is "
        "moored.",
    },
    {
        "question": "Who appoints it?",
        "question_type": "conversational",
        "conversation_history": [
            {"role": "user", "content": "Tell me about the harbour master"},
            {"role": "assistant", "content": "What about it?"},
        ],
        "reference_context": '"Harbour master" means the officer whom the port authority appoints.',
    },
    {
        "question": "What is the mooring fee in Chicago?",
        "question_type": "out of scope",
        "conversation_history": [],
        "reference_context": "",
    },
]


def rows(count: int = 40) -> list[Row]:
    """Questions that are answerable where a statement is close; a tenth of them is not close."""
    made = []
    for n in range(count):
        closest = 0.3 if n % 10 == 0 else 0.8 + 0.001 * n
        question = f"question {n}"
        made.append(Row(0, "answerable", question, replace(NONE, closest=closest)))
        made.append(Row(0, "evidence removed", question, replace(NONE, closest=0.3, lacking=1.0)))
    return made


def test_what_speaks_for_an_answer_gets_a_positive_weight() -> None:
    weights, scores = fit(rows(), 0.1)
    assert set(weights["weights"]) == {field.name for field in fields(Signs)}
    assert weights["weights"]["closest"] > 0 > weights["weights"]["lacking"]
    assert weights["weights"]["vague"] == 0.0
    assert scores.shape == (80,)
    assert json.loads(json.dumps(weights)) == weights


@pytest.mark.parametrize("refused", [0.0, 0.1, 0.5])
def test_no_more_than_the_share_of_answerable_questions_is_refused(refused: float) -> None:
    given = rows()
    _, scores = fit(given, refused)
    answerable = np.array([row.kind == "answerable" for row in given])
    assert np.mean(scores[answerable] < 0) <= refused + 1e-9


def test_refusing_more_moves_the_intercept_alone() -> None:
    (few, _), (many, _) = fit(rows(), 0.05), fit(rows(), 0.5)
    assert many["weights"] == few["weights"]
    assert many["intercept"] < few["intercept"]


def test_the_table_by_hand() -> None:
    given = [
        Row(0, "answerable", "a", NONE),
        Row(0, "answerable", "b", NONE),
        Row(0, "negative", "c", NONE),
        Row(1, "out of scope", "d", NONE),
    ]
    assert table(given, np.array([-1.0, 1.0, -1.0, 0.0])).splitlines()[2:] == [
        "| 1 | answerable | 2 | 0.50 |",
        "| 1 | negative | 1 | 1.00 |",
        "| 2 | out of scope | 1 | 0.00 |",
    ]


def test_rows_are_the_signs_that_the_graph_reads(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "law.txt").write_text(LAW, encoding="utf-8")
    (docs / "rule.txt").write_text(RULE, encoding="utf-8")
    gold, negative = tmp_path / "gold.jsonl", tmp_path / "negative.jsonl"
    gold.write_text("\n".join(map(json.dumps, GOLD)) + "\n\n", encoding="utf-8")
    negative.write_text('{"query": "How do I bake a cake?"}\n', encoding="utf-8")
    found = read_rows(3, gold, docs, negative)
    assert {row.set for row in found} == {3}
    assert [row.kind for row in found] == [
        *("answerable", "evidence removed", "answerable", "evidence removed"),
        *("out of scope", "negative"),
    ]
    held, removed, follow_up, bereft, elsewhere, _ = (row.signs for row in found)
    assert held.covered > removed.covered
    assert follow_up.vague == 0.0  # the history has been read
    assert follow_up.closest > bereft.closest
    assert elsewhere.foreign == 1.0


def test_evidence_that_no_chunk_holds_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "law.txt").write_text(LAW, encoding="utf-8")
    gold, negative = tmp_path / "gold.jsonl", tmp_path / "negative.jsonl"
    lost = {**GOLD[0], "id": "lost", "reference_context": "what none of the documents says"}
    gold.write_text(json.dumps(lost), encoding="utf-8")
    negative.write_text('{"query": "How do I bake a cake?"}', encoding="utf-8")
    with pytest.raises(InputError, match="'lost'"):
        read_rows(0, gold, tmp_path, negative)
