"""The files of the sources, and their differences from those of an index."""

import hashlib
import os
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from lexloop.core.errors import ConflictError, CorpusError, NotFoundError
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.folder import hash_sources, list_sources, read_sidecars
from lexloop.documents.reading.metadata import SIDECAR, Sidecars
from lexloop.documents.reading.source import Limits, Loaded, SourceFile, hash_file, read_file
from lexloop.documents.reading.workers import Progress, read_files
from lexloop.store.manifest import IndexSource

_TEXT_IS_KEPT = "Read its text, which the index holds."


@dataclass(frozen=True)
class SourceChanges:
    """Names of source files, compared with those of an index."""

    added: list[str]
    changed: list[str]
    removed: list[str]
    unchanged: list[str]

    @property
    def nothing(self) -> bool:
        """True if the index is up to date."""
        return not (self.added or self.changed or self.removed)


@dataclass(frozen=True)
class SourceScan:
    """The files of one source, with names relative to it, and the sidecars' metadata."""

    source: IndexSource
    files: tuple[SourceFile, ...]
    sidecars: Sidecars


@dataclass(frozen=True)
class Scan:
    """The files of all sources.

    Args:
        fingerprints: For each file, in index order, a mark that changes with the file's bytes and
            with its rows in sidecars.
        skipped: The sources and files that could not be listed or read.
        sources: Files of each source; without them nothing can be read.
    """

    fingerprints: Mapping[str, str]
    skipped: tuple[SkippedSource, ...] = ()
    sources: tuple[SourceScan, ...] = ()

    def read(self, wanted: Collection[str], progress: Progress) -> Generator[Loaded]:
        """Read the wanted files in the order of ``fingerprints``."""
        for part in self.sources:
            prefix = part.source.prefix
            files = [file for file in part.files if prefix + file.name in wanted]
            with closing(read_files(files, part.sidecars, progress)) as loading:
                for loaded in loading:
                    yield prefixed(loaded, prefix) if prefix else loaded

    def difference(self, before: Mapping[str, str]) -> SourceChanges:
        """Return the changes since the index with these fingerprints was made."""
        now = self.fingerprints
        known = [name for name in now if name in before]
        return SourceChanges(
            added=[name for name in now if name not in before],
            changed=[name for name in known if now[name] != before[name]],
            removed=[name for name in before if name not in now],
            unchanged=[name for name in known if now[name] == before[name]],
        )


def prefixed(loaded: Loaded, prefix: str) -> Loaded:
    """Return a result with the source's prefix before the names."""
    return Loaded(
        replace(loaded.file, name=prefix + loaded.file.name),
        tuple(replace(item, name=prefix + item.name) for item in loaded.documents),
        tuple(replace(item, name=prefix + item.name) for item in loaded.skipped),
    )


Listed = tuple[SourceScan, list[SkippedSource]]
"""The files of a source, and what could not be listed or read."""


def list_source(source: IndexSource) -> Listed:
    """List and hash the files of one source on this machine; raises like ``scan``."""
    if not source.path:
        raise CorpusError(
            "The index does not say where its documents lie.", "Say it with --source DIR."
        )
    if "://" in source.path:
        raise CorpusError(
            f"{source.path} is in a store, which only a cluster reads.",
            "Give the cluster with --cluster, or a folder of this machine.",
        )
    root = Path(source.path)
    # unlike Path.is_file this accepts names that no file can have
    if os.path.isfile(root):
        root, paths, barred = root.parent, [root], list[SkippedSource]()
        sidecars, bad = _sidecar_in(root)
    else:
        paths, barred = list_sources(root)
        sidecars, bad = read_sidecars(root)
    files, unread = hash_sources(root, paths)
    files.sort(key=lambda file: file.name)
    return SourceScan(source, tuple(files), sidecars), [*barred, *unread, *bad]


def scan(
    sources: Sequence[IndexSource],
    excluded: Collection[str] = (),
    listed: Callable[[IndexSource], Listed] = list_source,
) -> Scan:
    """List and hash every source file.

    Args:
        sources: Folders and files.
        excluded: Names of files that stay out.
        listed: Lists the files of one source.

    Raises:
        CorpusError: A source is missing or empty, or two have a document of the same name.
    """
    paths: dict[str, Path] = {}
    fingerprints: dict[str, str] = {}
    skipped: list[SkippedSource] = []
    parts: list[SourceScan] = []
    for source in sources:
        part, trouble = listed(source)
        skipped += [replace(item, name=source.prefix + item.name) for item in trouble]
        marks = part.sidecars.marks([file.name for file in part.files])
        files: list[SourceFile] = []
        for file in part.files:
            name = source.prefix + file.name
            if name in excluded or (name in paths and paths[name].samefile(file.path)):
                continue
            if name in paths:
                raise CorpusError(
                    f"Both {paths[name]} and {file.path} would be named {name!r}.",
                    "Give one of the sources a --prefix.",
                )
            paths[name] = file.path
            fingerprints[name] = _fingerprint(file, marks[file.name])
            files.append(file)
        parts.append(replace(part, files=tuple(files)))
    return Scan(fingerprints, tuple(skipped), tuple(parts))


def _fingerprint(file: SourceFile, mark: str) -> str:
    return hashlib.sha256(f"{file.sha256} {mark}".encode()).hexdigest()


def find_again(sources: Sequence[IndexSource], name: str, fingerprint: str) -> SourceFile:
    """Return a source file if it is still as it was indexed.

    Args:
        sources: Sources of the index.
        name: Name of the file in the index.
        fingerprint: Fingerprint of the file in the index.

    Raises:
        NotFoundError: The file is gone, or the index was copied without its sources.
        ConflictError: The file, or its rows in sidecars, have changed.
    """
    for source in sources:
        if not source.path or not name.startswith(source.prefix):
            continue
        path, root = name.removeprefix(source.prefix), Path(source.path)
        alone = os.path.isfile(root)
        folder = root.parent if alone else root
        if (alone and root.name != path) or not os.path.isfile(folder / path):
            continue
        files, unread = hash_sources(folder, [folder / path])
        if not files:
            raise NotFoundError(f"{name}: {unread[0].reason}", _TEXT_IS_KEPT)
        sidecars, _ = _sidecar_in(folder) if alone else read_sidecars(folder)
        if _fingerprint(files[0], sidecars.marks([path])[path]) != fingerprint:
            raise ConflictError(f"{name} changed since it was indexed.", "Index it again.")
        return files[0]
    raise NotFoundError(f"The file {name} is not where it was indexed from.", _TEXT_IS_KEPT)


def _sidecar_in(folder: Path) -> tuple[Sidecars, list[SkippedSource]]:
    """Return a folder's own sidecar and its problems; the folder may be large."""
    sidecars, path = Sidecars(), folder / SIDECAR
    if not os.path.lexists(path):
        return sidecars, []
    try:
        _, sha256 = hash_file(path, Limits())
        data = read_file(path, sha256, Limits())
    except CorpusError as error:
        return sidecars, [sidecars.bar(SIDECAR, error.what)]
    return sidecars, sidecars.add(data, SIDECAR, lambda _: True)
