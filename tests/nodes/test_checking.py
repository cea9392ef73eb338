"""A text beside documents: quotes, provisions, figures; what nobody can know is left open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sets import rows

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.graph.resources import Resources
from lexloop.nodes.checking import Checked, check_text

LAW = """Harbour Act

§ 1 Fees.
The owner of a boat must pay a mooring fee of $50 within ten days of arrival.

§ 2 Lights.
A boat must show a white light at night, unless it is moored at the east quay.

§ 3 Log.
The master must enter every arrival in the log before 1 March 2024.
"""


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Checked]:
    folder = tmp_path_factory.mktemp("law")
    (folder / "harbour.txt").write_text(LAW, "utf-8")
    settings = Settings(corpus=str(folder))
    view = Resources().collection(settings)[0].seen_by(Filters.of(settings))
    return lambda text: check_text(text, view)


def told(checked: Checked) -> list[tuple[str, str]]:
    return [(p["kind"], p["status"]) for s in checked["sentences"] for p in s["points"]]


@pytest.mark.parametrize(("text", "points"), rows("checked_points"))
def test_each_kind_of_point(
    check: Callable[[str], Checked], text: str, points: list[list[str]]
) -> None:
    checked = check(text)
    assert [[*point] for point in told(checked)] == points
    assert checked["wrong"] == sum(
        status in ("altered", "differs", "missing") for _, status in points
    )
    for sentence in checked["sentences"]:
        assert text[sentence["start"] : sentence["end"]] == sentence["text"]


def test_what_is_wrong_is_told_with_what_stands_there(check: Callable[[str], Checked]) -> None:
    (sentence,) = check("The Act says “must show a green light at night”.")["sentences"]
    (point,) = sentence["points"]
    assert point["why"] == "It is altered: “green” in place of “white”."
    source: Any = point["source"]
    assert (source["document"], source["section"]) == ("harbour.txt", "§ 2")
    assert LAW[source["start"] : source["end"]] == source["quote"]


@pytest.mark.parametrize("text", ["“" * 5000, '"a b c d ' * 500, "§ " * 3000, "1. " * 3000])
def test_hostile_texts_end(check: Callable[[str], Checked], text: str) -> None:
    assert check(text)["wrong"] >= 0


def test_nothing_is_wrong_beside_no_documents(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("Nothing.\n", "utf-8")
    settings = Settings(corpus=str(tmp_path))
    view = Resources().collection(settings)[0].seen_by(Filters.of(settings))
    assert told(check_text("The fee of a licence is sixty dollars a year.", view)) == [
        ("statement", "unknown")
    ]
