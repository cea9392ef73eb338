import pytest

from lexloop.knowledge.predicates import PREDICATES, BareTriplet, reading, typed


def test_every_relation_that_a_law_states_has_a_predicate() -> None:
    named = """defines requires prohibits permits exception_to refers_to penalises applies_to
    amount deadline"""
    assert set(named.split()) <= set(PREDICATES)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("defines", "is defined as"),
        ("alias_of", "is short for"),
        ("requires", "must"),
        ("applies_to", "applies to"),
        ("is collected by", "is collected by"),
        ("", ""),
    ],
)
def test_a_predicate_reads_from_subject_to_object(predicate: str, expected: str) -> None:
    assert reading(predicate) == expected


@pytest.mark.parametrize("predicate", PREDICATES)
def test_what_is_typed_stays_so(predicate: str) -> None:
    statement = BareTriplet("a", predicate, "b")
    assert typed(statement) == statement
    assert typed(BareTriplet("a", reading(predicate), "b")) == statement
