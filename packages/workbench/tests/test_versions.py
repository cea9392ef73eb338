"""Versions of a document, the same provision in each, and their differences by words."""

from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from indexes import ANYBODY, letter_tools
from sets import whole_text

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.metadata import Filters, Metadata
from lexloop.documents.document import Document
from lexloop.store.provisions import Source
from lexloop.store.view import View
from lexloop.store.writer import build_collection
from lexloop_workbench.versions import (
    compared,
    differences,
    same_provision,
    version_record,
    versions_of,
)

OLD = whole_text("versions_old.txt")
NEW = whole_text("versions_new.txt")
TODAY = date(2026, 1, 1)


def view(*documents: tuple[str, str, dict[str, Any]], access: Filters = ANYBODY) -> View:
    made = [
        Document(name, more.get("title", "Boats Act"), text,
                 Metadata(**{key: value for key, value in more.items() if key != "title"}))
        for name, text, more in documents
    ]  # fmt: skip
    return build_collection(made, letter_tools()).seen_by(access)


@pytest.fixture
def boats() -> View:
    return view(
        ("2024.txt", NEW, {"in_force_from": date(2024, 1, 1), "supersedes": "2020.txt"}),
        ("2020.txt", OLD, {"in_force_from": date(2020, 1, 1), "supersedes": "old/2010.txt"}),
        ("old/2010.txt", OLD, {"title": "An Act on Boats"}),
        ("other.txt", OLD, {"title": "Rafts Act", "in_force_from": date(2021, 1, 1)}),
    )


def places(view: View, old: str, label: str, new: str) -> str | None:
    source, other = Source.of(view, old), Source.of(view, new)
    there = same_provision(source, source.places(label, "")[0], other)
    return None if there is None else other.tree.units[there].label


def test_versions_are_in_order_and_the_one_of_a_day_answers(boats: View) -> None:
    chain = ["old/2010.txt", "2020.txt", "2024.txt"]
    assert [versions_of(boats, name) for name in chain] == [chain] * 3
    assert versions_of(boats, "other.txt") == ["other.txt"]

    def answering(day: date) -> list[str]:
        records = [version_record(boats, Source.of(boats, name), None, day) for name in chain]
        return [one["document"] for one in records if one["answers"]]

    assert answering(date(2019, 12, 31)) == ["old/2010.txt"]
    assert answering(date(2020, 1, 1)) == answering(date(2023, 12, 31)) == ["2020.txt"]
    assert answering(date(2024, 1, 1)) == ["2024.txt"]


def test_versions_that_say_nothing_of_each_other_have_title_and_days_apart() -> None:
    first = {"in_force_to": date(2019, 12, 31), "jurisdiction": "Port"}
    second = {"in_force_from": date(2020, 1, 1), "jurisdiction": "Port"}
    elsewhere = {**second, "jurisdiction": "Town"}
    seen = view(("b.txt", NEW, second), ("a.txt", OLD, first), ("c.txt", NEW, elsewhere))
    assert versions_of(seen, "a.txt") == versions_of(seen, "b.txt") == ["a.txt", "b.txt"]
    overlapping = {**second, "in_force_from": date(2019, 6, 1)}
    seen = view(("a.txt", OLD, first), ("d.txt", NEW, overlapping))
    assert versions_of(seen, "a.txt") == ["a.txt"]
    circle = (("a.txt", OLD, {"supersedes": "b.txt"}), ("b.txt", NEW, {"supersedes": "a.txt"}))
    assert sorted(versions_of(view(*circle), "a.txt")) == ["a.txt", "b.txt"]


def test_a_version_that_somebody_may_not_see_is_no_version_for_them() -> None:
    new = {"in_force_from": date(2024, 1, 1), "supersedes": "2020.txt", "tags": ("red",)}
    both = (("2020.txt", OLD, {"in_force_from": date(2020, 1, 1)}), ("2024.txt", NEW, new))
    assert versions_of(view(*both), "2020.txt") == ["2020.txt"]
    red = Filters(allowed_tags=frozenset({"red"}))
    assert versions_of(view(*both, access=red), "2020.txt") == ["2020.txt", "2024.txt"]


def test_a_provision_is_found_in_another_version_or_gone(boats: View) -> None:
    # its number moved and its heading stayed; no heading of the new version is "Notice"
    for label, there in (("Article 2(1)(a)", "Article 3(1)(a)"), ("Article 3", "Article 3")):
        assert places(boats, "2020.txt", label, "2024.txt") == there
    seen = view(("a.txt", OLD, {}), ("b.txt", "Article 1 Scope\nThis Act holds.\n", {}))
    assert places(seen, "a.txt", "Article 3", "b.txt") is None
    found = compared(seen, Source.of(seen, "a.txt"), Source.of(seen, "b.txt"), "Article 3", TODAY)
    assert (found["b"]["label"], found["b"]["text"]) == (None, None)
    assert [part["op"] for part in found["parts"]] == ["removed"]
    with pytest.raises(NotFoundError):
        compared(seen, Source.of(seen, "a.txt"), Source.of(seen, "b.txt"), "Article 9", TODAY)
    long = view(("a.txt", "x" * 300_000, {}), ("b.txt", "y" * 300_000, {}))
    with pytest.raises(InputError, match="too long to compare"):
        compared(long, Source.of(long, "a.txt"), Source.of(long, "b.txt"), "", TODAY)


def test_two_versions_of_a_provision_side_by_side(boats: View) -> None:
    first, second = Source.of(boats, "2020.txt"), Source.of(boats, "2024.txt")
    found = compared(boats, first, second, "Article 2(1)(a)", TODAY)
    assert found["a"]["text"] == "(a) for each boat;"
    assert found["b"]["label"] == "Article 3(1)(a)"
    assert found["b"]["version"] == "in force from 2024-01-01"
    assert found["parts"] == [
        {"op": "same", "text": "(a) for each boat"},
        {"op": "added", "text": " and each raft"},
        {"op": "same", "text": ";"},
    ]


texts = st.text("ab .,\n\u00e9", max_size=60)


@given(texts, texts)
@example("a b", "a\nb")
def test_what_is_not_removed_is_the_new_text(a: str, b: str) -> None:
    found = differences(a, b)
    assert "".join(part["text"] for part in found if part["op"] != "removed") == b
    before = "".join(part["text"] for part in found if part["op"] != "added")
    assert "".join(before.split()) == "".join(a.split())
    assert all(x["op"] != y["op"] for x, y in pairwise(found))
