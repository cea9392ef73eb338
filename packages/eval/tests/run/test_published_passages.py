"""The rows of the papers' tables as they run: how many passages they take, and what each does."""

from collections.abc import Iterator
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop_eval.run.published import published
from lexloop_eval.run.variants import Variant

ASKED = (
    "What must the summary of results contain, and who must publish it?",
    "What does § 5-303 require of an employer?",
)
"""These refer to other provisions, to a list and to a provision by its number."""
ROWS = [row for row in published(Settings()) if not row.closed and "model" not in row.needs]


@pytest.fixture(scope="module")
def resources() -> Iterator[Resources]:
    made = Resources()
    yield made
    made.close()


def ask(resources: Resources, row: Variant, question: str, **changes: Any) -> dict[str, Any]:
    """The working state at the end of a question under a row's settings."""
    parts = resources(Settings().changed(**{**row.changes, **changes}))
    state: dict[str, Any] = {}
    for step in build_graph(lambda *_: parts).stream({"question": question}, stream_mode="updates"):
        for update in step.values():
            state |= update or {}
    return state


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_row_takes_more_passages_than_its_k(resources: Resources, row: Variant) -> None:
    for question in ASKED:
        found = ask(resources, row, question)
        assert 0 < len(found["passages"]) <= found["plan"]["k"], question
