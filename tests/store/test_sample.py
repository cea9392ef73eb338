import shutil
from pathlib import Path

from formats import SAMPLE_SOURCES, sample_index

from lexloop.core.files import is_index
from lexloop.core.settings import Settings
from lexloop.models.minilm import load_shipped
from lexloop.store.folder.generations import LOCK
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import sample_folder, shipped_indexes, tools_for, verify_index
from lexloop.store.writer import write_index


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
