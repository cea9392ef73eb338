from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.metadata import Metadata
from lexloop.documents.document import end_superseded
from lexloop.documents.reading.metadata import host_of

OLD = Metadata(in_force_from=date(2020, 1, 1))


def new(supersedes: str, begins: date | None = date(2023, 3, 1)) -> Metadata:
    return Metadata(supersedes=supersedes, in_force_from=begins)


def test_the_old_version_ends_the_day_before_the_new_one_begins() -> None:
    ended, troubles = end_superseded({"old": OLD, "new": new("old"), "other": OLD})
    assert ended["old"].in_force_to == date(2023, 2, 28)
    assert (ended["new"], ended["other"], troubles) == (new("old"), OLD, [])


def test_a_day_that_is_given_stays() -> None:
    given_day = Metadata(in_force_to=date(2022, 1, 1))
    assert end_superseded({"old": given_day, "new": new("old")})[0]["old"] == given_day


def test_of_two_replacements_the_first_counts() -> None:
    later = new("old", date(2025, 1, 1))
    for names in (("a", "b"), ("b", "a")):
        documents = {"old": OLD, names[0]: new("old"), names[1]: later}
        assert end_superseded(documents)[0]["old"].in_force_to == date(2023, 2, 28)


def test_names_are_looked_up_beside_the_document_first() -> None:
    ended, _ = end_superseded({"old": OLD, "nyc/old": OLD, "nyc/new": new("old")})
    assert ended["old"].in_force_to is None
    assert ended["nyc/old"].in_force_to == date(2023, 2, 28)
    ended, _ = end_superseded({"a/old": OLD, "nyc/new": new("a/old")})
    assert ended["a/old"].in_force_to == date(2023, 2, 28)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (new("gone"), "'gone', which is not among the documents"),
        (new("new"), "which is itself"),
        (new("old", None), "does not say from when"),
        (new("old", date(2019, 1, 1)), "but that begins on 2020-01-01"),
    ],
)
def test_what_cannot_be_followed_is_told_and_changes_nothing(
    metadata: Metadata, reason: str
) -> None:
    documents = {"old": OLD, "new": metadata}
    ended, troubles = end_superseded(documents)
    assert ended == documents
    assert [item.name for item in troubles] == ["new"]
    assert reason in troubles[0].reason


NAMES = st.sampled_from("abcd")
DAYS = st.none() | st.dates(date(2020, 1, 1), date(2020, 1, 9))
SETS = st.dictionaries(
    NAMES, st.builds(Metadata, in_force_from=DAYS, supersedes=NAMES | st.just(""))
)


@given(SETS)
def test_ending_versions_twice_is_ending_them_once(documents: dict[str, Metadata]) -> None:
    once, _ = end_superseded(documents)
    assert end_superseded(once)[0] == once
    assert once.keys() == documents.keys()
    for metadata in once.values():
        Metadata.from_record(metadata.as_record())  # no version ends before it begins


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.NYC.gov:443/rules?x=1", "www.nyc.gov"),
        ("www.nyc.gov/rules", "www.nyc.gov"),
        ("//nyc.gov", "nyc.gov"),
        ("https://user@nyc.gov/", "nyc.gov"),
        ("", ""),
    ],
)
def test_the_host_is_that_of_the_address(url: str, host: str) -> None:
    assert host_of(url) == host
