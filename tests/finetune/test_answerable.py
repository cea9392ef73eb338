"""Fitting when to abstain."""

import json
import math
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statute import LAW, RULE

from lexloop.core.errors import InputError
from lexloop.finetune.answerable import (
    Part,
    across,
    fit,
    of_part,
    probe_rows,
    read_rows,
    reliability,
    table,
)
from lexloop.finetune.logistic import FeatureRow, probabilities, stored
from lexloop.nodes.generate.extractive import AnswerabilityFeatures
from lexloop.nodes.weights import Weights

NONE = AnswerabilityFeatures(*[0.0] * len(fields(AnswerabilityFeatures)))
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


COUNTS = {"answerable": 1.0, "evidence removed": 0.25, "out of scope": 2.0, "negative": 0.5}


def row(kind: str, found: bool = False, number: int = 0, **features: float) -> FeatureRow:
    read = astuple(replace(NONE, **features))
    return FeatureRow(read, found, str(number), kind, COUNTS[kind], f"{kind}?")


def changed(one: FeatureRow, **features: float) -> FeatureRow:
    return replace(one, features=astuple(replace(AnswerabilityFeatures(*one.features), **features)))


def features(one: FeatureRow) -> AnswerabilityFeatures:
    return AnswerabilityFeatures(*one.features)


def rows(number: int = 0, near: float = 0.8, far: float = 0.3) -> list[FeatureRow]:
    """Questions that are answerable where a statement is close; a tenth of them is not close.

    What answers is found where the first passage leads.
    """
    made = []
    for n in range(40):
        closest, led = (far if n % 10 == 0 else near + 0.001 * n), n % 2
        made.append(row("answerable", bool(led), number, closest=closest, lead=0.8 * led))
        made.append(row("evidence removed", False, number, closest=far, lacking=1.0))
    return made


def test_what_speaks_for_an_answer_gets_a_positive_weight() -> None:
    there, found = (fit(of_part(rows(), part)) for part in ("there", "found"))
    names = [field.name for field in fields(AnswerabilityFeatures)]
    of_there = dict(zip(names, there.weights, strict=True))
    of_found = dict(zip(names, found.weights, strict=True))
    assert of_there["closest"] > 0 > of_there["lacking"]
    assert of_found["lead"] > 0
    assert of_there["covered"] == of_found["foreign"] == 0.0
    kept = stored(there, AnswerabilityFeatures)
    assert json.loads(json.dumps(kept)) == kept
    assert list(kept["weights"]) == names


@pytest.mark.parametrize("part", ["there", "found"])
def test_no_weight_speaks_against_its_side(part: Part) -> None:
    turned = [
        changed(one, lead=0.0, closest=-features(one).closest, lacking=-features(one).lacking)
        for one in rows()
    ]
    weights = fit(of_part(turned, part)).weights
    assert weights == pytest.approx([0.0] * len(fields(AnswerabilityFeatures)), abs=1e-9)


@pytest.mark.parametrize("feature", ["covered", "foreign"])
@pytest.mark.parametrize("same", [0.25, 1.0])
def test_a_feature_that_is_always_the_same_tells_nothing(feature: str, same: float) -> None:
    given = of_part(rows() * 20, "there")
    with_it = [changed(one, **{feature: same}) for one in given]
    plain = probabilities(fit(given), given)
    assert probabilities(fit(with_it), with_it) == pytest.approx(plain, abs=0.02)
    assert plain[2] > 0.8
    assert plain[3] < 0.2


def test_a_probability_by_hand() -> None:
    weights = Weights(-1.0, (2.0, *[0.0] * (len(fields(AnswerabilityFeatures)) - 1)))
    given = [row("answerable", closest=0.5), row("answerable", closest=1.0)]
    assert probabilities(weights, given) == pytest.approx([0.5, 1 / (1 + math.exp(-1.0))])


def test_a_set_is_predicted_by_weights_of_the_others() -> None:
    first, second = of_part(rows(1), "there"), of_part(rows(2, near=0.6, far=0.5), "there")
    third = [replace(one, group="3") for one in first[:20]]
    found = across([*first, *second, *third])
    assert found[: len(first)] == pytest.approx(
        probabilities(fit([*second, *third]), first), abs=1e-9
    )
    of_second = found[len(first) : len(first) + len(second)]
    assert of_second == pytest.approx(probabilities(fit([*first, *third]), second), abs=1e-9)


