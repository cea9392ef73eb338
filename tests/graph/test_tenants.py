"""Whatever documents of another party lie beside one's own, one is told the same to the last digit.

What a server gives is asked of it in ``packages/server/tests/test_tenants.py``.
"""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from tenants import OTHERS, OWN, OWN_TAG, QUESTIONS, lasting

from lexloop.core.settings import Settings
from lexloop.documents.document import Document
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
        {"fusion.documents": 3},
        {"retrieval.lexical": "okapi"},
        {"retrieval.walk": "pagerank"},
        {"index.dense": "hnsw"},
        {"index.windows": "whole", "index.token_vectors": False},
    ):
        of_index = {name: value for name, value in changes.items() if name.startswith("index")}
        own, beside = collected([], **of_index), collected(OTHERS, **of_index)
        assert answers(beside, QUESTIONS[:6], **changes) == answers(own, QUESTIONS[:6], **changes)


def test_what_another_asks_changes_nothing() -> None:
    collection = collected(OTHERS)
    parts = build_context(Settings().changed(**{"access.tags": ["red"]}), collection)
    for question in QUESTIONS[:3]:
        build_graph(lambda *_: parts).invoke({"question": question})
    assert answers(collection, QUESTIONS) == alone()
