"""Folders of source files: listed, hashed and read."""

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lexloop.core.errors import CorpusError
from lexloop.core.files import is_index
from lexloop.documents.document import Document, SkippedSource, end_superseded
from lexloop.documents.reading.formats import is_source, suffixes
from lexloop.documents.reading.metadata import SIDECAR, Sidecars, is_sidecar, normal
from lexloop.documents.reading.source import Limits, SourceFile, hash_file, read_file
from lexloop.documents.reading.workers import read_files

_LEADS_OUT = "It is a link out of the corpus."


def source_files(folder: Path) -> list[Path]:
    """Return the files that an index of a folder depends on: sources and sidecars, sorted.

    For a single file these are the file and the sidecar in its folder.

    Raises:
        CorpusError: The folder is missing, is not a folder, cannot be listed, or contains no
            source.
    """
    # unlike Path.is_file this accepts names that no file can have
    if os.path.isfile(folder):
        beside = folder.parent / SIDECAR
        return [folder, *([beside] if os.path.lexists(beside) else [])]
    files, _ = list_sources(folder)
    return sorted(files + _walk(folder, is_sidecar)[0])


def load_documents(
    folder: Path, limits: Limits | None = None
) -> tuple[list[Document], list[SkippedSource]]:
    """Return the documents below a folder, or of one file without its sidecar, and the skipped.

    Superseded versions end when their successors begin.

    Raises:
        CorpusError: No file of the folder could be read.
    """
    alone = os.path.isfile(folder)
    paths, skipped = ([folder], []) if alone else list_sources(folder)
    files, unreadable = hash_sources(folder.parent if alone else folder, paths, limits)
    sidecars, bad_rows = (Sidecars(), []) if alone else read_sidecars(folder, limits)
    skipped += unreadable + bad_rows
    documents: list[Document] = []
    with closing(read_files(files, sidecars, limits=limits)) as loaded:
        for part in loaded:
            documents += part.documents
            skipped += part.skipped
    if not documents:
        reasons = "; ".join(f"{item.name}: {item.reason}" for item in skipped)
        hint = "Check the files' permissions and that they are what their suffixes say."
        raise CorpusError(f"No document in {folder} could be read ({reasons}).", hint)
    ended, unknown = end_superseded({document.name: document.metadata for document in documents})
    return [
        replace(document, metadata=ended[document.name]) for document in documents
    ], skipped + unknown


def list_sources(folder: Path) -> tuple[list[Path], list[SkippedSource]]:
    """Return the source files below a folder in a stable order, and the skipped folders.

    Hidden files and folders are left out; links that lead out of the folder are reported.

    Raises:
        CorpusError: The folder is missing, is not a folder, cannot be listed, or contains no
            source.
    """
    hint = f"Give a folder with documents ({', '.join(suffixes())})."
    try:
        os.listdir(folder)
    except (OSError, ValueError) as error:
        missing = {
            "FileNotFoundError": f"The corpus {folder} does not exist.",
            "NotADirectoryError": f"The corpus {folder} is not a folder.",
        }
        other = f"The corpus {folder} cannot be listed: {error}."
        raise CorpusError(missing.get(type(error).__name__, other), hint) from error
    files, leading_out, barred = _walk(folder, is_source)
    skipped = [SkippedSource(_name(path, folder), _LEADS_OUT) for path in leading_out]
    skipped += [
        SkippedSource(
            _name(Path(error.filename), folder), f"The folder cannot be listed: {error.strerror}."
        )
        for error in barred
    ]
    if not files and is_index(folder):
        instead = f"Ask it with --corpus {folder}, or give the folder that it was made from."
        raise CorpusError(f"{folder} is an index and no folder of documents.", instead)
    if not files:
        reasons = "".join(f" {item.name}: {item.reason}" for item in skipped)
        kinds = ", ".join(suffixes())
        message = f"The corpus {folder} contains no file that can be read ({kinds})."
        raise CorpusError(f"{message}{reasons}", hint)
    return files, skipped


def hash_sources(
    folder: Path, paths: Iterable[Path], limits: Limits | None = None
) -> tuple[list[SourceFile], list[SkippedSource]]:
    """Return each file with its hash, and the files that cannot be read."""
    files: list[SourceFile] = []
    skipped: list[SkippedSource] = []
    for path in paths:
        name = _name(path, folder)
        try:
            files.append(SourceFile(name, path, *hash_file(path, limits or Limits())))
        except CorpusError as error:
            skipped.append(SkippedSource(name, error.what))
    return files, skipped


def read_sidecars(
    folder: Path, limits: Limits | None = None
) -> tuple[Sidecars, list[SkippedSource]]:
    """Return the sidecars (``metadata.csv``) below a folder, and the problems in them.

    An unreadable sidecar holds back every document below its folder, and an unreadable row its
    document, because it is unknown who may see them.
    """
    sidecars = Sidecars()
    inside, leading_out, _ = _walk(folder, is_sidecar)
    skipped = [sidecars.bar(_name(path, folder), _LEADS_OUT) for path in leading_out]
    names = {normal(_name(path, folder)) for path in _walk(folder, bool)[0]} if inside else ()
    for path in sorted(inside, key=lambda path: len(path.parts)):
        name = _name(path, folder)
        try:
            _, sha256 = hash_file(path, limits or Limits())
            data = read_file(path, sha256, limits or Limits())
            skipped += sidecars.add(data, name, names.__contains__)
        except CorpusError as error:
            skipped.append(sidecars.bar(name, error.what))
    return sidecars, skipped


def _walk(
    folder: Path, wanted: Callable[[str], bool]
) -> tuple[list[Path], list[Path], list[OSError]]:
    """Return files of wanted names in order, links that lead out, and unlisted folders.

    Hidden files and folders are left out.
    """
    top = folder.resolve()
    inside: list[Path] = []
    leading_out: list[Path] = []
    barred: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=barred.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(parent, n) for n in names if not n.startswith(".") and wanted(n)):
            (inside if path.resolve().is_relative_to(top) else leading_out).append(path)
    return sorted(inside), sorted(leading_out), barred


def _name(path: Path, folder: Path) -> str:
    """Return the path below the corpus; bytes that are not text become escapes."""
    name = path.relative_to(folder).as_posix()
    return os.fsencode(name).decode("utf-8", "backslashreplace")
