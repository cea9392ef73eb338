"""The index that is there already, and what of it serves the next one again."""

import os
from collections.abc import Collection as Names
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lexloop.corpus.index.earlier import Earlier
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.manifest import Manifest, Source, is_index
from lexloop.corpus.index.reader import open_everything
from lexloop.corpus.index.scan import Difference, Scan, difference, scan
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.window_vectors import KnownVectors


@dataclass(frozen=True)
class Before:
    """What of an index serves again; nothing where there is none.

    Args:
        manifest: What it says of itself.
        everything: Its documents are kept with all that was made of them.
        earlier: Where they cannot be, its documents as they were loaded.
        known: Vectors by the same embedder.
    """

    manifest: Manifest | None = None
    everything: Everything | None = None
    earlier: Earlier | None = None
    known: KnownVectors | None = None

    def scan(self, sources: Sequence[Source], excluded: Names[str]) -> Scan:
        """What lies in the sources.

        An index that cannot be opened any more is brought up even where its sources are gone: what
        it holds of them counts as found.

        Raises:
            CorpusError: A source is missing or holds no document, two hold one of the same name,
                or the index did not keep enough of a document whose source is gone.
        """
        if self.manifest is None or self.manifest.current:
            return scan(sources, excluded)
        gone = [one for one in sources if not (one.path and os.path.lexists(one.path))]
        now = scan([one for one in sources if one not in gone], excluded)
        prefixes = tuple(one.prefix for one in gone)
        lost = {
            name: mark
            for name, mark in self.manifest.fingerprints.items()
            if name.startswith(prefixes) and name not in now.fingerprints and name not in excluded
        }
        held = self.everything or self.earlier
        unread = held.texts.skipped(of_files=False) if held else []
        stored = {}
        if self.earlier:
            self.earlier.check_whole(lost)
            stored = {name: partial(self.earlier.read, name) for name in lost}
        return replace(
            now,
            fingerprints={**now.fingerprints, **lost},
            skipped=(*now.skipped, *(item for item in unread if item.name.startswith(prefixes))),
            stored=stored,
        )

    def difference(self, now: Scan) -> Difference:
        """What has to be read, and what is kept."""
        return difference(now, self.everything.texts.fingerprints() if self.everything else {})


@contextmanager
def before(index: Path | None, tools: Tools) -> Iterator[Before]:
    """Open what serves again; its folder has no other writer meanwhile.

    Args:
        index: The folder; None where nothing may be kept.
        tools: Those of the next index.

    Raises:
        DataError: The index is damaged, or of a format that nothing here can read.
    """
    if index is None or not is_index(index):
        yield Before()
        return
    manifest = Manifest.read(index)
    if manifest.current_format and manifest.recipe == tools.recipe:
        with closing(open_everything(index, tools.embedder, restem=True)) as old:
            yield Before(manifest, old, known=KnownVectors.of(old))
        return
    with closing(Earlier.open(index, manifest)) as earlier:
        known = earlier.vectors(tools.recipe)
        yield Before(manifest, earlier=earlier, known=known)
