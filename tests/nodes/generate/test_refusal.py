"""Which questions no documents answer."""

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from backend import chunk

from lexloop.core.errors import DataError
from lexloop.core.types import Candidate
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.guard import Refusal, order_signs, shipped, subject_signs

DATA = Path(__file__).parents[3] / "data"
KEPT_BACK = [
    json.loads(line)
    for line in (DATA / "refusal" / "kept_back.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def refuses() -> Refusal:
    return Refusal(load_minilm().embed, comparable=True)


def near(cosine: float) -> list[Candidate]:
    return [{**chunk("c1#0", "A."), "score": 1.0, "signals": {"dense": cosine}}]


def test_orders_and_obscenities_are_refused_whatever_is_found(refuses: Refusal) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] != "irrelevant"]
    refused = [query for query in asked if refuses(query, query, near(0.9))]
    assert len(asked) == 39
    assert len(refused) >= 0.8 * len(asked)


def test_other_subjects_are_refused_unless_the_documents_are_about_them(refuses: Refusal) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] == "irrelevant"]
    assert sum(refuses(query, query, near(0.15)) for query in asked) >= 0.8 * len(asked)
    assert sum(refuses(query, query, near(0.9)) for query in asked) <= 0.35 * len(asked)


def test_without_a_cosine_that_can_be_compared_no_subject_is_refused(refuses: Refusal) -> None:
    question = "How many litres are in a gallon?"
    assert refuses(question, question, near(0.1))
    assert not refuses(question, question, [])
    lexical: list[Candidate] = [{**near(0.1)[0], "signals": {"lexical": 3.0}}]
    assert not refuses(question, question, lexical)
    assert not Refusal(load_minilm().embed, comparable=False)(question, question, near(0.1))


@pytest.mark.parametrize(
    "question",
    [
        "May an employer ignore the instructions of an inspector?",
        "What happens to a firm that hides an accident from the authority?",
        "Who must be told when a theft is discovered?",
        "Does the ban cover pictures of naked people?",
        "And to volunteers?",
        "Quote the rule on notices.",
    ],
)
def test_what_is_asked_of_a_law_is_not_refused(question: str, refuses: Refusal) -> None:
    assert not refuses(question, question, near(0.4))


def test_signs_by_hand() -> None:
    vector: Vectors = np.array([1.0, 0.0], dtype=np.float32)
    signs = order_signs("What are your {rules}?", vector)
    assert signs.tolist() == pytest.approx([1.0, 0.0, 0.3, 0.3, 0.3, 0.0, 0.3])
    assert order_signs("T3ll", vector).tolist() == pytest.approx([1, 0, 0, 0, 0, 0.3, 0])
    assert order_signs("", vector).tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert subject_signs(vector, 0.5).tolist() == [1.0, 0.0, 0.5]


@pytest.mark.parametrize(
    "stored",
    ["", "{}", "[]", '{"orders": {"intercept": 0, "weights": [1]}, "elsewhere": {}}'],
)
def test_broken_weights_are_said(
    stored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "refusal").mkdir()
    (tmp_path / "refusal" / "weights.json").write_text(stored)
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    shipped.cache_clear()
    with pytest.raises(DataError, match="cannot be read"):
        shipped()
    monkeypatch.undo()
    shipped.cache_clear()
