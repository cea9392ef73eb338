"""What one asker is told of an index is what an index without the others' documents would tell."""

import inspect
from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from indexes import ANYBODY, everything_in, letter_tools, view_of
from library import pointed_in
from told import NAMES, QUESTIONS, document

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document, SkippedSource
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.store.opening import left_out
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_collection


def collected(*known: Metadata) -> Collection:
    documents = [document(number, metadata) for number, metadata in enumerate(known)]
    return build_collection(documents, letter_tools())


def test_what_is_pointed_to_is_cited_with_its_page_version_and_identifier() -> None:
    text = "Article 1\nScope\nAll boats.\nArticle 2\nFees\n1. Owners pay.\n2. Guests do not.\n"
    known = Metadata(in_force_from=date(2020, 1, 1), identifier="32020R0007")
    pages = (0, text.index("2. Guests"))
    boats = Document("boats.txt", "Boats", text, known, pages)
    view = view_of(boats)
    found = pointed_in("What does Article 2(2) say?", view)
    (unit,) = found["units"]
    assert text[unit["start"] : unit["end"]] == "2. Guests do not."
    (chunk,) = view.chunks(found["chunks"])
    assert "2. Guests do not." in chunk["text"]
    cited = view.cited("boats.txt", unit["start"], unit["end"], unit["label"])
    assert (cited["page"], cited["quote"]) == (2, "2. Guests do not.")
    assert "2020" in cited["version"]
    assert (chunk["identifier"], cited["identifier"]) == ("32020R0007", "32020R0007")
    with pytest.raises(KeyError):
        view.cited("cars.txt", 0, 1, "")


def test_a_collection_gives_nothing_to_read_but_through_a_view() -> None:
    collection = collected(Metadata())
    public = {name for name in dir(collection) if not name.startswith("_")}
    assert public == {
        "close", "dense_kind", "embedded_by", "embedder", "forget", "recall", "seen_by"
    }  # fmt: skip
    reads = {name for name in dir(View) if not name.startswith("_")}
    assert len(reads) > 12
    assert not public & reads
    asked = inspect.signature(Collection.seen_by).parameters["access"]
    assert (asked.annotation, asked.default) == (Filters, inspect.Parameter.empty)


def test_nothing_that_reads_takes_filters_of_its_own() -> None:
    for name, method in inspect.getmembers(View, inspect.isfunction):
        if not name.startswith("_"):
            kinds = {
                parameter.annotation for parameter in inspect.signature(method).parameters.values()
            }
            assert Filters not in kinds, name


@pytest.mark.parametrize(("tags", "named"), [((), True), (("red",), False)])
def test_who_may_see_what_could_not_be_read_is_unknown(tags: tuple[str, ...], named: bool) -> None:
    unread = [
        SkippedSource("b/falcon.pdf", "It is encrypted."),
        SkippedSource("c.txt", "It is empty."),
    ]
    collection = Collection(everything_in(collected(Metadata(tags=tags))), unread)
    for access in (ANYBODY, Filters(allowed_tags=frozenset({"red"}))):
        assert collection.seen_by(access).access.skipped_count == 2
        found = left_out(collection.seen_by(access))
        if named:
            assert [item["wanted"] for item in found] == ["b/falcon.pdf", "c.txt"]
        else:
            assert found == []


QUESTION = QUESTIONS[0]


def seen(collection: Collection, filters: Filters) -> set[str]:
    """Documents whose chunks come up; ``engine/test_contract_changes.py`` asks in every way."""
    view = collection.seen_by(filters)
    found = {chunk["document"] for chunk in view.every_chunk()}
    by_words, by_vectors = view.search(QUESTIONS, 50)
    assert {hit.document for hits in by_vectors for hit in hits} == found
    # a word that every chunk has weighs nothing
    assert {hit.document for hits in by_words for hit in hits} <= found
    return found


def answered(collection: Collection, **chosen: Any) -> dict[str, Any]:
    """A question through the whole graph."""
    parts = build_context(Settings(**{"loop.max_retries": 1}, **chosen), collection)
    graph = build_graph(lambda _context, _snapshot: parts)
    states = list(graph.stream({"question": QUESTION}, stream_mode="values"))
    return {**states[-1], "every_state": states}


def documents_in(value: object) -> set[str]:
    """Every document named anywhere in a state."""
    found: set[str] = set()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            named = key == "document" and isinstance(inner, str)
            found |= {str(inner)} if named else documents_in(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            found |= documents_in(inner)
    return found


OLD = Metadata(in_force_from=date(2020, 1, 1))
NEW = Metadata(in_force_from=date(2023, 7, 5), supersedes=NAMES[0])
NEXT = Metadata(in_force_from=date(2025, 1, 1), in_force_to=date(2025, 6, 30), supersedes=NAMES[1])


@pytest.mark.parametrize(
    ("day", "holds", "version"),
    [
        ("2019-12-31", None, ""),
        ("2020-01-01", 0, "in force from 2020-01-01 to 2023-07-04"),
        ("2023-07-05", 1, "in force from 2023-07-05 to 2024-12-31"),
        ("2025-01-01", 2, "in force from 2025-01-01 to 2025-06-30"),
        ("2025-07-01", None, ""),
    ],
)
def test_the_version_in_force_on_the_day_answers(day: str, holds: int | None, version: str) -> None:
    collection = collected(OLD, NEW, NEXT)
    names = set() if holds is None else {NAMES[holds]}
    assert seen(collection, Filters(as_of=date.fromisoformat(day))) == names
    result = answered(collection, **{"access.as_of": day})
    assert documents_in(result["every_state"]) <= names
    if holds is not None:
        assert f"within {holds + 1} days" in result["answer"]
        assert {citation["version"] for citation in result["citations"]} == {version}
    assert seen(collection, Filters()) == {*NAMES[:3]}
