"""Whatever documents of another party lie beside one's own, one is told the same to the last digit.

What a server gives is asked of it in ``packages/server/tests/test_tenants.py``.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from tenants import OTHERS, OWN, OWN_TAG, QUESTIONS, lasting

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document, SkippedSource
from lexloop.graph.build import build_graph
from lexloop.graph.resources import build_context
from lexloop.models.minilm import load_shipped
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

CHOSEN = Settings().changed(**{"access.tags": [OWN_TAG]})


def collected(others: Sequence[Document], **changes: Any) -> Collection:
    documents = sorted([*OWN, *others], key=lambda one: one.name)
    tools = tools_for(Settings().changed(**changes), load_shipped())
    return build_collection(documents, tools)


def answers(collection: Collection, questions: Sequence[str], **changes: Any) -> list[str]:
    """All that the graph wrote in answer to each question, as JSON."""
    parts = build_context(CHOSEN.changed(**changes), collection)
    graph = build_graph(lambda *_: parts)
    found = []
    for question in questions:
        state: dict[str, Any] = {}
        for step in graph.stream({"question": question}, stream_mode="updates"):
            for update in step.values():
                state |= update or {}
        found.append(json.dumps(lasting(state), sort_keys=True))
    return found


@cache
def alone() -> list[str]:
    return answers(collected([]), QUESTIONS)


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.sampled_from(OTHERS), unique_by=lambda one: one.name, min_size=1))
def test_an_answer_is_the_same_whatever_lies_beside(others: list[Document]) -> None:
    assert answers(collected(others), QUESTIONS) == alone()


def test_so_it_is_by_every_other_way_to_search() -> None:
    for changes in (
        {"fusion": "rrf"},
        {"fusion": "linear", "fusion.normalisation": "none"},
        {"retrieval.lexical": "okapi"},
        {"retrieval.walk": "pagerank"},
        {"index.dense": "hnsw"},
        {"index.windows": "whole", "index.token_vectors": False},
    ):
        of_index = {name: value for name, value in changes.items() if name.startswith("index")}
        own, beside = collected([], **of_index), collected(OTHERS, **of_index)
        assert answers(beside, QUESTIONS[:6], **changes) == answers(own, QUESTIONS[:6], **changes)


def test_a_view_reads_and_searches_as_its_documents_alone() -> None:
    access = Filters(allowed_tags=frozenset({OWN_TAG}))
    own, beside = collected([]).seen_by(access), collected(OTHERS).seen_by(access)
    asked = [*QUESTIONS, "captain", "dog", "clause"]
    assert own.search(asked, 50) == beside.search(asked, 50)
    assert own.within(["act.txt"]).search(asked, 3) == beside.within(["act.txt"]).search(asked, 3)
    assert [own.language.read(one) for one in asked] == [beside.language.read(one) for one in asked]
    assert (own.language.names, own.titles) == (beside.language.names, beside.titles)
    for chunk in own.every_chunk():
        said, vectors = own.statements(chunk["id"])
        theirs, other_vectors = beside.statements(chunk["id"])
        assert said == theirs
        assert np.array_equal(vectors, other_vectors)


def test_what_another_asks_changes_nothing() -> None:
    collection = collected(OTHERS)
    parts = build_context(Settings().changed(**{"access.tags": ["red"]}), collection)
    for question in QUESTIONS[:3]:
        build_graph(lambda *_: parts).invoke({"question": question})
    assert answers(collection, QUESTIONS) == alone()


def test_files_of_another_that_cannot_be_read_are_told_to_nobody() -> None:
    unread = [SkippedSource("secret.pdf", "It is encrypted.")]
    beside = Collection(collected(OTHERS)._store, unread)
    assert answers(beside, QUESTIONS[:1]) == alone()[:1]
    assert beside.seen_by(Filters()).access.skipped(stored=True) == []
