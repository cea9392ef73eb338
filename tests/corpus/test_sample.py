from pathlib import Path

import pytest

from lexloop.corpus.index.store import is_index, read_index
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import RULES, build_collection, open_corpus, sample_folder
from lexloop.corpus.sample import sample_index
from lexloop.corpus.triplets.rules import extract_document
from lexloop.models.minilm import load_minilm


def test_the_shipped_index_is_that_of_todays_sample_and_code() -> None:
    assert is_index(sample_index()), "run `python -m lexloop.corpus.sample` and commit data/index"


def test_the_shipped_index_holds_what_a_fresh_one_does() -> None:
    documents, _ = load_documents(sample_folder())
    shipped = read_index(sample_index(), load_minilm())
    assert {d.name: d.text for d in documents} == {
        name: document.text for name, document in shipped.documents.items()
    }
    few = [min(documents, key=lambda document: len(document.text))]
    fresh = build_collection(few, load_minilm(), extract_document)
    names = {document.name for document in few}
    assert fresh.chunks == [c for c in shipped.chunks if c["document"] in names]
    assert fresh.triplets == [t for t in shipped.triplets if t["document"] in names]


def test_the_sample_opens_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))
    collection, degraded = open_corpus("sample", load_minilm(), extract_document, RULES)
    assert collection.chunks
    assert degraded == []
    assert not (tmp_path / "cache").exists()
