"""Tasks write into an engine themselves; what is there then is what a push would have written."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from engines import indexes
from indexes import Letters, letter_tools, sources
from on_workers import DEADLY, FAILING, ONCE, LetterTools, related

from lexloop.core.errors import CorpusError, ModelError
from lexloop.store.cluster.ingesting import ClusterPreparer, Destination, ingest
from lexloop.store.engine.address import Storage, VectorKind
from lexloop.store.engine.moving import verify_engine
from lexloop.store.engine.store import manifest_of, open_engine
from lexloop.store.manifest import IndexSource
from lexloop.store.writer import write_index

Prepare = Callable[..., ClusterPreparer]


@pytest.fixture
def to(engine_address: str, tmp_path: Path) -> Destination:
    """An address in each engine under which nothing is stored."""
    return Destination(engine_address, tmp_path / "kept")


def same_as_here(to: Destination, laws: Path, held: list[IndexSource] | None = None) -> None:
    """Check what the engine has, every document by its hash, beside an index made without it."""
    here = laws.parent / "here"
    one = write_index(here, held or sources(laws), letter_tools(), fresh=True)
    found = verify_engine(to.address, here, Letters())
    assert found.pop("overlap") > 0.95  # shards are filled in another order, which equal hits show
    assert found == one.counts


def test_the_index_is_the_one_made_without(to: Destination, preparer: Prepare, laws: Path) -> None:
    told = set[tuple[str, bool]]()
    outcome = ingest(
        to,
        sources(laws),
        letter_tools(),
        preparer(),
        progress=lambda stage, done, total: told.add((stage, done == total)),
    )
    same_as_here(to, laws)
    assert manifest_of(to.address).counts == outcome.counts
    assert [item.name for item in outcome.skipped] == ["broken.pdf", "metadata.csv"]
    assert ("preparing", True) in told
    assert not to.staging.exists()
    contents = open_engine(to.address, Letters())
    try:
        assert len(contents.relations(None)) > 0
        assert [one.name for one in contents.catalogue.skipped] == ["broken.pdf", "metadata.csv"]
    finally:
        contents.close()


def test_what_did_not_change_is_copied(
    to: Destination, preparer: Prepare, laws: Path, diary: Path
) -> None:
    held = [IndexSource(str(laws), "town/")]
    tools, make = letter_tools(), LetterTools(str(diary))
    ingest(to, held, tools, preparer(make))
    same_as_here(to, laws, held)
    before = related(diary)
    (laws / "act-01.txt").write_text("The owner must pay twice.", encoding="utf-8")
    (laws / "act-02.txt").unlink()
    (laws / "zebra.txt").write_text("The clerk must be kind.", encoding="utf-8")
    outcome = ingest(to, held, tools, preparer(make))
    same_as_here(to, laws, held)
    now = related(diary)
    again = {name for name, times in now.items() if times != before.get(name)}
    assert again == {"town_act-01.txt", "town_zebra.txt"}
    difference = outcome.difference
    assert (difference.added, difference.changed) == (["town/zebra.txt"], ["town/act-01.txt"])
    assert difference.removed == ["town/act-02.txt"]
    generation = manifest_of(to.address).generation
    assert ingest(to, held, tools, preparer(make)).difference.nothing
    assert manifest_of(to.address).generation == generation


def test_other_vectors_are_chosen_without_reading_again(
    to: Destination, preparer: Prepare, laws: Path, diary: Path
) -> None:
    tools, make = letter_tools(), LetterTools(str(diary))
    ingest(to, sources(laws), tools, preparer(make))
    before = related(diary)
    coarse = to._replace(storage=Storage(VectorKind("int8")))
    assert ingest(coarse, sources(laws), tools, preparer(make)).difference.nothing
    same_as_here(coarse, laws)
    assert related(diary) == before
    with closing(open_engine(to.address, Letters())) as contents:
        assert contents.dense_kind == "int8_hnsw"


def test_killed_workers_cost_their_own_tasks_only(
    to: Destination, preparer: Prepare, laws: Path, diary: Path
) -> None:
    (laws / "deadly.txt").write_text(f"The clerk {DEADLY}.", encoding="utf-8")
    (laws / "once.txt").write_text(f"A clerk who {ONCE} must pay a fee.", encoding="utf-8")
    outcome = ingest(to, sources(laws), letter_tools(), preparer(LetterTools(str(diary))))
    reasons = {item.name: item.reason for item in outcome.skipped}
    assert reasons["deadly.txt"].startswith("It lost its worker 4 times")
    counts = related(diary)
    assert (counts.pop("deadly.txt"), counts.pop("once.txt"), *set(counts.values())) == (4, 2, 1)
    (laws / "deadly.txt").unlink()
    same_as_here(to, laws)


def test_a_run_that_failed_goes_on(
    to: Destination, preparer: Prepare, laws: Path, diary: Path
) -> None:
    bad, make = laws / "zzz.txt", LetterTools(str(diary))
    bad.write_text(f"It {FAILING}.", encoding="utf-8")
    with pytest.raises(ModelError, match=r"^The model is gone\."):
        ingest(to, sources(laws), letter_tools(), preparer(make))
    first = related(diary)
    with pytest.raises(CorpusError, match="There is no index"):
        manifest_of(to.address)  # nobody sees half
    with pytest.raises(ModelError):
        ingest(to, sources(laws), letter_tools(), preparer(make))
    counts = related(diary)
    again = [name for name, times in counts.items() if times != first.get(name, 0)]
    assert "zzz.txt" in again
    assert len(again) <= 4  # what was under way
    assert max(counts.values()) == 2
    # of other files another generation is begun, and nothing of the first is left in it
    bad.write_text("The clerk must be kind.", encoding="utf-8")
    ingest(to, sources(laws), letter_tools(), preparer(make))
    same_as_here(to, laws)
    left = indexes(to.address, to.address.rpartition("/")[2])
    assert len({index.split(".")[1] for index in left} - {"meta"}) == 1


def test_an_index_of_other_sources_is_replaced_only_by_force(
    to: Destination, preparer: Prepare, laws: Path
) -> None:
    tools = letter_tools()
    ingest(to, [IndexSource(str(laws / "town"))], tools, preparer())
    with pytest.raises(CorpusError, match="already exists, with other sources"):
        ingest(to, sources(laws), tools, preparer())
    ingest(to, sources(laws), tools, preparer(), fresh=True)
    same_as_here(to, laws)
