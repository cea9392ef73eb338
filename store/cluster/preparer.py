"""The driver's side: what came back of the cluster is kept, and given on in the files' order."""

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing

from lexloop.documents.reading.metadata import Sliced
from lexloop.documents.reading.workers import Progress
from lexloop.store.cluster.packing import unpack
from lexloop.store.cluster.sources import StoredFile, is_with_the_driver, listed
from lexloop.store.cluster.staging import Staging
from lexloop.store.cluster.steps import Preparation, Survey
from lexloop.store.cluster.tasks import Given, Tasks
from lexloop.store.cluster.worker import Job, Orders
from lexloop.store.manifest import IndexSource
from lexloop.store.protocol import PreparedFile
from lexloop.store.scan import Scan, scan


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
        marks = now.fingerprints
        names = [name for name in marks if name in wanted]
        left = {name for name in names if not self._staging.holds(name, marks[name])}
        lost: dict[str, PreparedFile] = {}
        progress("preparing", len(names) - len(left), len(names))
        with closing(Tasks(jobs(now, left), Preparation(self.orders))) as tasks:
            for name in names:
                while (made := lost.get(name) or self._kept(name, marks[name])) is None:
                    if not tasks.left:  # it was kept, and is damaged
                        tasks.add(jobs(now, {name}))
                    came, packed = tasks.next()
                    if isinstance(packed, PreparedFile):
                        lost[came] = packed
                        continue
                    self._staging.keep(came, marks[came], packed)
                    self.made += 1
                    progress("preparing", len(names) - len(left) + self.made, len(names))
                yield made

    def survey(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files cut into chunks, as they come back; raises as ``prepare``."""
        with closing(Tasks(jobs(now, wanted), Survey(self.orders))) as tasks:
            for done in range(len(wanted)):
                _, packed = tasks.next()
                progress("reading", done + 1, len(wanted))
                yield packed if isinstance(packed, PreparedFile) else unpack(packed)

    def _kept(self, name: str, fingerprint: str) -> PreparedFile | None:
        return self._staging.take(name, fingerprint, unpack)


def jobs(now: Scan, wanted: Collection[str]) -> Iterator[Given]:
    """Yield the jobs of the wanted files in order, not yet with their bytes."""
    for part in now.sources:
        prefix, slices = part.source.prefix, Sliced(part.sidecars)
        for file in part.files:
            name = prefix + file.name
            if name in wanted:
                address = file.address if isinstance(file, StoredFile) else ""
                mark = now.fingerprints[name]
                job = Job(file.name, prefix, mark, None, address, slices.of(file.name))
                yield Given(job, file if is_with_the_driver(file) else None)
