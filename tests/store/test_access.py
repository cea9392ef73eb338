"""No chunk and no triplet of a document that the filters leave out comes up anywhere."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from indexes import letter_tools

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.nodes.context import Context
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

TOPICS = ("mooring fee", "hull inspection", "berth notice", "night watch", "crane permit")
QUESTION = "When must the owner pay the mooring fee to the harbour master?"
QUERIES = [QUESTION, *TOPICS, "§ 1-1", "penalty", "vessel"]
SHARED = "The owner must pay the mooring fee to the harbour master"


def document(number: int, metadata: Metadata) -> Document:
    topic = TOPICS[number % len(TOPICS)]
    text = (
        f"§ {number}-1 Duties. {SHARED} within {number + 1} days. "
        f"“Vessel” means a boat with a {topic}. The owner must publish the {topic} under § 1-1.\n\n"
        f"§ {number}-2 Fines. Whoever breaks § {number}-1 is liable for a penalty of ${number}00."
    )
    return Document(f"act-{number}.txt", f"Act {number}", text, metadata)


def collected(*known: Metadata) -> Collection:
    documents = [document(number, metadata) for number, metadata in enumerate(known)]
    return build_collection(documents, letter_tools())


def seen(collection: Collection, filters: Filters) -> set[str]:
    """Documents whose chunks come up; ``engine/test_contract_changes.py`` asks in every way."""
    view = collection.seen_by(filters)
    found = {chunk["document"] for chunk in view.every_chunk()}
    for search in (view.search_lexical, view.search_vector):
        assert {hit.document for hits in search(QUERIES, 50) for hit in hits} == found
    return found


def components(collection: Collection, chosen: Settings) -> Context:
    return build_context(chosen, collection, None)


def answered(collection: Collection, **chosen: Any) -> dict[str, Any]:
    """A question through the whole graph."""
    parts = components(collection, Settings(**{"loop.max_retries": 1}, **chosen))
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


@pytest.mark.parametrize(("fusion", "level"), [("linear", None), ("rrf", 3)])
def test_no_state_of_a_question_holds_what_its_asker_may_not_see(
    fusion: str, level: int | None
) -> None:
    collection = collected(
        Metadata(tags=("board",)), Metadata(), Metadata(tags=("press", "staff")), Metadata()
    )
    for allowed, mine in (((), {1, 3}), (("staff",), {1, 2, 3}), (("board",), {0, 1, 3})):
        result = answered(
            collection,
            **{"access.tags": allowed, "fusion": fusion, "fusion.documents": level},
        )
        names = {f"act-{number}.txt" for number in mine}
        assert documents_in(result["every_state"]) <= names
        assert documents_in(result["passages"])
        assert result["triplets"]
        hidden = {f"within {n + 1} days" for n in range(4) if n not in mine}
        assert not any(words in result["answer"] for words in hidden)


OLD = Metadata(in_force_from=date(2020, 1, 1))
NEW = Metadata(in_force_from=date(2023, 7, 5), supersedes="act-0.txt")
NEXT = Metadata(
    in_force_from=date(2025, 1, 1), in_force_to=date(2025, 6, 30), supersedes="act-1.txt"
)


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
    names = set() if holds is None else {f"act-{holds}.txt"}
    assert seen(collection, Filters(as_of=date.fromisoformat(day))) == names
    result = answered(collection, **{"access.as_of": day})
    assert documents_in(result["every_state"]) <= names
    if holds is not None:
        assert f"within {holds + 1} days" in result["answer"]
        assert {citation["version"] for citation in result["citations"]} == {version}
    assert seen(collection, Filters()) == {"act-0.txt", "act-1.txt", "act-2.txt"}
