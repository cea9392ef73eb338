"""The corpus that test sets are made of, opened once."""

from pathlib import Path

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection


@pytest.fixture(scope="session")
def contract() -> View:
    """A contract with numbered clauses."""
    documents, _ = load_documents(Path(__file__).parent / "contract")
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    return collection.seen_by(Filters())
