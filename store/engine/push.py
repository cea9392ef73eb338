"""Moving of an index from this machine into an engine, without embedding anything again."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.dialect import USUAL, Storage
from lexloop.store.engine.finishing import finish
from lexloop.store.engine.generation import writing
from lexloop.store.engine.writer import Writer
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import Manifest


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
        closing(open_folder(index, embedder)) as contents,
        writing(engine) as generation,
    ):
        manifest = replace(Manifest.read(index), generation=generation.name)
        generation.create(embedder.dimension, storage)
        with Writer(generation) as writer:
            for ordinal, document in enumerate(map(contents.made_of, contents.names)):
                writer.add(ordinal, document)
                progress("writing", ordinal + 1, len(contents.names))
        contents.load_graph().save(Path(folder))
        skipped = contents.texts.rows("SELECT file, name, reason FROM skipped")
        rest = {"skipped": skipped, "vectors": storage.vectors}
        finish(generation, writer.tally, manifest, Path(folder), rest)
        generation.publish()
        return writer.tally.counts
