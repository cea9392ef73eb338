"""The plans of HyPA-RAG's tables 6 and 7, and which class is taken."""

import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.settings import Settings, Variant
from lexloop.nodes.classify import chosen_class, plan_for


@pytest.mark.parametrize(
    ("classes", "printed"),
    [
        (2, [(5, 3, 4, 2), (10, 5, 5, 3)]),
        (3, [(3, 3, 3, 1), (5, 5, 4, 2), (7, 7, 5, 3)]),
    ],
)
def test_every_cell_is_the_papers(classes: int, printed: list[tuple[int, ...]]) -> None:
    settings = Settings(**{"plan.classes": classes})
    plans = [plan_for(complexity, settings) for complexity in range(classes)]
    assert [(plan["k"], plan["Q"], plan["K"], plan["S"]) for plan in plans] == printed


@pytest.mark.parametrize(
    ("variant", "plan"),
    [
        ("hypa", {"k": 7, "Q": 7, "K": 5, "S": 3}),
        ("pa", {"k": 7, "Q": 7, "K": 0, "S": 0}),
        ("llm_only", {"k": 0, "Q": 0, "K": 0, "S": 0}),
    ],
)
def test_a_variant_leaves_out_what_it_says(variant: Variant, plan: dict[str, int]) -> None:
    assert plan_for(2, Settings(variant=variant)) == plan


@pytest.mark.parametrize("number", ["k", "Q", "K", "S"])
def test_a_setting_fixes_its_number_alone(number: str) -> None:
    free = plan_for(1, Settings())
    assert plan_for(1, Settings(**{f"plan.{number}": 1})) == {**free, number: 1}


def test_plans_of_ones_own_replace_the_tables() -> None:
    rows = [{"k": k, "Q": k + 1, "K": k + 2, "S": k + 3} for k in (1, 2)]
    settings = Settings(**{"plan.classes": rows})
    assert [plan_for(label, settings) for label in (0, 1)] == rows
    assert plan_for(1, settings.changed(**{"plan.k": 9})) == {**rows[1], "k": 9}
    assert plan_for(1, settings.changed(variant="pa")) == {**rows[1], "K": 0, "S": 0}


@pytest.mark.parametrize("count", [1, 4])
def test_there_are_two_or_three_classes(count: int) -> None:
    rows = [{"k": 1, "Q": 1, "K": 1, "S": 1}] * count
    with pytest.raises(SettingsError, match=r"plan\.classes is .*at (least 2|most 3) items"):
        Settings(**{"plan.classes": rows})


@pytest.mark.parametrize(
    ("probabilities", "least", "label"),
    [
        ([0.1, 0.2, 0.7], 0.5, 2),
        ([0.5, 0.3, 0.2], 0.5, 0),  # reaching the bar is enough
        ([0.49, 0.3, 0.21], 0.5, 1),
        ([0.3, 0.22, 0.48], 0.0, 2),
        ([0.6, 0.4], 0.7, 1),  # of two classes the one that retrieves more
    ],
)
def test_a_low_probability_takes_the_middle_class(
    probabilities: list[float], least: float, label: int
) -> None:
    assert chosen_class(probabilities, least) == label
