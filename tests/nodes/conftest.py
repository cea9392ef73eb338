"""What the tests of the nodes share: a small statute, and passages of it."""

from collections.abc import Callable

import pytest
from statute import LAW, RULE

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Passage
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection, View
from lexloop.store.writer import build_collection


@pytest.fixture(scope="session")
def harbour() -> Collection:
    """A real collection over two short documents, with the real MiniLM."""
    documents = [
        Document("law.txt", "Harbour Act", LAW),
        Document("rule.txt", "Harbour Rules", RULE),
    ]
    return build_collection(documents, tools_for(Settings(), load_minilm()))


@pytest.fixture(scope="session")
def small(harbour: Collection) -> View:
    """What anybody sees of it, which is all."""
    return harbour.seen_by(Filters())


@pytest.fixture
def passages(small: View) -> Callable[..., list[Passage]]:
    """The chunks of these sections as passages, numbered in this order; all without a section."""

    def chosen(*sections: str) -> list[Passage]:
        found = [
            chunk
            for section in sections or sorted({chunk["section"] for chunk in small.every_chunk()})
            for chunk in small.every_chunk()
            if chunk["section"] == section
        ]
        return [{**chunk, "score": 1.0, "signals": {}, "n": n} for n, chunk in enumerate(found, 1)]

    return chosen
