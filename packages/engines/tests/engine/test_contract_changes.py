"""What is kept elsewhere follows its index: access, updates, removals."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from indexes import Letters, content, everything_in, letter_tools, read_here
from kept import index_documents, keep
from laws import examples
from told import ACCESS, KNOWN, NAMES, QUESTIONS, TAGS, alike, document, told, words_hidden

from lexloop.core.metadata import Filters, Metadata
from lexloop.documents.document import Document
from lexloop.store import scan
from lexloop.store.manifest import Manifest
from lexloop.store.opening import open_index, verify_index
from lexloop.store.view import Collection
from lexloop.store.writer import build_collection, remove_documents, without
from lexloop_engines.engine.moving import pull_index, push_index, verify_engine

EVERYBODY = Filters(allowed_tags=frozenset(TAGS))
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


@pytest.fixture(autouse=True, scope="module")
def _without_workers() -> Iterator[None]:
    """Files are parsed in this process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(scan, "read_files", read_here([]))
        yield


def documents_in(index: Path) -> list[Document]:
    """The documents as an index holds them."""
    with closing(open_index(index, Letters())) as opened:
        texts = everything_in(opened).texts
        return [texts.document(place) for place in range(len(texts.names()))]


def check_told(kept: Collection, documents: list[Document], access: Filters) -> None:
    """Who asks is told what an index of the documents that they may see would tell."""
    tagged = {one.name: set(one.metadata.tags) for one in documents}
    mine = {name for name, tags in tagged.items() if not tags or tags & access.allowed_tags}
    granted = [one for one in documents if one.name in mine]
    view = kept.seen_by(access)
    alone = build_collection(granted, letter_tools()).seen_by(access)
    every = [chunk["id"] for chunk in kept.seen_by(EVERYBODY).every_chunk()]
    ours, theirs = told(view, [*every, "none#0"]), told(alone, [*every, "none#0"])
    assert {n: (ours[n], theirs[n]) for n in theirs if not alike(ours[n], theirs[n], 1e-5)} == {}
    assert view.access.skipped(stored=True) == alone.access.skipped(stored=True)
    for found, wanted in zip(
        view.search_vector(QUESTIONS, 9), alone.search_vector(QUESTIONS, 9), strict=True
    ):
        assert {hit.chunk_id: hit.score for hit in found} == pytest.approx(
            {hit.chunk_id: hit.score for hit in wanted}, abs=1e-3
        )
    for hits in view.search_lexical(QUESTIONS, 9):
        assert {hit.document for hit in hits} <= set(alone.documents)
    left = without(view, every[:1]).seen_by(access)
    assert list(left.every_chunk()) == [c for c in alone.every_chunk() if c["id"] != every[0]]
    said = repr(ours)
    assert not any(word in said for word in words_hidden(view))


@settings(max_examples=examples(6), phases=NO_SHRINKING)
@given(
    st.lists(KNOWN, min_size=1, max_size=4), st.lists(ACCESS, min_size=6, max_size=6, unique=True)
)
def test_what_is_hidden_is_as_if_it_were_not_there(
    place: str, known: list[Metadata], asked: list[Filters]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = [document(number, metadata) for number, metadata in enumerate(known)]
        index = index_documents(Path(folder), written)
        documents = documents_in(index)
        with closing(keep(place, index, Letters())) as kept:
            for access in asked:
                check_told(kept, documents, access)


def test_an_index_that_changed_is_kept_as_it_is_now(place: str, tmp_path: Path) -> None:
    first = [document(number, Metadata()) for number in range(3)]
    index = index_documents(tmp_path, first)
    with closing(keep(place, index, Letters())) as before:
        seen = before.seen_by(EVERYBODY)
        told_before = told(seen, [])
        second = [first[0], document(1, Metadata(tags=("red",))), document(3, Metadata())]
        index_documents(tmp_path, second)
        with closing(keep(place, index, Letters())) as after:
            for access in (EVERYBODY, Filters()):
                check_told(after, documents_in(index), access)
            assert NAMES[2] not in after.seen_by(EVERYBODY).documents
        # who opened it before goes on with what was there
        assert told(seen, []) == told_before


def test_documents_that_were_removed_are_nowhere(place: str, tmp_path: Path) -> None:
    index = index_documents(tmp_path, [document(number, Metadata()) for number in range(3)])
    with closing(keep(place, index, Letters())):
        remove_documents(index, [NAMES[1]], letter_tools())
    with closing(keep(place, index, Letters())) as kept:
        check_told(kept, documents_in(index), EVERYBODY)
        assert list(kept.seen_by(EVERYBODY).documents) == [NAMES[0], NAMES[2]]
        assert kept.seen_by(EVERYBODY).text_of(NAMES[1]) is None


def test_what_is_pulled_out_of_an_engine_is_what_was_pushed(
    engine_address: str, tmp_path: Path
) -> None:
    known = (Metadata(tags=("red",)), Metadata(), Metadata(in_force_from=date(2020, 1, 1)))
    index = index_documents(tmp_path, [document(n, metadata) for n, metadata in enumerate(known)])
    remove_documents(index, [NAMES[1]], letter_tools())
    pushed = push_index(index, engine_address, Letters())
    verified = verify_engine(engine_address, index, Letters())
    assert {name: verified[name] for name in pushed} == pushed
    pulled = tmp_path / "pulled"
    assert pull_index(engine_address, pulled, Letters()) == pushed
    assert content(pulled) == content(index)
    assert verify_index(pulled, Letters()) == pushed
    old, new = Manifest.read(index), Manifest.read(pulled)
    assert (new.recipe, new.sources, new.excluded) == (old.recipe, old.sources, old.excluded)
    verify_engine(engine_address, pulled, Letters())
