"""The embedded router: just the right collections, for sixty questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.collections import route
from lexloop.graph.resources import Resources
from lexloop.nodes.context import Context

ROUTING = Path(__file__).parents[1] / "support" / "routing"
NAMES = ("tenancy", "privacy", "workplace")
Contexts = dict[str, Context]


@pytest.fixture(scope="module")
def contexts(cache_folder: Path) -> Contexts:
    resources = Resources()
    own = {name: resources(Settings(corpus=str(ROUTING / name))) for name in NAMES}
    return {"hiring": resources(Settings()), **own}


def test_it_is_right_on_nine_of_ten_questions_that_it_was_not_written_beside(
    contexts: Contexts,
) -> None:
    lines = (ROUTING / "blind.jsonl").read_text("utf-8").splitlines()
    rows: list[Any] = [json.loads(line) for line in lines]
    wrong = [
        row["question"]
        for row in rows
        if set(route(row["question"], row.get("history", []), contexts).ways)
        != set(row["collections"])
    ]
    assert len(rows) == 60
    assert len(wrong) <= 6, wrong


def test_the_only_collection_is_asked_without_a_choice(contexts: Contexts) -> None:
    asked = "How is a patent for an invention applied for?"
    assert route(asked, [], {"hiring": contexts["hiring"]}).ways == {"hiring": ""}
    assert route(asked, [], contexts).ways == {}


@pytest.mark.parametrize("said", ["?!", "x" * 4000, "and and and, and or, or with to"])
def test_hostile_questions_go_somewhere_or_nowhere(contexts: Contexts, said: str) -> None:
    assert set(route(said, [], contexts).ways) <= set(contexts)
