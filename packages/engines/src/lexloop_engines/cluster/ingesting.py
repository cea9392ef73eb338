"""Source files prepared over a Ray cluster, for an index here or written into an engine there.

The driver hands out the files, keeps what came back, and adds it all up.
"""

import hashlib
import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.core.files import write_text
from lexloop.documents.document import SkippedSource, versions, with_containers
from lexloop.documents.reading.metadata import Sidecars, normal
from lexloop.documents.reading.workers import Progress, silent
from lexloop.store.address import Destination
from lexloop.store.graph import KnowledgeGraph
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.preparing import Tools
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan, SourceChanges, scan
from lexloop.store.writer import CostEstimate, IndexUpdate, nothing_read, surveyed
from lexloop_engines.cluster.sources import StoredFile, is_with_the_driver, listed
from lexloop_engines.cluster.staging import Staging, Written, unpack, unpack_written
from lexloop_engines.cluster.tasks import Given, Job, Orders, Steps, Target, Tasks
from lexloop_engines.engine.client import engine_at
from lexloop_engines.engine.generation import Generation, Hold, writing
from lexloop_engines.engine.relations import EngineTriplets
from lexloop_engines.engine.store import EngineStore, manifest_of, open_engine
from lexloop_engines.engine.writing import Tally, finish, remove

_DOCUMENTS = 1 << 24
"""Places that are left for the documents of a file."""
_KEPT_S = 86_400.0
"""Seconds for which a generation is kept that a driver did not end."""


class Sliced:
    """The sidecars file by file, for what reads one of many files.

    Args:
        sidecars: Of all files.
    """

    def __init__(self, sidecars: Sidecars) -> None:
        self._whole = sidecars
        self._targets = sorted({*sidecars.rows, *sidecars.barred})

    def of(self, name: str) -> Sidecars:
        """Return what the sidecars say of a file, of its folders and of the documents in it."""
        own = normal(name)
        first = bisect_left(self._targets, f"{own}/")
        inside = takewhile(
            lambda target: target.startswith(f"{own}/"), islice(self._targets, first, None)
        )
        wanted = ["", *with_containers(own), *inside]
        rows, barred = self._whole.rows, self._whole.barred
        return Sidecars(
            {target: rows[target] for target in wanted if target in rows},
            {target: barred[target] for target in wanted if target in barred},
        )


class ClusterPreparer:
    """Prepares source files on the cluster that this process has joined; see ``Preparer``.

    Args:
        orders: What the workers make.
        staging: Keeps what came back.
    """

    def __init__(self, orders: Orders, staging: Staging) -> None:
        self.orders, self._staging = orders, staging
        self.made = 0
        """The files that the cluster prepared, those that were kept from before not counted."""

    def forget(self) -> None:
        """Remove what is kept, now that it is in an index."""
        self._staging.clear()

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """List the files of folders, globs and stores; raises as ``scan``."""
        return scan(sources, excluded, listed)

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files in order; what was kept before is not made again.

        A file that ended its worker several times is skipped, with the reason.

        Raises:
            ClusterError: The cluster is lost, or nothing comes back.
            LexloopError: An extractor or an embedder failed.
        """
        marks, staging = now.fingerprints, self._staging
        names = [name for name in marks if name in wanted]
        left = {name for name in names if not staging.holds(name, marks[name])}
        lost: dict[str, PreparedFile] = {}
        progress("preparing", len(names) - len(left), len(names))
        with closing(Tasks(_given(now, left), Steps(self.orders))) as tasks:
            for name in names:
                while not (made := lost.get(name) or staging.take(name, marks[name], unpack)):
                    if not tasks.left:  # it was kept, and is damaged
                        tasks.add(_given(now, {name}))
                    came, packed = tasks.next()
                    if isinstance(packed, PreparedFile):
                        lost[came] = packed
                        continue
                    staging.keep(came, marks[came], packed)
                    self.made += 1
                    progress("preparing", len(names) - len(left) + self.made, len(names))
                yield made

    def survey(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files cut into chunks, as they come back; raises as ``prepare``."""
        with closing(Tasks(_given(now, wanted), Steps(self.orders, surveyed=True))) as tasks:
            for done in range(len(wanted)):
                _, packed = tasks.next()
                progress("reading", done + 1, len(wanted))
                yield packed if isinstance(packed, PreparedFile) else unpack(packed)


