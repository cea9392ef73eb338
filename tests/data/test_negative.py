"""What must be refused is refused, and what is answered is verified, on the sample corpus."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture(scope="module")
def graph() -> Lexloop:
    return build_graph(Resources())


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def test_the_embedded_mode_abstains_on_negative_queries(graph: Lexloop) -> None:
    answered = [
        row["query"]
        for row in rows("negative.jsonl")
        if graph.invoke({"question": row["query"]})["answer"] != ABSTENTION
    ]
    assert len(answered) <= 1, answered


def test_every_answer_to_a_gold_question_is_verified(graph: Lexloop) -> None:
    by_type = defaultdict(list)
    for row in rows("gold.jsonl"):
        by_type[row["question_type"]].append(row)
    for first, *_ in by_type.values():
        messages = [*first["conversation_history"], {"role": "user", "content": first["question"]}]
        state = graph.invoke({"messages": messages})
        assert state["abstained"] or state["evaluation"]["citations_verified"], first["question"]
        assert state["abstained"] or state["citations"], first["question"]
