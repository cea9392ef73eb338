"""What is looked up next, from the provisions that retrieved chunks state."""

import pytest
from relations import relation
from triplet_list import graph_of

from lexloop.core.types import Triplet


def said(label: str, predicate: str, obj: str, subject: str = "", start: int = 0) -> Triplet:
    """What a provision states; its chunk has its label as id."""
    return relation(subject or label, predicate, obj, chunk=label, section=label, start=start)


LAW = [
    said("Article 1(1)", "defines", "place where boats lie", "berth"),
    said("Article 2(1)", "part_of", "Article 2", start=9),
    said("Article 2(1)", "uses", "berth", start=10),
    said("Article 2(1)", "refers_to", "Article 3", start=11),
    said("Article 3", "concerns", "fees", start=19),
    said("Article 3(1)", "part_of", "Article 3", start=20),
    said("Article 3(2)", "part_of", "Article 3", start=21),
    said("Article 3(2)", "refers_to", "Article 5", start=22),
    said("Article 4(a)", "exception_to", "Article 2(1)", start=30),
    said("Article 5", "concerns", "receipts", start=40),
    said("Article 6", "refers_to", "Article 2", start=50),
    said("Article 6", "concerns", "fines", start=51),
    said("Article 7", "concerns", "captains", start=60),
    said("Article 2", "concerns", "berths", start=8),
]


def looked_up(chunk: str, length: int, **asked: float) -> dict[str, float]:
    graph = graph_of(LAW)
    seeds = {str(graph.find(name)): weight for name, weight in asked.items()}
    found = graph.look_up([chunk], seeds, length, 20)
    assert {up.by for up in found} <= {chunk}
    return {up.stated[0]["section"]: up.score for up in found}


def test_one_step_leads_to_references_exceptions_and_definitions() -> None:
    near = looked_up("Article 2(1)", 1)
    assert set(near) == {"Article 4(a)", "Article 3", "Article 1(1)", "Article 6"}
    assert next(iter(near)) == "Article 4(a)"
    # Article 2 counts less than its paragraph, and what refers to it less than what it refers to
    assert near["Article 6"] == min(near.values())


def test_a_further_step_leads_on_from_there() -> None:
    chunk, near, far = "Article 3(2)", looked_up("Article 3(2)", 1), looked_up("Article 3(2)", 2)
    assert set(near) == {"Article 5", "Article 2(1)"}
    assert {"Article 4(a)", "Article 1(1)"} <= set(far)
    assert far["Article 4(a)"] < far["Article 2(1)"] == near["Article 2(1)"]
    assert looked_up(chunk, 0) == {}
    assert looked_up("Article 7", 3) == {}
    assert looked_up("unknown", 3) == {}


def test_what_meets_a_keyword_comes_first() -> None:
    plain, met = looked_up("Article 2(1)", 1), looked_up("Article 2(1)", 1, fines=1.0)
    assert met["Article 6"] == pytest.approx(2 * plain["Article 6"])
    assert {name: met[name] for name in ("Article 4(a)", "Article 3")} == {
        name: plain[name] for name in ("Article 4(a)", "Article 3")
    }


def test_a_better_chunk_counts_for_more() -> None:
    graph = graph_of(LAW)
    alone = graph.look_up(["Article 3(2)"], {}, 1, 20)
    found = graph.look_up(["Article 7", "Article 3(2)"], {}, 1, 20)
    assert [up.triplet for up in found] == [up.triplet for up in alone]
    assert [up.score for up in found] == pytest.approx([up.score / 1.2 for up in alone])
    assert len(graph.look_up(["Article 2(1)"], {}, 1, 2)) == 2
