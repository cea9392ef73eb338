"""An index made over a cluster, here or in an engine, is the one made without it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from engines import ON_ENGINES, Clusters, indexes
from indexes import Letters, content, generations, letter_tools, sources
from on_workers import DEADLY, FAILING, ONCE, LetterTools, related

from lexloop.core.errors import ClusterError, CorpusError, DataError, ModelError
from lexloop.store.address import Storage, VectorKind
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.writer import IndexUpdate, write_index
from lexloop_engines.cluster.ingesting import ClusterPreparer, Destination, ingest
from lexloop_engines.engine.moving import verify_engine
from lexloop_engines.engine.store import manifest_of, open_engine

Prepare = Callable[..., ClusterPreparer]


class Here:
    """An index in a folder, written by the driver from what the cluster made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make(
        self, held: Sequence[IndexSource], cluster: ClusterPreparer, **options: Any
    ) -> IndexUpdate:
        return write_index(self.folder, held, letter_tools(), cluster=cluster, **options)

    def manifest(self) -> Manifest:
        return Manifest.read(self.folder)

    def check(self, alone: Path) -> None:
        assert content(self.folder) == content(alone)

    def left(self) -> int:
        return len(generations(self.folder))


class InEngine:
    """An index in an engine, into which tasks write themselves."""

    def __init__(self, to: Destination) -> None:
        self.to = to

    def make(
        self, held: Sequence[IndexSource], cluster: ClusterPreparer, **options: Any
    ) -> IndexUpdate:
        return ingest(self.to, held, letter_tools(), cluster, **options)

    def manifest(self) -> Manifest:
        return manifest_of(self.to.address)

    def check(self, alone: Path) -> None:
        found = verify_engine(self.to.address, alone, Letters())
        assert found.pop("overlap") > 0.95  # shards are filled in another order, as equal hits show
        assert found == Manifest.read(alone).counts

    def left(self) -> int:
        held = indexes(self.to.address, self.to.address.rpartition("/")[2])
        return len({index.split(".")[1] for index in held} - {"meta"})


Place = Here | InEngine


@pytest.fixture(params=["folder", *ON_ENGINES])
def place(request: pytest.FixtureRequest, clusters: Clusters, tmp_path: Path) -> Iterator[Place]:
    """Where the index belongs; nothing is there."""
    if request.param == "folder":
        yield Here(tmp_path / "there")
        return
    with clusters.fresh(request.param) as address:
        yield InEngine(Destination(address, tmp_path / "kept"))


@pytest.fixture
def to(engine_address: str, tmp_path: Path) -> InEngine:
    return InEngine(Destination(engine_address, tmp_path / "kept"))


def same_as_alone(place: Place, laws: Path, held: list[IndexSource] | None = None) -> None:
    """Check an index beside one that is made here without a cluster."""
    alone = laws.parent / "alone"
    write_index(alone, held or sources(laws), letter_tools(), fresh=True)
    place.check(alone)


def test_the_index_is_the_one_made_without(place: Place, preparer: Prepare, laws: Path) -> None:
    told = set[tuple[str, bool]]()
    outcome = place.make(
        sources(laws),
        preparer(),
        progress=lambda stage, done, total: told.add((stage, done == total)),
    )
    same_as_alone(place, laws)
    assert place.manifest().counts == outcome.counts
    assert [item.name for item in outcome.skipped] == ["broken.pdf", "metadata.csv"]
    assert ("preparing", True) in told
    assert isinstance(place, Here) or not place.to.staging.exists()


def test_what_did_not_change_is_copied(
    place: Place, preparer: Prepare, laws: Path, diary: Path
) -> None:
    held, make = [IndexSource(str(laws), "town/")], LetterTools(str(diary))
    place.make(held, preparer(make))
    same_as_alone(place, laws, held)
    before = related(diary)
    (laws / "act-01.txt").write_text("The owner must pay twice.", encoding="utf-8")
    (laws / "act-02.txt").unlink()
    (laws / "zebra.txt").write_text("The clerk must be kind.", encoding="utf-8")
    difference = place.make(held, preparer(make)).difference
    same_as_alone(place, laws, held)
    now = related(diary)
    again = {name for name, times in now.items() if times != before.get(name)}
    assert again == {"town_act-01.txt", "town_zebra.txt"}
    assert (difference.added, difference.changed) == (["town/zebra.txt"], ["town/act-01.txt"])
    assert difference.removed == ["town/act-02.txt"]
    generation = place.manifest().generation
    assert place.make(held, preparer(make)).difference.nothing
    assert place.manifest().generation == generation


