"""Hits as mappings."""

from lexloop.core.hits import Hit
from lexloop.nodes.hybrid_retrieve.fusion import Found


def test_hits_by_query_and_signal() -> None:
    found = Found.of(
        [[Hit("a#0", "a", 8.0)], [Hit("a#0", "a", 9.0), Hit("b#0", "b", 1.0)]],
        [[Hit("a#0", "a", 0.5)], [Hit("c#0", "c", -0.25)]],
    )
    assert found.lexical == [{"a#0": 8.0}, {"a#0": 9.0, "b#0": 1.0}]
    assert found.vector == [{"a#0": 0.5}, {"c#0": -0.25}]
    assert found.documents == {"a#0": "a", "b#0": "b", "c#0": "c"}


def test_a_chunk_carries_the_best_score_of_each_signal_that_found_it() -> None:
    found = Found([{"a": 8.0}, {"a": 9.0, "b": 1.0}], [{"a": 0.5}, {"c": -0.25}], {})
    assert found.signals("a") == {"lexical": 9.0, "dense": 0.5}
    assert found.signals("b") == {"lexical": 1.0}
    assert found.signals("c") == {"dense": -0.25}
    assert found.signals("d") == {}
    near = Found([{"a": 8.0}, {}], [{}, {"a": 0.5}], {}, late=[{"a": 0.25}, {"a": 0.75}])
    assert near.signals("a") == {"lexical": 8.0, "dense": 0.5, "late": 0.75}


def test_nothing_was_found() -> None:
    assert Found.of([], []) == Found([], [], {})


def test_what_any_search_says_is_no_operative_text_is_known() -> None:
    found = Found.of(
        [[Hit("a#0", "a", 8.0, True)], [Hit("b#0", "b", 1.0)]], [[Hit("c#0", "c", 0.5, True)]]
    )
    assert found.supporting == {"a#0", "c#0"}
