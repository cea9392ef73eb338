"""Moving of an index between this machine and an engine, and the check that both have the same.

Nothing is embedded again.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection as Names
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.documents.chunks.statements import statements_text
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.address import USUAL, Storage
from lexloop.store.folder.generations import drop
from lexloop.store.folder.store import FolderStore, open_folder
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.preparing import Tools
from lexloop.store.protocol import PreparedDocument, PreparedFile, Store
from lexloop.store.scan import Scan
from lexloop.store.view import Collection, View
from lexloop.store.writer import remove_documents, write_index
from lexloop_engines.engine.client import engine_at
from lexloop_engines.engine.generation import writing
from lexloop_engines.engine.store import EngineStore, open_engine
from lexloop_engines.engine.writing import Writer, finish

_QUERIES, _TOP, _OVERLAP = 50, 10, 0.95


def push_index(
    index: Path,
    address: str,
    embedder: Embedder,
    progress: Progress = silent,
    storage: Storage = USUAL,
) -> dict[str, int]:
    """Write an index of this machine into an engine, where it replaces the one of that name.

    Args:
        index: The folder.
        address: Where to.
        embedder: That made its vectors.
        progress: Called with a stage's name, what is done and how much there is.
        storage: How the engine keeps it.

    Returns:
        The numbers of documents, chunks, windows and triplets.

    Raises:
        DataError: The index is damaged, or by another embedder.
        IndexWriteError: Another writes there.
        EngineError: The engine failed; what was there before still serves.
    """
    engine = engine_at(address)
    engine.check()
    with (
        TemporaryDirectory() as folder,
        closing(open_folder(index, embedder)) as held,
        writing(engine) as generation,
    ):
        manifest = replace(Manifest.read(index), generation=generation.name)
        generation.create(embedder.dimension, storage)
        with Writer(generation) as writer:
            for ordinal, document in enumerate(map(held.made_of, held.layout.names)):
                writer.add(ordinal, document)
                progress("writing", ordinal + 1, len(held.layout.names))
        held.load_graph().save(Path(folder))
        skipped = held.texts.rows("SELECT file, name, reason, package FROM skipped")
        kept, graph = storage.vectors, Path(folder)
        finish(generation, writer.tally, manifest, graph, vectors=kept, skipped=skipped)
        generation.publish()
        return writer.tally.counts


def remove_from_engine(
    address: str, names: Sequence[str], beside: Path, tools: Tools, progress: Progress = silent
) -> None:
    """Replace an index in an engine by one without some documents; nothing is embedded again.

    Args:
        address: Where it lies.
        names: Of the documents.
        beside: A folder of this machine for the time being; what lies there is replaced.
        tools: Have the embedder that made it.
        progress: As for ``push_index``.

    Raises:
        CorpusError: Nothing would be left.
        EngineError: The engine failed; what was there before still serves.
    """
    with closing(open_engine(address, tools.embedder)) as store:
        generation = store.generation
        told = generation.engine.ask("GET", f"/{generation.index('chunks')}/_count")
        storage = Storage(store.vectors, int(told["_shards"]["total"]))
    drop(beside)
    pull_index(address, beside, tools.embedder, progress)
    remove_documents(beside, names, tools, progress=progress)
    push_index(beside, address, tools.embedder, progress, storage)
    drop(beside)


def pull_index(
    address: str, out: Path, embedder: Embedder, progress: Progress = silent
) -> dict[str, int]:
    """Write an index of an engine into a new folder of this machine.

    Args:
        address: Where it lies.
        out: The folder, which must not hold an index.
        embedder: That made its vectors.
        progress: Called with a stage's name, what is done and how much there is.

    Returns:
        The numbers of documents, chunks, windows and triplets.

    Raises:
        CorpusError: There is no such index, or one in the folder already.
        EngineError: The engine failed; nothing was written.
    """
    if is_index(out):
        raise CorpusError(f"{out} holds an index already.", "Name another folder.")
    with closing(open_engine(address, embedder)) as store:
        held = store.manifest
        tools = Tools(held.recipe, held.settings, embedder, lambda *_: [], lambda *_: [])
        made = write_index(
            out,
            held.sources,
            tools,
            progress=progress,
            excluded=held.excluded,
            cluster=_Stored(store),
        )
        return made.counts


class _Stored:
    """The files of an index in an engine, with everything that was made of them."""

    def __init__(self, store: EngineStore) -> None:
        self._store = store
        self._skipped = defaultdict[str, list[SkippedSource]](list)
        for file, name, reason, package in store.about["skipped"]:
            self._skipped[file].append(SkippedSource(name, reason, package=package))
        self._documents = defaultdict[str, list[str]](list)
        for name, file in store.catalogue.files.items():
            self._documents[file].append(name)

    def scan(self, sources: Sequence[IndexSource], excluded: Names[str]) -> Scan:
        """List the files, those with documents first and in their order."""
        marks = self._store.manifest.fingerprints
        files = dict.fromkeys([*self._documents, *marks])
        unread = tuple(self._skipped[""])
        return Scan({name: marks[name] for name in files if name in marks}, unread)

    def prepare(self, now: Scan, wanted: Names[str], progress: Progress) -> Generator[PreparedFile]:
        """Yield the files in order."""
        for done, name in enumerate(now.fingerprints, 1):
            documents = map(self._store.made_of, self._documents[name])
            yield PreparedFile(name, tuple(documents), tuple(self._skipped[name]))
            progress("reading", done, len(now.fingerprints))

    survey = prepare  # nobody asks what they would cost


def verify_engine(address: str, against: Path | None, embedder: Embedder) -> dict[str, Any]:
    """Check that an engine has all of an index, as it was written.

    Args:
        address: Of the index.
        against: The index on this machine that it was pushed from; None compares the engine with
            what its manifest says alone.
        embedder: That made the vectors.

    Returns:
        The counts; beside another index the ``overlap`` of their first ten hits too.

    Raises:
        DataError: They differ, with the first difference.
        EngineError: The engine failed.
    """
    with closing(open_engine(address, embedder)) as store:
        counts: dict[str, Any] = {**store.verify()}
        if against is not None:
            with closing(open_folder(against, embedder)) as local:
                _compare(address, store, local)
                counts["overlap"] = round(_overlap(address, store, local), 4)
        return counts


def _compare(address: str, store: EngineStore, local: FolderStore) -> None:
    """Raise unless each document and all that was made of it is the same."""
    if list(store.catalogue.names) != list(local.layout.names):
        raise _differs(address, "other documents, or in another order")
    for number, name in enumerate(local.layout.names):
        if _hash(local.made_of(name)) != _hash(store.made_of(name)):
            raise _differs(address, f"document {number} is not the same")


def _hash(made: PreparedDocument) -> str:
    """Return a hash of a document and all that was made of it."""
    digest = hashlib.sha256()
    document = made.document
    said = [document.text, document.title, document.metadata.as_record(), document.tree.to_json()]
    digest.update(json.dumps([made.file, *said, document.pages, document.headings]).encode())
    digest.update(document.places)
    for one in made.chunks:
        told = [one.chunk, statements_text(one.statements), list(one.triplets)]
        digest.update(json.dumps(told, sort_keys=True).encode())
        for data in (one.vectors, one.marks, *one.codes):
            digest.update(np.ascontiguousarray(data).tobytes())
    return digest.hexdigest()


def _overlap(address: str, store: EngineStore, local: FolderStore) -> float:
    """Return the share of the first ten hits that both find, over a sample of statements."""
    tags = frozenset(tag for known in local.catalogue.metadata.values() for tag in known.tags)
    stores: tuple[Store, Store] = local, store
    here, there = (Collection(held).seen_by(Filters(allowed_tags=tags)) for held in stores)
    step = -(-len(here) // _QUERIES) or 1
    queries = [chunk["text"][:300] for chunk in here.every_chunk(step)]
    pairs = zip(_found(here, queries), _found(there, queries), strict=True)
    # of a few chunks all words may weigh nothing, and then neither finds any
    shares = [
        len(ours & theirs) / len(ours) if ours else float(not theirs) for ours, theirs in pairs
    ]
    share = float(np.mean(shares)) if shares else 1.0
    if share < _OVERLAP:
        raise _differs(address, f"only {share:.3f} of the first {_TOP} hits agree")
    return share


def _found(view: View, queries: list[str]) -> list[set[str]]:
    by_words, near = view.search(queries, _TOP)
    return [{hit.chunk_id for hit in hits} for hits in (*by_words, *near)]


def _differs(address: str, what: str) -> DataError:
    return DataError(f"The index at {address} differs: {what}.", "Push it again.")
