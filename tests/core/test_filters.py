from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings

RULE = Metadata(
    host="www.nyc.gov",
    jurisdiction="NYC",
    kind="rule",
    in_force_from=date(2023, 7, 5),
    in_force_to=date(2024, 1, 1),
)
NAMES = st.frozensets(st.sampled_from("abc"))


@pytest.mark.parametrize(
    ("conditions", "admitted"),
    [
        ({}, True),
        ({"as_of": date(2023, 7, 5)}, True),
        ({"as_of": date(2024, 1, 1)}, True),
        ({"as_of": date(2023, 7, 4)}, False),
        ({"as_of": date(2024, 1, 2)}, False),
        ({"jurisdictions": frozenset({"NYC", "EU"})}, True),
        ({"jurisdictions": frozenset({"EU"})}, False),
        ({"kinds": frozenset({"statute"})}, False),
        ({"hosts": frozenset({"www.nyc.gov"})}, True),
        ({"hosts": frozenset({"nyc.gov"})}, False),
        ({"kinds": frozenset({"rule"}), "hosts": frozenset({"x"})}, False),
        ({"allowed_tags": frozenset({"any"})}, True),
    ],
)
def test_every_condition_must_be_met(conditions: dict[str, Any], admitted: bool) -> None:
    assert Filters(**conditions).admits(RULE) is admitted


@given(NAMES, NAMES)
def test_a_tagged_document_is_shown_to_who_has_one_of_its_tags(
    tags: frozenset[str], allowed: frozenset[str]
) -> None:
    document = replace(RULE, tags=tuple(sorted(tags)))
    assert Filters(allowed_tags=allowed).admits(document) == (not tags or bool(tags & allowed))


@given(NAMES, NAMES, NAMES)
def test_more_tags_allowed_never_hide_a_document(
    tags: frozenset[str], allowed: frozenset[str], more: frozenset[str]
) -> None:
    document = replace(RULE, tags=tuple(sorted(tags)))
    if Filters(allowed_tags=allowed).admits(document):
        assert Filters(allowed_tags=allowed | more).admits(document)


def test_nothing_is_known_of_a_document_without_metadata() -> None:
    assert Filters().admits(Metadata())
    assert Filters(as_of=date(1900, 1, 1)).admits(Metadata())
    assert not Filters(kinds=frozenset({"rule"})).admits(Metadata())


def test_the_settings_name_the_conditions() -> None:
    settings = Settings(
        **{
            "access.tags": ["a"],
            "access.as_of": "2024-01-01",
            "access.kinds": ["rule"],
            "access.hosts": ["x"],
        }
    )
    assert Filters.of(settings) == Filters(
        allowed_tags=frozenset({"a"}),
        as_of=date(2024, 1, 1),
        kinds=frozenset({"rule"}),
        hosts=frozenset({"x"}),
    )
    assert Filters.of(Settings(**{"access.as_of": "any"})).as_of is None
    assert Filters.of(Settings(**{"access.as_of": "today"})).as_of == date.today()
