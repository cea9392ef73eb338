"""Moving of an index from an engine onto this machine, without embedding anything again."""

from collections import defaultdict
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from pathlib import Path

from lexloop.core.errors import CorpusError
from lexloop.core.files import is_index
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.embedding import Embedder
from lexloop.store.builder import Tools
from lexloop.store.engine.contents import EngineContents
from lexloop.store.engine.opening import open_engine
from lexloop.store.engine.reading import prepared_of
from lexloop.store.manifest import IndexSource
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan
from lexloop.store.writer import write_index


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
    with closing(open_engine(address, embedder)) as contents:
        held = contents.manifest
        tools = Tools(held.recipe, held.settings, embedder, lambda *_: [], lambda *_: [])
        made = write_index(
            out,
            held.sources,
            tools,
            progress=progress,
            excluded=held.excluded,
            cluster=_Stored(contents),
        )
        return made.counts


class _Stored:
    """The files of an index in an engine, with everything that was made of them."""

    def __init__(self, contents: EngineContents) -> None:
        self._contents = contents
        self._skipped = defaultdict[str, list[SkippedSource]](list)
        for file, name, reason in contents.about["skipped"]:
            self._skipped[file].append(SkippedSource(name, reason))
        self._documents = defaultdict[str, list[str]](list)
        for name, file in contents.listed.files.items():
            self._documents[file].append(name)

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """List the files, those with documents first and in their order."""
        marks = self._contents.manifest.fingerprints
        files = dict.fromkeys([*self._documents, *marks])
        unread = tuple(self._skipped[""])
        return Scan({name: marks[name] for name in files if name in marks}, unread)

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the files in order."""
        for done, name in enumerate(now.fingerprints, 1):
            documents = (prepared_of(self._contents, one) for one in self._documents[name])
            yield PreparedFile(name, tuple(documents), tuple(self._skipped[name]))
            progress("reading", done, len(now.fingerprints))

    def survey(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the files likewise; nobody asks what they would cost."""
        return self.prepare(now, wanted, progress)
