"""What a model finds by looking further, within the asker's view and its bounds."""

from typing import Any

import pytest
from indexes import view_of

from lexloop.core.running import waited
from lexloop.core.settings_groups import Standardised
from lexloop.documents.document import Document
from lexloop.nodes.looking import Look, Looking
from lexloop.store.view import View

FERRY = """\
FERRY ACT

Section 1. Bells.
A ferry shall carry a bell.

Section 2. Crew.
A ferry shall have a master. The master shall hold a licence.

Section 3. Fees.
The harbour office charges 40 euros for a licence.
"""
DOCUMENT = Document("ferry.txt", "Ferry Act", FERRY)


@pytest.fixture(scope="module")
def ferry() -> View:
    return view_of(DOCUMENT, **{"chunking": "pattern", "chunking.pattern": "^Section"})


def looked(view: View, *looks: tuple[str, str]) -> Looking:
    looking = Looking(view, Standardised())
    waited(looking.look([Look.model_validate({"tool": t, "words": w}) for t, w in looks]))
    return looking


def texts(looking: Looking) -> list[str]:
    return [piece.text for piece in looking.shown]


@pytest.mark.parametrize(
    ("tool", "words", "found"),
    [
        ("search", "what does a licence cost", "40 euros"),
        ("find_words", "“shall hold a licence”", "The master shall hold"),
        ("find_words", "licence master", "The master shall hold"),  # apart, and in another order
        ("open", "section 2", "The master shall hold"),
        ("open", "Fees", "40 euros"),  # by its heading
        ("outline", "ferry.txt", "Section 3"),
    ],
)
def test_each_tool_finds(ferry: View, tool: str, words: str, found: str) -> None:
    looking = looked(ferry, (tool, words))
    assert found in "\n".join(texts(looking)[1:])
    (record,) = looking.looked
    assert (record["tool"], record["words"]) == (tool, words)
    assert record["found"]


@pytest.mark.parametrize(
    ("tool", "words"),
    [("find_words", "submarine"), ("open", "section 9"), ("open", ""), ("find_words", "")],
)
def test_what_is_not_there_is_told_and_opens_nothing(ferry: View, tool: str, words: str) -> None:
    looking = looked(ferry, (tool, words))
    assert texts(looking) == [f"{tool} {words!r}: nothing"]
    assert looking.chosen([1, 2]) == []


def test_passages_are_numbered_once_and_chosen_by_number_or_all_that_was_opened(
    ferry: View,
) -> None:
    looking = looked(ferry, ("open", "section 3"), ("search", "harbour office fees"))
    (opened,) = looking.opened
    numbers = [piece.n for piece in looking.shown if piece.kind == "passage"]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert [one["id"] for one in looking.chosen([])] == [opened]
    assert [one["id"] for one in looking.chosen([1, 1, 99])] == [opened]
    assert opened not in [one["id"] for one in looking.chosen([2])]


def test_looks_are_bounded_in_number_and_in_what_they_show() -> None:
    sections = "".join(
        f"Section {n}. Duty {n}.\n{'A pilot shall steer. ' * 60}\n" for n in range(40)
    )
    view = view_of(Document("long.txt", "Pilots", sections))
    looking = looked(view, *[("search", f"duty {n}") for n in range(20)])
    assert len(looking.looked) == 4
    assert sum(map(len, texts(looking))) <= 10_000


def test_only_what_the_asker_may_see_is_found(harbour: Any) -> None:
    from lexloop.core.metadata import Filters

    every, few = harbour.seen_by(Filters()), harbour.seen_by(Filters(kinds=frozenset({"case"})))
    for tool in ("search", "find_words", "open", "outline"):
        seen = looked(few, (tool, "section 5-200 penalty mooring"))
        names = {place["document"] for one in seen.looked for place in one["found"]}
        assert names <= {*few.documents}
    assert looked(every, ("search", "penalty for mooring")).looked[0]["found"]


def test_it_begins_with_what_was_read_and_with_the_headings(ferry: View) -> None:
    (chunk, *_) = ferry.every_chunk()
    looking = Looking(ferry, Standardised())
    ids = (chunk["id"], "quoted-beside.txt#0")
    waited(looking.begin([{"id": name, "n": 1, "score": 1.0, "signals": {}} for name in ids]))
    kinds = [piece.kind for piece in looking.shown]
    assert kinds == ["read", "outline"]
    assert "Section 2" in texts(looking)[1]
