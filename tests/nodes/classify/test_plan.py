"""The plans of HyPA-RAG's tables 6 and 7, and which class is taken."""

import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.settings import FIXED_K, Settings, Variant
from lexloop.nodes.classify import TABLES, chosen_class, plan_for


@pytest.mark.parametrize(
    ("number", "classes", "complexity", "printed"),
    [
        ("k", 2, 0, 5),
        ("k", 2, 1, 10),
        ("Q", 2, 0, 3),
        ("Q", 2, 1, 5),
        ("K", 2, 0, 4),
        ("K", 2, 1, 5),
        ("S", 2, 0, 2),
        ("S", 2, 1, 3),
        ("k", 3, 0, 3),
        ("k", 3, 1, 5),
        ("k", 3, 2, 7),
        ("Q", 3, 0, 3),
        ("Q", 3, 1, 5),
        ("Q", 3, 2, 7),
        ("K", 3, 0, 3),
        ("K", 3, 1, 4),
        ("K", 3, 2, 5),
        ("S", 3, 0, 1),
        ("S", 3, 1, 2),
        ("S", 3, 2, 3),
    ],
)
def test_every_cell_is_the_papers(number: str, classes: int, complexity: int, printed: int) -> None:
    assert plan_for(complexity, Settings(**{"plan.classes": classes}))[number] == printed


def test_the_tables_have_a_row_per_class_and_no_more() -> None:
    assert {classes: len(rows) for classes, rows in TABLES.items()} == {2: 2, 3: 3}


@pytest.mark.parametrize(
    ("variant", "plan"),
    [
        ("hypa", {"k": 7, "Q": 7, "K": 5, "S": 3}),
        ("pa", {"k": 7, "Q": 7, "K": 0, "S": 0}),
        ("fixed", {"k": FIXED_K, "Q": 0, "K": 0, "S": 0}),
        ("llm_only", {"k": 0, "Q": 0, "K": 0, "S": 0}),
    ],
)
def test_a_variant_leaves_out_what_it_says(variant: Variant, plan: dict[str, int]) -> None:
    assert plan_for(2, Settings(variant=variant)) == plan


@pytest.mark.parametrize("complexity", [0, 1, 2])
def test_k_of_the_fixed_variant_does_not_depend_on_the_class(complexity: int) -> None:
    assert plan_for(complexity, Settings(variant="fixed"))["k"] == FIXED_K
    assert plan_for(complexity, Settings(variant="fixed", **{"plan.k": 8}))["k"] == 8


@pytest.mark.parametrize("number", ["k", "Q", "K", "S"])
def test_a_setting_fixes_its_number_alone(number: str) -> None:
    free = plan_for(1, Settings())
    assert plan_for(1, Settings(**{f"plan.{number}": 1})) == {**free, number: 1}


@pytest.mark.parametrize("number", ["Q", "K", "S"])
def test_a_setting_of_zero_is_a_number_and_not_a_gap(number: str) -> None:
    assert plan_for(2, Settings(**{f"plan.{number}": 0}))[number] == 0


def test_no_setting_brings_back_what_the_variant_leaves_out() -> None:
    settings = Settings(variant="llm_only", **{"plan.k": 9, "plan.Q": 9, "plan.K": 9, "plan.S": 3})
    assert plan_for(0, settings) == {"k": 0, "Q": 0, "K": 0, "S": 0}


def test_plans_of_ones_own_replace_the_tables() -> None:
    rows = [{"k": k, "Q": k + 1, "K": k + 2, "S": k + 3} for k in (1, 2)]
    settings = Settings(**{"plan.classes": rows})
    assert [plan_for(label, settings) for label in (0, 1)] == rows
    assert plan_for(1, settings.changed(**{"plan.k": 9})) == {**rows[1], "k": 9}
    assert plan_for(1, settings.changed(variant="pa")) == {**rows[1], "K": 0, "S": 0}


@pytest.mark.parametrize("count", [0, 1, 4])
def test_there_are_two_or_three_classes(count: int) -> None:
    rows = [{"k": 1, "Q": 1, "K": 1, "S": 1}] * count
    with pytest.raises(SettingsError, match=r"plan\.classes is .*at (least 2|most 3) items"):
        Settings(**{"plan.classes": rows})


@pytest.mark.parametrize("complexity", [0, 1, 2])
def test_where_scores_set_k_the_class_does_until_then(complexity: int) -> None:
    assert plan_for(complexity, Settings(**{"plan.k": "scores"})) == plan_for(
        complexity, Settings()
    )


def test_what_is_left_out_needs_no_numbers() -> None:
    plain = Settings(**{"retrieval.rewriter": "none", "retrieval.knowledge_graph": "none"})
    assert plan_for(1, plain) == {"k": 5, "Q": 0, "K": 0, "S": 0}


@pytest.mark.parametrize(
    ("probabilities", "least", "label"),
    [
        ([0.7, 0.2, 0.1], 0.5, 0),
        ([0.1, 0.2, 0.7], 0.5, 2),
        ([0.5, 0.3, 0.2], 0.5, 0),  # reaching the bar is enough
        ([0.49, 0.3, 0.21], 0.5, 1),
        ([0.3, 0.22, 0.48], 0.5, 1),
        ([0.3, 0.22, 0.48], 0.0, 2),
        ([0.4, 0.6], 0.5, 1),
        ([0.6, 0.4], 0.7, 1),  # of two classes the one that retrieves more
    ],
)
def test_a_low_probability_takes_the_middle_class(
    probabilities: list[float], least: float, label: int
) -> None:
    assert chosen_class(probabilities, least) == label