def test_the_table_by_hand() -> None:
    given = [
        row("answerable", True),
        row("answerable", True),
        row("answerable"),
        row("answerable"),
        row("negative"),
        row("out of scope", number=1),
    ]
    there = np.array([0.39, 0.40, 0.9, 0.9, 0.2, 0.5])
    found = np.array([0.9, 0.9, 0.5, 0.49, 0.9, 0.1])
    # refused below 0.4; passed from 0.5 on, of what is not refused
    assert table(given, there, found).splitlines()[2:] == [
        "| 1 | answerable | 4 | 0.50 | 0.25 | 0.50 |",
        "| 1 | negative | 1 | 0.00 | 1.00 | 0.00 |",
        "| 2 | out of scope | 1 | 0.00 | 0.00 | 0.00 |",
    ]


def test_reliability_by_hand() -> None:
    given = [
        row("answerable", True),
        row("answerable"),
        row("out of scope"),
        row("negative"),
    ]
    said = np.array([0.9, 0.3, 0.3, 0.9])
    # they count 1, 1, 2 and 0.5: of what was said to be 0.3 a third is true, of 0.9 two thirds;
    # off by (3 x 1/30 + 1.5 x 7/30) / 4.5 = 0.1. Of 2 x 2.5 pairs the first wins 2 of the third and
    # ties 0.5 of the fourth, the second ties 2 of the third: (2 + 0.25 + 1) / 5
    assert reliability(of_part(given, "there"), said).splitlines() == [
        "AUROC 0.650, expected calibration error 0.100",
        "",
        "| said | rows | true |",
        "|---|---|---|",
        "| 0.30 | 2 | 0.33 |",
        "| 0.90 | 2 | 0.67 |",
    ]
    # only the first is found: it wins 1 + 2 of 3.5 pairs and ties the half
    found = reliability(of_part(given, "found"), np.array([1.0, 0.0, 0.0, 1.0])).splitlines()
    assert found[0] == "AUROC 0.929, expected calibration error 0.111"
    assert found[4:] == ["| 0.00 | 2 | 0.00 |", "| 1.00 | 2 | 0.67 |"]


def test_rows_are_the_features_that_the_graph_reads(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "law.txt").write_text(LAW, encoding="utf-8")
    (docs / "rule.txt").write_text(RULE, encoding="utf-8")
    gold, negative = tmp_path / "gold.jsonl", tmp_path / "negative.jsonl"
    gold.write_text("\n".join(map(json.dumps, GOLD)) + "\n\n", encoding="utf-8")
    asked = ["How do I bake a cake?", "Who must insure a boat?"]
    lines = (json.dumps({"query": query}) for query in asked)
    negative.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_rows(3, gold, docs, negative)
    assert {row.group for row in found} == {"3"}
    assert [row.kind for row in found] == [
        *("answerable", "evidence removed", "answerable"),
        *("out of scope", "negative"),
    ]
    # the cake, and the follow-up without its evidence, are refused before any sign is read
    assert found[-1].text == asked[1]
    assert [row.label for row in found] == [True, False, True, False, False]
    held, removed, follow_up, elsewhere, _ = map(features, found)
    assert held.covered > removed.covered
    assert follow_up.closest > elsewhere.closest  # the history has been read
    assert elsewhere.foreign == 1.0


def test_evidence_that_no_chunk_holds_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "law.txt").write_text(LAW, encoding="utf-8")
    gold, negative = tmp_path / "gold.jsonl", tmp_path / "negative.jsonl"
    lost = {**GOLD[0], "id": "lost", "reference_context": "what none of the documents says"}
    gold.write_text(json.dumps(lost), encoding="utf-8")
    negative.write_text('{"query": "How do I bake a cake?"}', encoding="utf-8")
    with pytest.raises(InputError, match="'lost'"):
        read_rows(0, gold, tmp_path, negative)


