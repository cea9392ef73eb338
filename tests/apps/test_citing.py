"""Pinpoints in each style, worked by hand: statutes, regulations, contracts, policies, cases."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sets import rows

from lexloop.apps.shapes.citing import pinpoint


def source(title: str, section: str = "", page: int | None = None, **more: str) -> dict[str, Any]:
    return {"document": "file.pdf", "title": title, "section": section, "page": page, **more}


STATUTE = source(
    "Dogs Act 2024", "Section 4(1)(b)", 3,
    kind="statute", jurisdiction="NZ", version="in force from 2024-01-01",
)  # fmt: skip
CONTRACT = source("Lease of 12 Harbour Street", "Clause 2.1(b)", 9)


@pytest.mark.parametrize(("one", "oscola", "bluebook"), rows("citing"))
def test_by_hand(one: dict[str, Any], oscola: str, bluebook: str) -> None:
    assert pinpoint(one, "oscola") == oscola
    assert pinpoint(one, "bluebook") == bluebook


def test_what_is_no_day_is_left_as_it_is() -> None:
    made = source("Act", "Section 1", version="in force from 2024-13-45")
    assert pinpoint(made, "oscola") == "Act, s 1 (in force from 2024-13-45)"


def test_plain_is_what_people_read() -> None:
    assert pinpoint(STATUTE) == "file.pdf, Section 4(1)(b), page 3, in force from 2024-01-01"
    assert pinpoint(CONTRACT) == "file.pdf, Clause 2.1(b), page 9"


@given(st.text(), st.text(), st.text(), st.sampled_from(["plain", "oscola", "bluebook"]))
def test_any_text_stays_on_a_line(title: str, section: str, version: str, style: Any) -> None:
    made = source(title, section, version=version, jurisdiction=title, kind="statute")
    said = pinpoint(made, style)
    assert "\n" not in said
    assert not {"\u202e", "\x1b", "\x00"} & {*said}


@pytest.mark.parametrize(("section", "at", "plain", "oscola"), rows("citing_in_file"))
def test_a_place_without_a_page(section: str, at: dict[str, Any], plain: str, oscola: str) -> None:
    one = {**source("Travel Policy", section), "start": 4711, "end": 4812, "at": at}
    assert pinpoint(one) == plain
    assert pinpoint(one, "oscola") == oscola
    assert pinpoint(one, "bluebook").endswith(oscola.rpartition(", ")[2].replace("s 2", "§ 2"))
