"""No chunk and no triplet of a document that the filters leave out comes up anywhere."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import Letters, letter_tools
from laws import examples

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.nodes.context import Context
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

TAGS = ("board", "staff", "press")
TOPICS = ("mooring fee", "hull inspection", "berth notice", "night watch", "crane permit")
QUESTION = "When must the owner pay the mooring fee to the harbour master?"
QUERIES = [QUESTION, *TOPICS, "§ 1-1", "penalty", "vessel"]
EVERYONE = Filters(allowed_tags=frozenset(TAGS))
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


def surfaced(collection: Collection, filters: Filters) -> set[str]:
    """Every document that any signal brings up, asked in every way there is."""
    view = collection.seen_by(filters)
    found: set[str] = set()
    for search in (view.search_lexical, view.search_vector):
        for limit in (1, 50):
            for hits in search(QUERIES, limit):
                assert all(hit.chunk_id.startswith(f"{hit.document}#") for hit in hits)
                found |= {hit.document for hit in hits}
    graph, everyone = view.graph(), collection.seen_by(EVERYONE)
    every = [chunk["id"] for chunk in everyone.every_chunk()]
    seeds = dict.fromkeys([*graph.match([*TOPICS, "owner", "§ 1-1"], 50), *graph.entities], 1.0)
    for one in graph.look_up(every, seeds, 2, 500):
        found |= {triplet["document"] for triplet in (one.triplet, *one.stated)}
    for path in graph.walk(seeds, 3, limit=500):
        found |= {triplet["document"] for triplet in path.triplets}
    for entity in seeds:
        found |= {one.triplet["document"] for one in graph.neighbourhood(entity, 2, 50)}
    assert found == {chunk["document"] for chunk in view.every_chunk()} == set(view.documents)
    return found


TAG_SETS = st.sets(st.sampled_from(TAGS)).map(lambda tags: tuple(sorted(tags)))


@settings(max_examples=examples(15))
@given(st.lists(TAG_SETS, min_size=1, max_size=5), TAG_SETS)
def test_documents_of_other_tags_never_surface(
    tagged: list[tuple[str, ...]], allowed: tuple[str, ...]
) -> None:
    collection = collected(*(Metadata(tags=tags) for tags in tagged))
    filters = Filters(allowed_tags=frozenset(allowed))
    mine = {
        f"act-{number}.txt"
        for number, tags in enumerate(tagged)
        if not tags or set(tags) & set(allowed)
    }
    assert surfaced(collection, filters) == mine


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


@pytest.mark.parametrize("fusion", ["linear", "rrf"])
@pytest.mark.parametrize("level", [None, 3])
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
        ("2023-07-04", 0, "in force from 2020-01-01 to 2023-07-04"),
        ("2023-07-05", 1, "in force from 2023-07-05 to 2024-12-31"),
        ("2024-12-31", 1, "in force from 2023-07-05 to 2024-12-31"),
        ("2025-01-01", 2, "in force from 2025-01-01 to 2025-06-30"),
        ("2025-06-30", 2, "in force from 2025-01-01 to 2025-06-30"),
        ("2025-07-01", None, ""),
    ],
)
def test_the_version_in_force_on_the_day_answers(day: str, holds: int | None, version: str) -> None:
    collection = collected(OLD, NEW, NEXT)
    names = set() if holds is None else {f"act-{holds}.txt"}
    assert surfaced(collection, Filters(as_of=date.fromisoformat(day))) == names
    result = answered(collection, **{"access.as_of": day})
    assert documents_in(result["every_state"]) <= names
    if holds is not None:
        assert f"within {holds + 1} days" in result["answer"]
        assert {citation["version"] for citation in result["citations"]} == {version}
    assert surfaced(collection, Filters()) == {"act-0.txt", "act-1.txt", "act-2.txt"}


def test_a_version_whose_replacement_is_gone_holds_again() -> None:
    collection = collected(OLD)
    assert surfaced(collection, Filters(as_of=date(2030, 1, 1))) == {"act-0.txt"}


@pytest.mark.parametrize(
    ("chosen", "mine"),
    [
        ({"access.jurisdictions": ("NYC",)}, {0}),
        ({"access.jurisdictions": ("NYC", "EU")}, {0, 1}),
        ({"access.kinds": ("rule", "case")}, {1}),
        ({"access.hosts": ("law.example",)}, {0, 2}),
        ({"access.hosts": ("law.example",), "access.kinds": ("guidance",)}, {2}),
        ({"access.jurisdictions": ("Mars",)}, set()),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_jurisdictions_kinds_and_hosts(chosen: dict[str, Any], mine: set[int]) -> None:
    collection = collected(
        Metadata(jurisdiction="NYC", kind="statute", host="law.example"),
        Metadata(jurisdiction="EU", kind="rule", host="eu.example"),
        Metadata(kind="guidance", host="law.example"),
        Metadata(),
    )
    names = {f"act-{number}.txt" for number in mine}
    assert surfaced(collection, Filters.of(Settings(**chosen))) == names
    assert documents_in(answered(collection, **chosen)["every_state"]) <= names


def test_access_outlives_the_disk(tmp_path: Any) -> None:
    from indexes import sources

    from lexloop.store.opening import open_index
    from lexloop.store.writer import write_index

    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "open.txt").write_text(f"{SHARED} within 2 days.")
    (folder / "secret.txt").write_text(f"---\ntags: [board]\n---\n{SHARED} within 9 days.")
    write_index(tmp_path / "index", sources(folder), letter_tools())
    found = open_index(tmp_path / "index", Letters())
    assert surfaced(found, Filters()) == {"open.txt"}
    assert surfaced(found, Filters(allowed_tags=frozenset({"board"}))) == {
        "open.txt", "secret.txt"
    }  # fmt: skip
    found.close()
