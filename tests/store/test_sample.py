import shutil
from pathlib import Path

from formats import SAMPLE_SOURCES, sample_index
from indexes import everything_in

from lexloop.core.files import is_index
from lexloop.core.settings import Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.models.minilm import load_shipped
from lexloop.store.folder.generations import LOCK
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import (
    sample_folder,
    shipped_indexes,
    tools_for,
    verify_index,
)
from lexloop.store.writer import build_collection, write_index


def test_the_shipped_index_is_that_of_todays_sample_and_code() -> None:
    assert is_index(sample_index()), "run `python tests/support/formats.py` and commit data/index"
    assert [path.name for path in shipped_indexes().iterdir()] == [sample_index().name]


def test_the_shipped_index_is_sound_and_names_no_place_of_this_machine(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(sample_index(), copy)
    tools = tools_for(Settings(), load_shipped())
    write_index(copy, [IndexSource(str(sample_folder()))], tools)  # for the stemmer that is here
    verify_index(copy, load_shipped())
    assert Manifest.read(sample_index()).sources == tuple(SAMPLE_SOURCES)
    assert not (sample_index() / LOCK).exists()


def test_the_shipped_index_holds_what_a_fresh_one_does() -> None:
    documents, _ = load_documents(sample_folder())
    shipped = open_folder(sample_index(), load_shipped(), any_stemmer=True)
    assert {d.name: d.text for d in documents} == {
        name: shipped.texts.text_of(place) for place, name in enumerate(shipped.layout.names)
    }
    few = [min(documents, key=lambda document: len(document.text))]
    fresh = everything_in(build_collection(few, tools_for(Settings(), load_shipped())))
    name = few[0].name
    chunks = fresh.texts.chunks(range(len(fresh)))
    every = shipped.texts.chunks(range(len(shipped)))
    assert chunks == [chunk for chunk in every if chunk["document"] == name]
    triplets = [t for t in shipped.texts.fetch(range(len(shipped.texts))) if t["document"] == name]
    assert fresh.texts.fetch(range(len(fresh.texts))) == triplets
    shipped.close()
