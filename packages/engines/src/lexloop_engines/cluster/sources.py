"""Source files of folders, of globs, and of object stores through fsspec."""

import glob
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from lexloop.core.errors import CorpusError
from lexloop.documents.document import SkippedSource
from lexloop.documents.reading.folder import hash_sources, list_sources, read_sidecars
from lexloop.documents.reading.formats import is_source, suffixes
from lexloop.documents.reading.metadata import SIDECAR, Sidecars, is_sidecar, normal
from lexloop.documents.reading.source import Limits, SourceFile
from lexloop.store.manifest import IndexSource
from lexloop.store.scan import Listed, SourceScan, list_source

T = TypeVar("T")
_MARKS = ("ETag", "etag", "md5Hash", "content_md5", "md5")
"""What stores call a mark that changes with an object's bytes."""
_OF_THE_DRIVER = ("memory://",)
_CHECK = "Check the address, and that this machine and the cluster may read it."


@dataclass(frozen=True)
class StoredFile(SourceFile):
    """An object of a store; ``sha256`` is a mark that the store gives it."""

    address: str = ""


def listed(source: IndexSource) -> Listed:
    """List the files of a source: a folder or a file, a glob, or an address of a store.

    Raises:
        CorpusError: It is missing, holds no document, or cannot be read.
    """
    if "://" in source.path:
        return _listed_store(source)
    if not glob.has_magic(source.path) or os.path.lexists(source.path):
        return list_source(source)
    root = Path(_fixed(source.path))
    paths, barred = list_sources(root)
    wanted = {os.path.normpath(found) for found in glob.iglob(source.path, recursive=True)}
    files, unread = hash_sources(root, [p for p in paths if os.path.normpath(p) in wanted])
    if not files and not unread:
        raise _nothing(source.path)
    sidecars, bad = read_sidecars(root)
    files.sort(key=lambda file: file.name)
    return SourceScan(source, tuple(files), sidecars), [*barred, *unread, *bad]


def fetched(address: str) -> bytes:
    """Return the bytes of an object.

    Raises:
        CorpusError: It cannot be read.
    """
    store, path = _store(address)
    return _asked(address, lambda: bytes(store.cat_file(path)))


def is_with_the_driver(file: SourceFile) -> bool:
    """Return whether only the driver can read a file."""
    return not isinstance(file, StoredFile) or file.address.startswith(_OF_THE_DRIVER)


def _listed_store(source: IndexSource) -> Listed:
    store, path = _store(source.path)
    base = _fixed(path)
    found: dict[str, Any] = _asked(source.path, lambda: store.find(base, detail=True))
    if alone := base in found:  # one object, and the sidecar beside it
        base = base.rpartition("/")[0]
        beside = f"{base}/{SIDECAR}"
        found |= _asked(source.path, lambda: store.find(beside, detail=True))
    entries = {_below(base, name): info for name, info in found.items()}
    wanted = set(entries)
    if glob.has_magic(path):
        wanted = {_below(base, str(name)) for name in _asked(source.path, lambda: store.glob(path))}
    files, skipped = list[SourceFile](), list[SkippedSource]()
    for name in sorted(filter(_is_source, wanted & set(entries))):
        info = entries[name]
        address = store.unstrip_protocol(info["name"])
        file = StoredFile(name, Path(address), info.get("size") or 0, _mark(store, info), address)
        if file.size > Limits().file_bytes:
            skipped.append(SkippedSource(name, "It is larger than 1024 MiB."))
        else:
            files.append(file)
    if not files:
        raise _nothing(source.path)
    sidecars, bad = _sidecars(store, entries, alone)
    return SourceScan(source, tuple(files), sidecars), [*skipped, *bad]


def _is_source(name: str) -> bool:
    hidden = any(part.startswith(".") for part in name.split("/"))
    return not hidden and is_source(name)


def _sidecars(
    store: Any, entries: Mapping[str, Any], alone: bool
) -> tuple[Sidecars, list[SkippedSource]]:
    """Read every sidecar of a store, the outermost first; beside one object it names others."""
    sidecars, skipped = Sidecars(), list[SkippedSource]()
    named = [name for name in entries if is_sidecar(PurePosixPath(name).name)]
    names = {normal(name) for name in entries} if named else set[str]()
    for name in sorted(named, key=lambda name: (name.count("/"), name)):
        address = store.unstrip_protocol(entries[name]["name"])
        try:
            skipped += sidecars.add(fetched(address), name, lambda n: alone or n in names)
        except CorpusError as error:
            skipped.append(sidecars.bar(name, error.what))
    return sidecars, skipped


def _mark(store: Any, info: Mapping[str, Any]) -> str:
    given = next((str(info[key]) for key in _MARKS if info.get(key)), "")
    return given or str(store.ukey(info["name"]))


def _fixed(path: str) -> str:
    """Return the folder that a path or a glob begins with."""
    parts = path.split("/")
    fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return "/".join(parts[:fixed]) or "/"


def _below(base: str, name: str) -> str:
    """Return a name below a folder."""
    return name.strip("/").removeprefix(base.strip("/")).lstrip("/")


def _store(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        store, path = url_to_fs(address)
    except ImportError as error:
        raise CorpusError(
            f"{address} cannot be read: {error}.",
            "Install what fsspec names, here and on the machines of the cluster.",
        ) from error
    except ValueError as error:
        raise CorpusError(f"{address} cannot be read: {error}.", _CHECK) from error
    return store, path


def _asked(address: str, ask: Callable[[], T]) -> T:
    try:
        return ask()
    except Exception as error:
        said = str(error) or type(error).__name__
        raise CorpusError(f"{address} cannot be read: {said}.", _CHECK) from error


def _nothing(address: str) -> CorpusError:
    kinds = ", ".join(suffixes())
    return CorpusError(
        f"{address} names no file that can be read ({kinds}).",
        "Check it; quote a glob, so that the shell leaves it as it is.",
    )