def test_killed_workers_cost_their_own_tasks_only(
    place: Place, preparer: Prepare, laws: Path, diary: Path
) -> None:
    (laws / "deadly.txt").write_text(f"The clerk {DEADLY}.", encoding="utf-8")
    (laws / "once.txt").write_text(f"A clerk who {ONCE} must pay a fee.", encoding="utf-8")
    outcome = place.make(sources(laws), preparer(LetterTools(str(diary))))
    reasons = {item.name: item.reason for item in outcome.skipped}
    assert reasons["deadly.txt"] == "It lost its worker 4 times: WorkerCrashedError."
    counts = related(diary)
    assert (counts.pop("deadly.txt"), counts.pop("once.txt"), *set(counts.values())) == (4, 2, 1)
    (laws / "deadly.txt").unlink()
    place.make(sources(laws), preparer())
    same_as_alone(place, laws)


def test_a_run_that_failed_goes_on(
    place: Place, preparer: Prepare, laws: Path, diary: Path
) -> None:
    bad, make = laws / "zzz.txt", LetterTools(str(diary))
    bad.write_text(f"It {FAILING}.", encoding="utf-8")
    with pytest.raises(ModelError, match=r"^The model is gone\. Ask again\.$") as failed:
        place.make(sources(laws), preparer(make))
    assert failed.value.embedder == "letters"
    first = related(diary)
    with pytest.raises((CorpusError, DataError)):  # nobody sees half
        place.manifest()
    with pytest.raises(ModelError):
        place.make(sources(laws), preparer(make))
    counts = related(diary)
    again = [name for name, times in counts.items() if times != first.get(name, 0)]
    assert "zzz.txt" in again
    assert len(again) <= 4  # what was under way
    assert max(counts.values()) == 2
    # of other files another generation is begun, and nothing of the first is left in it
    bad.write_text("The clerk must be kind.", encoding="utf-8")
    place.make(sources(laws), preparer(make))
    same_as_alone(place, laws)
    assert place.left() == 1


SMALL = {"node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}


def test_actors_embed_where_there_are_accelerators(
    driver: Any, preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    # Ray counts an accelerator that is said to be there; the embedder of tests needs none
    node = driver.add_node(num_cpus=0, num_gpus=1, **SMALL)
    driver.wait_for_nodes()
    place = Here(tmp_path / "there")
    try:
        (laws / "deadly.txt").write_text(f"The clerk {DEADLY}.", encoding="utf-8")
        outcome = place.make(sources(laws), preparer())
    finally:
        driver.remove_node(node)
    assert [item.name for item in outcome.skipped][:2] == ["broken.pdf", "deadly.txt"]
    (laws / "deadly.txt").unlink()
    place.make(sources(laws), preparer())
    same_as_alone(place, laws)


def test_a_damaged_kept_file_is_made_again(preparer: Prepare, laws: Path, tmp_path: Path) -> None:
    Here(tmp_path / "first").make(sources(laws), preparer())
    kept = sorted((tmp_path / "staging").rglob("*.kept"))
    for path in kept[:3]:
        path.write_bytes(path.read_bytes()[:-40])
    place, again = Here(tmp_path / "there"), preparer()
    place.make(sources(laws), again)
    assert (len(kept), again.made) == (14, 3)
    same_as_alone(place, laws)


def test_a_cluster_with_other_models_is_refused(
    preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    place = Here(tmp_path / "there")
    with pytest.raises(ClusterError, match=r"A machine of the cluster makes .*other-letters"):
        place.make(sources(laws), preparer(LetterTools("", "other-letters")))
    assert not (place.folder / "manifest.json").exists()


def test_other_vectors_are_chosen_without_reading_again(
    to: InEngine, preparer: Prepare, laws: Path, diary: Path
) -> None:
    make = LetterTools(str(diary))
    to.make(sources(laws), preparer(make))
    before = related(diary)
    coarse = InEngine(to.to._replace(storage=Storage(VectorKind("int8"))))
    assert coarse.make(sources(laws), preparer(make)).difference.nothing
    same_as_alone(coarse, laws)
    assert related(diary) == before
    with closing(open_engine(to.to.address, Letters())) as contents:
        assert contents.dense.kind == "int8_hnsw"


def test_an_index_of_other_sources_is_replaced_only_by_force(
    to: InEngine, preparer: Prepare, laws: Path
) -> None:
    to.make([IndexSource(str(laws / "town"))], preparer())
    with pytest.raises(CorpusError, match="already exists, with other sources"):
        to.make(sources(laws), preparer())
    to.make(sources(laws), preparer(), fresh=True)
    same_as_alone(to, laws)
