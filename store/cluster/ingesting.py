"""An index in an engine, written by the machines of a cluster; the driver adds it all up."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from lexloop.core.errors import CorpusError
from lexloop.core.files import write_text
from lexloop.documents.document import SkippedSource, versions
from lexloop.documents.reading.workers import Progress, silent
from lexloop.knowledge.graph import KnowledgeGraph
from lexloop.store.builder import Tools, nothing_read
from lexloop.store.cluster.preparer import ClusterPreparer, jobs
from lexloop.store.cluster.staging import Staging
from lexloop.store.cluster.steps import Writing
from lexloop.store.cluster.tasks import Given, Tasks
from lexloop.store.cluster.writing import Target, Written, unpack_written
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.contents import EngineContents
from lexloop.store.engine.dialect import USUAL, Storage
from lexloop.store.engine.finishing import finish, remove
from lexloop.store.engine.generation import Generation, Hold, NewGeneration
from lexloop.store.engine.generation import writing as writing_in
from lexloop.store.engine.opening import manifest_of, open_engine
from lexloop.store.engine.relations import EngineTriplets
from lexloop.store.engine.tally import Tally
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan, SourceChanges
from lexloop.store.writer import CostEstimate, IndexUpdate, surveyed

_DOCUMENTS = 1 << 24
"""Places that are left for the documents of a file."""
_KEPT_S = 86_400.0
"""Seconds for which a generation is kept that a driver did not end."""


class Destination(NamedTuple):
    """Where an index is written.

    Args:
        address: In an engine.
        staging: A folder of this machine for what is written already.
        storage: How the engine keeps it.
    """

    address: str
    staging: Path
    storage: Storage = USUAL


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
    with _before(to.address, sources, tools, fresh) as before:
        now = cluster.scan(sources, ())
        changes = now.difference(before.manifest.fingerprints if before else {})
        if before and changes.nothing and _as_it_is(before, to, tools):
            return IndexUpdate(changes, dict(before.manifest.counts), before.skipped(), 1.0)
        ingestion = Ingestion(to, tools, cluster, now, before)
        return ingestion.run(tuple(sources), changes, progress)


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
    with _before(address, sources, tools, fresh) as before:
        now = cluster.scan(sources, ())
        changes = now.difference(before.manifest.fingerprints if before else {})
        return surveyed(now, changes, tools, progress=progress, cluster=cluster)


def _as_it_is(before: EngineContents, to: Destination, tools: Tools) -> bool:
    same = dict(before.manifest.settings) == dict(tools.settings)
    return same and before.vectors == to.storage.vectors


@contextmanager
def _before(
    address: str, sources: Sequence[IndexSource], tools: Tools, fresh: bool
) -> Iterator[EngineContents | None]:
    """Open the index that is there, if something of it can be reused."""
    engine_at(address).check()
    held = None
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
    if held is None or held.recipe != tools.recipe or not held.current:
        yield None
        return
    with closing(open_engine(address, tools.embedder)) as contents:
        yield contents


class Ingestion:
    """One writing of an index in an engine.

    Args:
        to: Where.
        tools: Make what the index holds.
        cluster: That the driver has joined.
        now: The files of the sources.
        before: What readers see, if it may be reused.
    """

    def __init__(
        self,
        to: Destination,
        tools: Tools,
        cluster: ClusterPreparer,
        now: Scan,
        before: EngineContents | None,
    ) -> None:
        self._to, self._tools, self._cluster = to, tools, cluster
        self._now, self._before = now, before
        self._marks = now.fingerprints
        self._ordinals = {name: place * _DOCUMENTS for place, name in enumerate(self._marks)}

    def run(
        self, sources: tuple[IndexSource, ...], changes: SourceChanges, progress: Progress
    ) -> IndexUpdate:
        """Write everything, and let readers see it."""
        engine, begun = engine_at(self._to.address), self._begun()
        with writing_in(engine, begun) as generation:
            hold = Hold(engine, generation.name, _KEPT_S, generation.name)
            if not begun:
                generation.create(self._tools.embedder.dimension, self._to.storage)
                self._note(generation.name)
            tally, skipped = Tally(), dict[str, tuple[SkippedSource, ...]]()
            for name, written in self._written(generation, changes, progress):
                hold.renew()
                tally.merge(written.tally)
                skipped[name] = written.skipped
            told = [one for name in self._marks for one in skipped[name]]
            if not tally.documents:
                raise nothing_read([*told, *self._now.skipped])
            rows = [(name, one.name, one.reason) for name in self._marks for one in skipped[name]]
            rows += [("", one.name, one.reason) for one in self._now.skipped]
            self._finish(generation, sources, tally, rows)
            generation.publish()
            hold.release()
        self._staging(generation.name).clear()
        troubles = versions(list(tally.triplets), tally.metadata, lambda _: True)[1]
        return IndexUpdate(changes, tally.counts, [*told, *self._now.skipped, *troubles], 1.0)

    def _begun(self) -> str:
        """Return the generation that was begun for the same files and not ended; empty if none."""
        engine = engine_at(self._to.address)
        try:
            held = json.loads(self._noted.read_text(encoding="utf-8"))
            name, files = str(held["generation"]), held["files"]
        except (OSError, ValueError, KeyError, TypeError):
            name, files = "", ""
        if name and files == self._files and Generation(engine, name).begun:
            return name
        if name:
            Hold(engine, name, _KEPT_S, name).release()
        self._staging("").clear()
        return ""

    def _note(self, generation: str) -> None:
        self._to.staging.mkdir(parents=True, exist_ok=True)
        write_text(self._noted, json.dumps({"generation": generation, "files": self._files}))

    @property
    def _noted(self) -> Path:
        return self._to.staging / "generation.json"

    @property
    def _files(self) -> str:
        said = [
            self._to.address,
            self._to.storage,
            vars(self._tools.recipe),
            [*self._marks.items()],
        ]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def _staging(self, generation: str) -> Staging:
        return Staging(self._to.staging, self._tools.recipe, generation)

    def _written(
        self, generation: NewGeneration, changes: SourceChanges, progress: Progress
    ) -> Iterator[tuple[str, Written]]:
        """Yield each file with what came of it, those first that were written before."""
        staging, marks, done = self._staging(generation.name), self._marks, 0
        left = dict[str, None].fromkeys(marks)
        for name, mark in marks.items():
            if kept := staging.take(name, mark, unpack_written):
                del left[name]
                done += 1
                yield name, kept
        progress("preparing", done, len(marks))
        before = self._before.generation if self._before else ""
        target = Target(self._to.address, generation.name, before)
        steps = Writing(self._cluster.orders, target)
        copied = {name: left.pop(name) for name in changes.unchanged if name in left}
        with closing(Tasks(self._given(left, copied), steps)) as tasks:
            for done_now in range(done + 1, len(marks) + 1):
                name, packed = tasks.next()
                if isinstance(packed, PreparedFile):  # the end of every worker that had it
                    remove(generation, self._ordinals[name], self._ordinals[name] + _DOCUMENTS)
                    written = Written(Tally(), packed.skipped)
                else:
                    staging.keep(name, marks[name], packed)
                    written = unpack_written(packed)
                progress("preparing", done_now, len(marks))
                yield name, written

    def _given(self, left: Mapping[str, None], copied: Mapping[str, None]) -> Iterator[Given]:
        held: dict[str, list[str]] = {name: [] for name in copied}
        for document, file in self._before.listed.files.items() if self._before else ():
            if file in held:
                held[file].append(document)
        for given in jobs(self._now, {*left, *copied}):
            name = given.job.file
            placed = given.job._replace(ordinal=self._ordinals[name])
            if held.get(name):
                yield Given(placed._replace(held=tuple(held[name])))
            else:  # of what gave no document it is read again why
                yield Given(placed, given.file)

    def _finish(
        self,
        generation: NewGeneration,
        sources: tuple[IndexSource, ...],
        tally: Tally,
        skipped: Sequence[tuple[str, str, str]],
    ) -> None:
        tools, engine = self._tools, generation.engine
        manifest = Manifest(
            generation=generation.name,
            recipe=tools.recipe,
            settings=tools.settings,
            sources=sources,
            excluded=(),
            counts=tally.counts,
            sha256={},
            fingerprints=self._marks,
        )
        triplets = EngineTriplets(engine, lambda: generation.index("relations"), tally.triplets)
        rest = {"vectors": self._to.storage.vectors, "skipped": skipped}
        with TemporaryDirectory() as folder:
            KnowledgeGraph.build(triplets).save(Path(folder))
            finish(generation, tally, manifest, Path(folder), rest)