def _given(now: Scan, wanted: Collection[str]) -> Iterator[Given]:
    """Yield the wanted files in order, not yet with their bytes."""
    for part in now.sources:
        prefix, slices = part.source.prefix, Sliced(part.sidecars)
        for file in part.files:
            name = prefix + file.name
            if name in wanted:
                address = file.address if isinstance(file, StoredFile) else ""
                mark = now.fingerprints[name]
                job = Job(file.name, prefix, mark, None, address, slices.of(file.name))
                yield Given(job, file if is_with_the_driver(file) else None)


# --- into an engine


def ingest(
    to: Destination,
    sources: Sequence[IndexSource],
    tools: Tools,
    cluster: ClusterPreparer,
    *,
    progress: Progress = silent,
    fresh: bool = False,
) -> IndexUpdate:
    """Update an index in an engine to its sources, or make it.

    Tasks read, cut, relate, embed and write each file; what did not change is copied from the
    generation before. A driver that is killed goes on where it was.

    Args:
        to: Where.
        sources: The sources of the documents.
        tools: Make what the index holds.
        cluster: That the driver has joined.
        progress: Called with a stage's name, what is done and how much there is.
        fresh: Whether nothing of an index already there may be reused.

    Raises:
        CorpusError: Nothing could be read, an index of other sources is there, or another writes.
        EngineError: The engine failed; readers go on with the generation before.
        ClusterError: The cluster is lost.
    """
    with _changed(to.address, sources, tools, cluster, fresh) as (before, now, changes):
        if before and changes.nothing and _as_it_is(before, to, tools):
            counts, skipped = dict(before.manifest.counts), [*before.catalogue.skipped]
            return IndexUpdate(changes, counts, skipped, 1.0)
        ingestion = _Ingestion(to, tuple(sources), tools, cluster.orders, now, before)
        return ingestion.run(changes, progress)


def expected(
    address: str,
    sources: Sequence[IndexSource],
    tools: Tools,
    cluster: ClusterPreparer,
    *,
    progress: Progress = silent,
    fresh: bool = False,
) -> CostEstimate:
    """Return what ``ingest`` with the same arguments would read and embed."""
    with _changed(address, sources, tools, cluster, fresh) as (_, now, changes):
        return surveyed(now, changes, tools, progress=progress, cluster=cluster)


def _as_it_is(before: EngineStore, to: Destination, tools: Tools) -> bool:
    same = dict(before.manifest.settings) == dict(tools.settings)
    return same and before.vectors == to.storage.vectors


@contextmanager
def _changed(
    address: str,
    sources: Sequence[IndexSource],
    tools: Tools,
    cluster: ClusterPreparer,
    fresh: bool,
) -> Iterator[tuple[EngineStore | None, Scan, SourceChanges]]:
    """Open the index that is there, if something of it can be reused, and list the files."""
    engine_at(address).check()
    before = None
    if not fresh:
        try:
            held = manifest_of(address)
        except CorpusError:  # there is none yet
            held = None
        if held and held.sources != tuple(sources):
            raise CorpusError(
                f"The index {address} already exists, with other sources.",
                "Pass --force to make it anew.",
            )
        if held and held.recipe == tools.recipe and held.current:
            before = open_engine(address, tools.embedder)
    try:
        now = cluster.scan(sources, ())
        yield before, now, now.difference(before.manifest.fingerprints if before else {})
    finally:
        if before:
            before.close()


