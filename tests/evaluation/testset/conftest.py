"""The corpora that test sets are made of, opened once."""

from pathlib import Path

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import open_corpus, tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def sample() -> View:
    """The bundled digest of a statute and its rule."""
    collection, _ = open_corpus("sample", tools_for(Settings(), load_minilm()))
    return collection.seen_by(Filters())


@pytest.fixture(scope="session")
def contract() -> View:
    """A contract with numbered clauses."""
    return _view(HERE / "contract")


@pytest.fixture(scope="session")
def laws() -> View:
    """An act, an agreement and a policy."""
    return _view(HERE.parents[1] / "data" / "asked_laws")


def _view(folder: Path) -> View:
    documents, _ = load_documents(folder)
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    return collection.seen_by(Filters())
