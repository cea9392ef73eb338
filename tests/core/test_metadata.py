from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import SOURCE_KINDS, Filters, Metadata

DAYS = st.none() | st.dates()

WORDS = st.text(st.characters(exclude_categories=["Cs"])).map(str.strip)

TAGS = st.text(st.characters(exclude_characters=",;", exclude_categories=["Cs"])).map(str.strip)


@st.composite
def metadata(draw: st.DrawFn) -> Metadata:
    first, last = draw(DAYS), draw(DAYS)
    if first and last and last < first:
        first, last = last, first
    return Metadata(
        **{name: draw(WORDS) for name in ("title", "url", "host", "jurisdiction", "supersedes")},
        kind=draw(st.sampled_from(SOURCE_KINDS)),  # type: ignore[arg-type]
        tags=tuple(sorted(draw(st.sets(TAGS.filter(bool), max_size=3)))),
        in_force_from=first,
        in_force_to=last,
    )


@given(metadata())
def test_a_record_gives_back_what_it_was_made_of(one: Metadata) -> None:
    record = one.as_record()
    assert Metadata.from_record(record) == one
    assert all(record.values())
    assert all(isinstance(value, (str, list)) for value in record.values())


@given(metadata(), st.dates())
def test_a_document_holds_from_its_first_to_its_last_day(one: Metadata, day: date) -> None:
    begun = one.in_force_from is None or one.in_force_from <= day
    ended = one.in_force_to is not None and one.in_force_to < day
    assert one.in_force_on(day) == (begun and not ended)
    assert bool(one.version) == bool(one.in_force_from or one.in_force_to)


@pytest.mark.parametrize("tags", ["b; a,,b ", ["b", " a", "a"]])
def test_tags_are_a_list_or_a_text_and_what_is_unknown_counts_for_nothing(tags: Any) -> None:
    record = {"author": "x", "title": "", "url": None, "kind": " rule ", "tags": tags}
    assert Metadata.from_record(record) == Metadata(kind="rule", tags=("a", "b"))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"in_force_from": "1 May 2021"}, "in_force_from is '1 May 2021'"),
        ({"in_force_from": "2022-01-02", "in_force_to": "2022-01-01"}, "lies before"),
        ({"kind": "law"}, "kind is 'law'"),
        ({"tags": [1]}, "tags are"),
    ],
)
def test_a_field_that_cannot_be_read_is_told(record: dict[str, Any], reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        Metadata.from_record(record)


RULE = Metadata(
    host="www.nyc.gov",
    jurisdiction="NYC",
    kind="rule",
    in_force_from=date(2023, 7, 5),
    in_force_to=date(2024, 1, 1),
)

NAMES = st.frozensets(st.sampled_from("abc"))


@pytest.mark.parametrize(
    ("conditions", "admitted", "unknown"),
    [
        ({"as_of": date(2024, 1, 1)}, True, True),
        ({"as_of": date(2023, 7, 4)}, False, True),
        ({"jurisdictions": frozenset({"NYC", "EU"})}, True, False),
        ({"hosts": frozenset({"nyc.gov"})}, False, False),
    ],
)
def test_all_conditions_must_hold(
    conditions: dict[str, Any], admitted: bool, unknown: bool
) -> None:
    assert Filters(**conditions).admits(RULE) is admitted
    assert Filters(**conditions).admits(Metadata()) is unknown


@given(NAMES, NAMES)
def test_one_of_its_tags_shows_a_document(tags: frozenset[str], allowed: frozenset[str]) -> None:
    document = replace(RULE, tags=tuple(sorted(tags)))
    assert Filters(allowed_tags=allowed).admits(document) == (not tags or bool(tags & allowed))
