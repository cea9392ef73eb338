"""A small law as an index, for what is trained on provisions."""

from pathlib import Path

import pytest
from statute import LAW, RULE

from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection

GUIDE = """\
# Boats in winter

## Who may leave a boat in the water?

An owner who holds a winter permit may leave a boat in the water.

## What does a winter permit cost?

A winter permit costs $80. It is sold by the harbour master.
"""


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a law, its rule and a guide whose headings are questions."""
    folder = tmp_path_factory.mktemp("harbour")
    for name, text in (("law.txt", LAW), ("rule.txt", RULE), ("guide.md", GUIDE)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def index(harbour: Path) -> Collection:
    """The folder, indexed in memory."""
    documents, _ = load_documents(harbour)
    return build_collection(documents, tools_for(Settings(), load_minilm()))