WHOLE = f"{LAW}\n{RULE}"


def probes(
    folder: Path, structure: list[dict[str, Any]], asked: list[dict[str, Any]]
) -> list[FeatureRow]:
    """The rows of a folder with the statute, its structure and these probes."""
    (folder / "law.txt").write_text(WHOLE, encoding="utf-8")
    (folder / "note.md").write_text("# Fees\n\nThe mooring fee is due on Mondays.\n", "utf-8")
    (folder / "structure.json").write_text(json.dumps(structure), encoding="utf-8")
    lines = (json.dumps({"history": [], **probe}) for probe in asked)
    (folder / "probes.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return probe_rows(5, folder)


def span(begin: str, end: str) -> dict[str, int]:
    return {"start": WHOLE.index(begin), "end": WHOLE.index(end)}


PAYS, NOWHERE = span("§ 10-2 Duties", "§ 10-3"), {"start": 0, "end": 0}
FEE = "When must the owner pay the mooring fee?"


def test_rows_of_probes_whose_provisions_have_labels(tmp_path: Path) -> None:
    structure = [
        {"label": "§ 10-2", **PAYS},
        {"label": "§ 5-100", **span("§ 5-100 Hull", "§ 5-200")},
        {"label": "§ 99", **NOWHERE},
    ]
    found = probes(
        tmp_path,
        structure,
        [
            {"kind": "everyday", "question": FEE, "gold": ["§ 10-2"]},
            {"kind": "everyday", "question": FEE, "gold": ["§ 99"]},
            {"kind": "list", "question": FEE, "gold": ["§ 99", "§ 10-2"]},
            {"kind": "provision", "question": "What does § 10-2 say?", "gold": ["§ 10-2"]},
            {"kind": "no_such", "question": "What does § 10-9 say?", "gold": []},
            {
                "kind": "follow_up",
                "question": "What must it include?",
                "history": ["What is a hull inspection?", "Who does it?"],
                "gold": ["§ 5-100"],
            },
            {"kind": "not_there", "question": "What is the fee in Chicago?", "gold": []},
        ],
    )
    assert {row.group for row in found} == {"5"}
    assert [(row.kind, row.text, row.label) for row in found] == [
        ("answerable", FEE, True),
        ("answerable", FEE, False),
        ("answerable", FEE, True),
        ("answerable", "What is a hull inspection? What must it include?", True),
        ("out of scope", "What is the fee in Chicago?", False),
    ]
    assert found[0].features == found[1].features
    assert features(found[0]).foreign == 0.0
    assert features(found[4]).foreign == 1.0


def test_rows_of_probes_whose_provisions_are_articles_with_paragraphs(tmp_path: Path) -> None:
    article = {
        "article": "10",
        "title": "Duties",
        **span("§ 10-1 Definitions", "§ 10-3"),
        "paragraphs": [{"n": "1", "points": [], **PAYS}, {"n": "2", "points": [], **NOWHERE}],
    }
    elsewhere = {"article": "11", "title": "None", **NOWHERE, "paragraphs": []}
    everyday = {"kind": "everyday", "question": FEE, "article": "10"}
    asked: list[dict[str, Any]] = [
        {**everyday, "paragraph": "1"},
        {**everyday, "paragraph": "2"},
        {**everyday, "paragraph": "2", "also": [["10", "1"]]},
        {**everyday, "paragraph": ""},  # the article as a whole
        {**everyday, "paragraph": "9"},
        {**everyday, "article": "11", "paragraph": ""},
        {**everyday, "kind": "article", "paragraph": ""},
        {**everyday, "kind": "typo", "paragraph": ""},
        {"kind": "not_there", "question": FEE, "article": "", "paragraph": ""},
    ]
    found = probes(tmp_path, [article, elsewhere], asked)
    assert [row.kind for row in found] == ["answerable"] * 6 + ["out of scope"]
    assert [row.label for row in found] == [True, False, True, True, True, False, False]


def test_a_folder_that_holds_no_probes_is_named(tmp_path: Path) -> None:
    (tmp_path / "structure.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"has no probes\.jsonl"):
        probe_rows(0, tmp_path)