class _Ingestion(NamedTuple):
    """One writing of an index in an engine.

    Args:
        to: Where.
        sources: The sources of the documents.
        tools: Make what the index holds.
        orders: What the workers make.
        now: The files of the sources.
        before: What readers see, if it may be reused.
    """

    to: Destination
    sources: tuple[IndexSource, ...]
    tools: Tools
    orders: Orders
    now: Scan
    before: EngineStore | None

    def run(self, changes: SourceChanges, progress: Progress) -> IndexUpdate:
        """Write everything, and let readers see it."""
        engine, begun = engine_at(self.to.address), self._begun()
        with writing(engine, begun) as generation:
            hold = Hold(engine, generation.name, _KEPT_S, generation.name)
            if not begun:
                generation.create(self.tools.embedder.dimension, self.to.storage)
                self.to.staging.mkdir(parents=True, exist_ok=True)
                write_text(self._note, json.dumps([generation.name, self._files]))
            tally, skipped = Tally(), dict[str, tuple[SkippedSource, ...]]()
            for name, written in self._written(generation, changes, progress):
                hold.renew()
                tally.merge(written.tally)
                skipped[name] = written.skipped
            rows = [(file, one) for file in self._marks for one in skipped[file]]
            rows += [("", one) for one in self.now.skipped]
            told = [one for _, one in rows]
            if not tally.documents:
                raise nothing_read(told)
            self._finish(
                generation, tally, [(file, one.name, one.reason, one.package) for file, one in rows]
            )
            generation.publish()
            hold.release()
        self._staging("").clear()
        troubles = versions(list(tally.triplets), tally.metadata, lambda _: True)[1]
        return IndexUpdate(changes, tally.counts, [*told, *troubles], 1.0)

    @property
    def _marks(self) -> Mapping[str, str]:
        return self.now.fingerprints

    @property
    def _note(self) -> Path:
        return self.to.staging / "generation.json"

    @property
    def _files(self) -> str:
        """A mark of the files and of all that is made of them."""
        to, recipe = self.to, vars(self.tools.recipe)
        said = [to.address, to.storage, recipe, [*self._marks.items()]]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def _begun(self) -> str:
        """Return the generation that was begun for the same files and not ended; empty if none."""
        engine = engine_at(self.to.address)
        try:
            name, files = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError, TypeError):
            name, files = "", ""
        if name and files == self._files and Generation(engine, name).begun:
            return str(name)
        if name:
            Hold(engine, name, _KEPT_S, name).release()
        self._staging("").clear()
        return ""

    def _staging(self, generation: str) -> Staging:
        return Staging(self.to.staging, self.tools.recipe, generation)

    def _written(
        self, generation: Generation, changes: SourceChanges, progress: Progress
    ) -> Iterator[tuple[str, Written]]:
        """Yield each file with what came of it, those first that were written before."""
        staging, marks, left = self._staging(generation.name), self._marks, dict(self._marks)
        for name, mark in marks.items():
            if kept := staging.take(name, mark, unpack_written):
                del left[name]
                yield name, kept
        done = len(marks) - len(left)
        progress("preparing", done, len(marks))
        before = self.before.generation.name if self.before else ""
        steps = Steps(self.orders, Target(self.to.address, generation.name, before))
        places = {name: place * _DOCUMENTS for place, name in enumerate(marks)}
        files = self._given(left, {*changes.unchanged}, places)
        with closing(Tasks(files, steps)) as tasks:
            for done_now in range(done + 1, len(marks) + 1):
                name, packed = tasks.next()
                if isinstance(packed, PreparedFile):  # the end of every worker that had it
                    remove(generation, places[name], places[name] + _DOCUMENTS)
                    written = Written(Tally(), packed.skipped)
                else:
                    staging.keep(name, marks[name], packed)
                    written = unpack_written(packed)
                progress("preparing", done_now, len(marks))
                yield name, written

    def _given(
        self, left: Collection[str], unchanged: Collection[str], places: Mapping[str, int]
    ) -> Iterator[Given]:
        """Yield the files that are left; of those that did not change, what is to be copied."""
        held = defaultdict[str, list[str]](list)
        for document, file in self.before.catalogue.files.items() if self.before else ():
            if file in unchanged:
                held[file].append(document)
        for given in _given(self.now, left):
            name = given.job.file
            placed = given.job._replace(ordinal=places[name], held=tuple(held[name]))
            # of what gave no document it is read again why
            yield given._replace(job=placed, file=None if placed.held else given.file)

    def _finish(
        self, generation: Generation, tally: Tally, skipped: Sequence[tuple[str, str, str, str]]
    ) -> None:
        tools, index = self.tools, generation.index("relations")
        manifest = Manifest(
            generation=generation.name,
            recipe=tools.recipe,
            settings=tools.settings,
            sources=self.sources,
            excluded=(),
            counts=tally.counts,
            sha256={},
            fingerprints=self._marks,
        )
        triplets = EngineTriplets(generation.engine, lambda: index, tally.triplets)
        vectors = self.to.storage.vectors
        with TemporaryDirectory() as folder:
            KnowledgeGraph.build(triplets).save(Path(folder))
            finish(generation, tally, manifest, Path(folder), vectors=vectors, skipped=skipped)
