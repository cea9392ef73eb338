"""What the graph brings up for keywords and for what was found, within the plan's bounds."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest
import records
from indexes import view_of
from running import runtime, update_of

from lexloop.core.state import State
from lexloop.core.types import Plan
from lexloop.documents.document import Document
from lexloop.nodes.kg_retrieve import CANDIDATES, kg_retrieve
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

LAW = {
    0: "Terms\nIn this ordinance:\n(1) “mooring fee” means the sum due for a berth.",
    1: "Payment of dues\nA boat owner must pay the mooring fee as § 3 says.",
    2: "Nights\nA boat owner must not moor at night.",
    3: "Receipts\nThe harbour master keeps a copy. § 2 does not apply to the harbour master.",
    4: "Library\nThe library opens at nine.",
}
NOTHING = {"triplets": [], "graph_candidates": [], "by": {}}


def law_of(sections: Mapping[int, str]) -> View:
    """A law of sections of these numbers, each a chunk of its own."""
    law = "\n\n".join(f"§ {number} {text}" for number, text in sections.items())
    cut = {"chunking": "pattern", "chunking.pattern": "^§ "}
    return view_of(Document("harbour.txt", "Rule", law), **cut)


@pytest.fixture(scope="module")
def harbour() -> View:
    return law_of(LAW)


def numbers(view: View) -> dict[str, int]:
    """The section of each chunk, by its id."""
    return {chunk["id"]: int(chunk["text"].split()[1]) for chunk in view.every_chunk()}


def retrieved(
    view: View | None, keywords: list[str], found: Collection[int] = (), K: int = 4, S: int = 2
) -> dict[str, Any]:
    """What the node writes, chunks by their sections; ``by`` has which of them hand on to which."""
    plan: Plan = {"k": 5, "Q": 3, "K": K, "S": S}
    known = numbers(view) if view else {}
    state: State = {
        "plan": plan,
        "parsed": {**parse(""), "keywords": keywords},
        "candidates": [
            records.candidate(name) for name, number in known.items() if number in found
        ],
    }
    update = update_of(kg_retrieve, state, runtime(view=view))
    by = {known[one["id"]]: known[one["by"]] for one in update["graph_candidates"] if "by" in one}
    brought = [known[candidate["id"]] for candidate in update["graph_candidates"]]
    return {**update, "by": by, "graph_candidates": brought}


def test_what_a_candidate_hands_on_to_and_what_limits_it_are_looked_up(harbour: View) -> None:
    update = retrieved(harbour, ["zeppelin"], [1, 2], S=1)
    assert update["by"] == {0: 1, 3: 2}
    assert 4 not in update["graph_candidates"]
    assert [t["predicate"] for t in update["triplets"]] == ["exception_to", "uses"]
    alone = retrieved(harbour, ["zeppelin"], [1], S=1)
    assert alone["by"] == {0: 1, 3: 1}
    assert {t["predicate"] for t in alone["triplets"]} == {"refers_to", "uses"}


@pytest.mark.parametrize(("K", "S"), [(0, 2), (4, 0)])
def test_nothing_when_the_plan_asks_for_none(harbour: View, K: int, S: int) -> None:
    assert retrieved(harbour, ["fee"], [0], K=K, S=S) == NOTHING
    assert retrieved(None, ["fee"]) == NOTHING


def test_both_lists_are_bounded_and_without_repetitions() -> None:
    said = "Fee of boats number {}\nWhoever owns a boat pays fee {}, see § {}."
    many = law_of({n: said.format(n, n, (n + 7) % 60) for n in range(60)})
    update = retrieved(many, ["boat", "fee", "number"], [1, 2], S=3)
    relations = [(t["subject"], t["predicate"], t["object"]) for t in update["triplets"]]
    assert len(relations) == len(set(relations)) == 12
    brought = update["graph_candidates"]
    assert len(brought) == len(set(brought))
    assert len({*brought} - {1, 2}) == CANDIDATES  # those that were found count apart
