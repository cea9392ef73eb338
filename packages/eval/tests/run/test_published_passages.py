"""The rows of the papers' tables as they run: how many passages they take, and what each does."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.build import LAST_OF_RETRIEVAL, build_graph
from lexloop.graph.resources import Resources
from lexloop_eval.run.published import published
from lexloop_eval.run.variants import Variant

ASKED = (
    "What must the summary of results contain, and who must publish it?",
    "What does § 5-303 require of an employer?",
    "What was changed?",
)
"""These refer to other provisions, to a list and to a provision by its number; the last one has so
few relations nearby that longer paths add some."""
ROWS = [row for row in published(Settings()) if not row.closed and "model" not in row.needs]


KINDS = "file,kind\nlaw.txt,statute\nrule.txt,rule\nhistory.txt,guidance\n"


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Resources]:
    """Models and indexes over the sample, whose sources say of which kind they are."""
    sample = tmp_path_factory.mktemp("sample")
    for name in ("law.txt", "rule.txt", "history.txt"):
        (sample / name).write_bytes((files("lexloop.data") / "ll144" / name).read_bytes())
    (sample / "metadata.csv").write_text(KINDS, "utf-8")
    made = Resources(defaults=Settings(corpus=str(sample)))
    yield made
    made.close()


def ask(
    resources: Resources, row: Variant, question: str, last: str = "", **changes: Any
) -> dict[str, Any]:
    """The working state of a question under a row's settings, at the end or behind a node."""
    parts = resources(resources.defaults.changed(**{**row.changes, **changes}))
    state: dict[str, Any] = {}
    for step in build_graph(lambda *_: parts).stream({"question": question}, stream_mode="updates"):
        for update in step.values():
            state |= update or {}
        if last in step:
            break
    return state


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_row_takes_more_passages_than_its_k(resources: Resources, row: Variant) -> None:
    for question in ASKED:
        found = ask(resources, row, question)
        assert 0 < len(found["passages"]) <= found["plan"]["k"], question


OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "k": [{"plan.k": 1}],
    "Q": [{"plan.Q": 0}],
    "K": [{"plan.K": 1}],
    "S": [{"plan.S": 1}, {"plan.S": 3}],
    "reranker": [{"retrieval.reranker": "none"}],
    "BM25": [{"fusion.bm25_boost": 0.0}],
    **{word: [{"fusion.host_boost": 9.0}] for word in ("host", "Host")},
    "characters": [{"chunking.chars": 3000}],
}
"""Other values of each parameter that the rows have in their names."""
NAMED = [
    (row, word)
    for row in ROWS
    for word in dict.fromkeys(re.findall(r"\w+", row.name.partition("(")[0]))
    if word in OTHERWISE and row.name != "BM25"
]


def read(resources: Resources, row: Variant, **changes: Any) -> list[Any]:
    """What goes to the generator, and what was searched."""
    states = [ask(resources, row, question, LAST_OF_RETRIEVAL, **changes) for question in ASKED]
    return [
        ([one["id"] for one in state["passages"]], state["triplets"], state["parsed"]["queries"])
        for state in states
    ]


@pytest.mark.parametrize(("row", "word"), NAMED, ids=lambda value: getattr(value, "name", value))
def test_each_parameter_of_a_row_changes_what_is_read(
    resources: Resources, row: Variant, word: str
) -> None:
    as_published = read(resources, row)
    assert any(read(resources, row, **other) != as_published for other in OTHERWISE[word])
