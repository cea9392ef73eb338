"""The corpora that test sets are made of, opened once."""

from pathlib import Path

import pytest

from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.corpus.index.builder import build_collection
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import open_corpus, tools_for
from lexloop.evaluation.testset.material import Material
from lexloop.models.minilm import load_minilm

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def sample() -> Material:
    """The bundled digest of a statute and its rule."""
    collection, _ = open_corpus("sample", tools_for(Settings(), load_minilm()))
    return Material(collection.seen_by(Filters()))


@pytest.fixture(scope="session")
def contract() -> Material:
    """A contract with numbered clauses."""
    return _material("contract")


@pytest.fixture(scope="session")
def policy() -> Material:
    """A privacy policy that speaks of "we" and "you"."""
    return _material("policy")


def _material(name: str) -> Material:
    documents, _ = load_documents(HERE / name)
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    return Material(collection.seen_by(Filters()))
