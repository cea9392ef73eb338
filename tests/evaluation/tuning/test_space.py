"""What is tried: only what can matter, and never what is there already."""

import pytest

from lexloop.core.settings import Settings
from lexloop.evaluation.tuning.space import Coordinate, coordinates, scaled, thinned
from lexloop.nodes.classify.plan import class_plans


def names(settings: Settings, chunking: bool = True) -> list[str]:
    return [coordinate.name for coordinate in coordinates(settings, chunking)]


def test_coordinates_follow_the_settings() -> None:
    whole = ["chunking", "fusion", "bm25_boost", "host_boost", "k", "Q", "K and S"]
    linear = Settings(fusion="linear")
    assert names(linear) == whole
    assert names(linear, chunking=False) == whole[1:]
    for fusion in ("rrf", "standardised"):
        assert names(Settings(fusion=fusion)) == ["chunking", "fusion", "k", "Q", "K and S"]
    assert names(linear.changed(variant="pa")) == whole[:-1]
    assert names(linear.changed(variant="fixed")) == whole[:4]
    assert names(linear.changed(**{"plan.k": 5, "plan.Q": 0})) == [*whole[:4], "K and S"]
    assert (
        names(linear.changed(**{"retrieval.rewriter": "none", "retrieval.knowledge_graph": "none"}))
        == whole[:5]
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_every_candidate_is_valid_and_changes_a_class_at_most(classes: int) -> None:
    base = Settings(**{"plan.classes": classes})
    for coordinate in coordinates(base, chunking=True):
        for changes in coordinate.candidates:
            settings = base.changed(**changes)
            assert settings.plan.classes == classes or len(settings.plan.classes) == classes
            if coordinate.name in ("Q", "K and S"):
                differing = [
                    a != b
                    for a, b in zip(class_plans(settings.plan), class_plans(base.plan), strict=True)
                ]
                assert sum(differing) == 1


def test_plans_keep_what_was_chosen_before() -> None:
    settings = Settings(**{"plan.classes": [{"k": k, "Q": 2, "K": 1, "S": 1} for k in (4, 5, 6)]})
    (queries,) = [each for each in coordinates(settings, chunking=False) if each.name == "Q"]
    assert all(
        [row["k"] for row in changes["plan.classes"]] == [4, 5, 6] for changes in queries.candidates
    )


def test_k_is_tried_around_what_it_is() -> None:
    settings = Settings(**{"plan.classes": [{"k": k, "Q": 2, "K": 1, "S": 1} for k in (6, 10, 14)]})
    (tops,) = [each for each in coordinates(settings, chunking=False) if each.name == "k"]
    tried = [
        [row["k"] for row in each["plan.classes"]]
        for each in tops.candidates
        if "plan.classes" in each
    ]
    assert [8, 8, 8] in tried  # twice 4, 4, 4
    assert [4, 10, 16] in tried


def test_k_is_scaled_with_the_length_of_chunks() -> None:
    assert [row["k"] for row in scaled(Settings(), 2.0)["plan.classes"]] == [6, 10, 14]
    assert [row["k"] for row in scaled(Settings(), 0.01)["plan.classes"]] == [1, 1, 1]
    assert scaled(Settings(**{"plan.k": 40}), 2.0) == {"plan.k": 50}
    assert scaled(Settings(variant="fixed"), 0.6) == {"plan.k": 3}


def test_thinned_is_bounded_and_repeatable() -> None:
    all_of_it = coordinates(Settings(), chunking=True)
    few = thinned(all_of_it, 20, seed=1)
    assert sum(len(coordinate.candidates) for coordinate in few) <= 20
    assert few == thinned(all_of_it, 20, seed=1)
    assert few != thinned(all_of_it, 20, seed=2)
    assert thinned(all_of_it, 1000, seed=1) == all_of_it
    one = [Coordinate("a", ({"k": 1}, {"k": 2}))]
    assert [len(coordinate.candidates) for coordinate in thinned(one, 1, seed=1)] == [1]
