"""What one asker is told of an index is what an index without the others' documents would tell."""

import inspect
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, everything_in, letter_tools
from laws import examples
from library import pointed_in
from told import ACCESS, KNOWN, NAMES, QUESTIONS, TAGS, document, told, words_hidden

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document, SkippedSource
from lexloop.graph.resources import build_context
from lexloop.store.opening import left_out
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_collection, without


@settings(max_examples=examples(40))
@given(st.lists(KNOWN, min_size=1, max_size=4), ACCESS)
def test_what_is_hidden_is_as_if_it_were_not_there(known: list[Metadata], access: Filters) -> None:
    documents = [document(number, metadata) for number, metadata in enumerate(known)]
    whole = build_collection(documents, letter_tools())
    everybody = whole.seen_by(Filters(allowed_tags=frozenset(TAGS)))
    every = [chunk["id"] for chunk in everybody.every_chunk()]
    granted = [one for one in documents if access.grants(one.metadata)]
    alone = build_collection(granted, letter_tools()).seen_by(access)
    view = whole.seen_by(access)
    assert told(view, [*every, "none#0"]) == told(alone, [*every, "none#0"])
    np.testing.assert_allclose(view.centroid(), alone.centroid(), atol=1e-3)
    for ours, theirs in zip(
        view.search_vector(QUESTIONS, 9), alone.search_vector(QUESTIONS, 9), strict=True
    ):
        assert {hit.chunk_id: hit.score for hit in ours} == pytest.approx(
            {hit.chunk_id: hit.score for hit in theirs}
        )
    for hits in view.search_lexical(QUESTIONS, 9):
        assert {hit.document for hit in hits} <= set(alone.documents)
    left = without(view, every[:1]).seen_by(access)
    assert list(left.every_chunk()) == [c for c in alone.every_chunk() if c["id"] != every[0]]
    said = repr(told(view, []))
    assert not any(word in said for word in words_hidden(view))


def test_what_is_pointed_to_is_cited_with_its_page_and_version() -> None:
    text = "Article 1\nScope\nAll boats.\nArticle 2\nFees\n1. Owners pay.\n2. Guests do not.\n"
    known = Metadata(in_force_from=date(2020, 1, 1))
    pages = (0, text.index("2. Guests"))
    boats = Document("boats.txt", "Boats", text, known, pages)
    view = build_collection([boats], letter_tools()).seen_by(ANYBODY)
    found = pointed_in("What does Article 2(2) say?", view)
    (unit,) = found["units"]
    assert (unit["label"], text[unit["start"] : unit["end"]]) == (
        "Article 2(2)",
        "2. Guests do not.",
    )
    (chunk,) = view.chunks(found["chunks"])
    assert "2. Guests do not." in chunk["text"]
    cited = view.cited("boats.txt", unit["start"], unit["end"], unit["label"])
    assert (cited["page"], cited["quote"]) == (2, "2. Guests do not.")
    assert "2020" in cited["version"]
    with pytest.raises(KeyError):
        view.cited("cars.txt", 0, 1, "")


def test_an_answer_is_about_the_provision_that_it_quotes() -> None:
    tags = [(), ("red",), (), ()]
    documents = [document(number, Metadata(tags=of)) for number, of in enumerate(tags)]
    view = build_collection(documents, letter_tools()).seen_by(ANYBODY)
    assert view.place_of("The falcon permit is void.")[0] == "Fines"
    assert view.place_of("within 1 days")[0] == "Duties"
    assert view.place_of("200 osprey") == ("", "")
    assert view.place_of("x" * 100_000) == view.place_of("") == ("", "")


def test_a_collection_gives_nothing_to_read_but_through_a_view() -> None:
    collection = build_collection([document(0, Metadata())], letter_tools())
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


def test_a_view_is_made_once_for_an_access() -> None:
    collection = build_collection([document(0, Metadata())], letter_tools())
    assert collection.seen_by(Filters()) is collection.seen_by(Filters())
    red = Filters(allowed_tags=frozenset({"red"}))
    assert collection.seen_by(red) is not collection.seen_by(ANYBODY)
    # who sees the same documents shares the graph of them
    assert collection.seen_by(red).graph() is collection.seen_by(ANYBODY).graph()
    for number in range(100):
        collection.seen_by(Filters(allowed_tags=frozenset({str(number)})))
    assert collection.seen_by(red) is collection.seen_by(red)


@pytest.mark.parametrize(("tags", "named"), [((), True), (("red",), False)])
def test_who_may_see_what_could_not_be_read_is_unknown(tags: tuple[str, ...], named: bool) -> None:
    made = build_collection([document(0, Metadata(tags=tags))], letter_tools())
    unread = [
        SkippedSource("b/falcon.pdf", "It is encrypted."),
        SkippedSource("c.txt", "It is empty."),
    ]
    collection = Collection(everything_in(made), unread)
    for access in (ANYBODY, Filters(allowed_tags=frozenset({"red"}))):
        found = left_out(collection.seen_by(access))
        if named:
            assert [item["wanted"] for item in found] == ["b/falcon.pdf", "c.txt"]
        else:
            assert [item["wanted"] for item in found] == ["2 of the sources"]
            assert "falcon" not in repr(found)


def test_a_version_that_an_asker_may_not_see_ends_none_of_theirs() -> None:
    old = Metadata(in_force_from=date(2020, 1, 1))
    new = Metadata(tags=("red",), in_force_from=date(2024, 1, 1), supersedes=NAMES[0])
    collection = build_collection([document(0, old), document(1, new)], letter_tools())
    day = date(2025, 1, 1)
    assert collection.seen_by(Filters(as_of=day)).metadata(NAMES[:1]) == {NAMES[0]: old}
    red = collection.seen_by(Filters(allowed_tags=frozenset({"red"}), as_of=day))
    assert list(red.documents) == [NAMES[1]]


def test_components_read_what_their_settings_admit() -> None:
    documents = [document(0, Metadata()), document(1, Metadata(tags=("red",)))]
    collection = build_collection(documents, letter_tools())
    for tags, seen in (((), NAMES[:1]), (("red",), NAMES[:2])):
        parts = build_context(Settings(**{"access.tags": tags}), collection, None)
        assert parts.backend is not None
        assert parts.backend is parts.graph_source
        assert parts.text_of is not None
        assert [name for name in NAMES if parts.text_of(name) is not None] == seen
        hits = parts.backend.search_vector(QUESTIONS, 50)
        assert {hit.document for found in hits for hit in found} == set(seen)
