"""Globs and stores: listed alike, and read by whoever can."""

from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest
from indexes import content, letter_tools

from lexloop.core.errors import CorpusError
from lexloop.store.manifest import IndexSource
from lexloop.store.writer import write_index
from lexloop_engines.cluster.ingesting import ClusterPreparer
from lexloop_engines.cluster.sources import StoredFile, fetched, listed

Prepare = Callable[..., ClusterPreparer]


@pytest.fixture
def store(laws: Path) -> Iterator[str]:
    """The laws in a store in memory."""
    memory = fsspec.filesystem("memory")
    memory.put(str(laws), "/bucket/laws", recursive=True)
    yield "memory://bucket/laws"
    memory.rm("/bucket", recursive=True)


def names(address: str) -> list[str]:
    part, _ = listed(IndexSource(address))
    return [file.name for file in part.files]


def test_a_store_gives_the_index_of_the_folder(
    preparer: Prepare, laws: Path, store: str, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write_index(here, [IndexSource(str(laws))], letter_tools())
    made = write_index(there, [IndexSource(store)], letter_tools(), cluster=preparer())
    one, other = content(here), content(there)
    assert other.pop("files").keys() == one.pop("files").keys()  # a store has marks of its own
    assert other == one
    assert other["metadata"]["town/act-00.txt"]["tags"] == ["council"]
    again = write_index(there, [IndexSource(store)], letter_tools(), cluster=preparer())
    assert (made.difference.nothing, again.difference.nothing) == (False, True)


def test_globs_name_files_from_their_folder_on(laws: Path, store: str) -> None:
    for root in (str(laws), store):
        assert names(f"{root}/**/act-0[36].txt") == ["town/act-03.txt", "town/act-06.txt"]
        assert names(f"{root}/*.jsonl") == ["notices.jsonl"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory://bucket/none", "names no file that can be read"),
        ("nowhere://bucket/laws", "Protocol not known: nowhere"),
        # gcsfs is none of the extras
        ("gs://bucket/laws", "install gcsfs to access Google Storage"),
    ],
)
def test_what_cannot_be_listed_is_said(store: str, address: str, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        listed(IndexSource(address))


def test_an_object_that_is_gone_is_skipped(preparer: Prepare, store: str, tmp_path: Path) -> None:
    cluster = preparer()
    now = cluster.scan([IndexSource(store)], ())
    assert all(isinstance(file, StoredFile) for file in now.sources[0].files)
    fsspec.filesystem("memory").rm("/bucket/laws/act-02.txt")
    made = {one.name: one for one in cluster.prepare(now, now.fingerprints, lambda *_: None)}
    assert [item.reason for item in made["act-02.txt"].skipped] == [
        "memory:///bucket/laws/act-02.txt cannot be read: /bucket/laws/act-02.txt."
    ]
    assert made["act-01.txt"].documents
    with pytest.raises(CorpusError):
        fetched("memory://bucket/laws/act-02.txt")
