"""Passages of the small statute."""

from collections.abc import Callable

import pytest

from lexloop.core.types import Passage
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]


@pytest.fixture
def passages(small: View) -> Passages:
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
