from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError
from lexloop.core.metadata import SOURCE_KINDS, Metadata

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


def test_both_days_are_included() -> None:
    first, last = date(2023, 1, 1), date(2023, 12, 31)
    one = Metadata(in_force_from=first, in_force_to=last)
    assert one.in_force_on(first)
    assert one.in_force_on(last)
    assert not one.in_force_on(first - timedelta(days=1))
    assert not one.in_force_on(last + timedelta(days=1))
    assert one.version == "in force from 2023-01-01 to 2023-12-31"


@pytest.mark.parametrize("tags", ["b; a,,b ", ["b", " a", "a"], ("a", "b")])
def test_tags_may_be_a_list_or_a_text(tags: Any) -> None:
    assert Metadata.from_record({"tags": tags}).tags == ("a", "b")


def test_fields_that_are_unknown_or_empty_count_for_nothing() -> None:
    record = {"author": "x", "title": "", "tags": [], "url": None, "kind": " rule "}
    assert Metadata.from_record(record) == Metadata(kind="rule")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"in_force_from": "1 May 2021"}, "in_force_from is '1 May 2021'"),
        ({"in_force_to": "2021-13-01"}, "in_force_to is '2021-13-01'"),
        ({"in_force_from": "2022-01-02", "in_force_to": "2022-01-01"}, "lies before"),
        ({"kind": "law"}, "kind is 'law'"),
        ({"title": ["a"]}, "title is"),
        ({"tags": [1]}, "tags are"),
        ({"tags": {"a": 1}}, "tags are"),
        ({"tags": 7}, "tags are 7"),
    ],
)
def test_a_field_that_cannot_be_read_is_told(record: dict[str, Any], reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        Metadata.from_record(record)
