"""Uploaded collections: their folders, and the requests that bring files.

ROOT/HOME/NAME/documents holds the files as they were uploaded, ROOT/HOME/NAME/index their index.
HOME is the result of ``home_of`` for the owner's name. ROOT/HOME/NAME/pending exists from before a
change of the files until the index has it. Folders whose names begin with a dot are not complete
yet, or being deleted.
"""

import os
import re
import secrets
import shutil
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path, PurePosixPath
from threading import Lock

from pydantic import BaseModel
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from lexloop.apps.shapes.text import UNSAFE
from lexloop.core.errors import (
    ConflictError,
    InputError,
    LexloopError,
    NotFoundError,
    TooLargeError,
)
from lexloop.core.files import is_index, move, sync
from lexloop.documents.reading.formats import is_known, suffixes
from lexloop.documents.reading.metadata import is_sidecar, normal
from lexloop_server.homes import PENDING, folders_in, home_of
from lexloop_server.settings import NAME

STAGED, GONE = ".upload-", ".deleted-"
_LONGEST_PART, _LONGEST_NAME, _DEEPEST = 200, 1000, 20
"""Bytes of a part of a name and of the whole, and the most parts."""
_MOST_COLLECTIONS = 100
_MOST_BYTES = 1 << 40
MB = 1 << 20
_AS_A_FORM = "Send a form with files in its field `files`."
FIELD = "files"
_THERE = "It is there already; say that it is to be replaced."


@dataclass(frozen=True)
class Uploaded:
    """A collection that somebody uploaded."""

    name: str
    folder: Path

    @property
    def documents(self) -> Path:
        """The folder of the uploaded files."""
        return self.folder / "documents"

    @property
    def index(self) -> Path:
        """The folder of their index."""
        return self.folder / "index"

    @property
    def _pending(self) -> Path:
        return self.folder / PENDING

    @property
    def indexed(self) -> bool:
        """True if there is an index, even of earlier files."""
        return is_index(self.index)

    def files(self) -> list[str]:
        """Return the names of the uploaded files, in order."""
        files_below = (path for path in self.documents.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.documents).as_posix() for path in files_below)

    def mark(self) -> None:
        """Note that the files change, so that the index must follow. Works on a full disk."""
        self._pending.touch(mode=0o600)
        time_ns = time.time_ns()
        os.utime(self._pending, ns=(time_ns, time_ns))
        sync(self.folder)

    def change(self) -> str:
        """Return an identifier of the last change that the index may not have, or ""."""
        try:
            return str(self._pending.stat().st_mtime_ns)
        except OSError:
            return ""

    def settle(self, change: str) -> None:
        """Note that the index has a change, unless there is another by now."""
        if change and self.change() == change:
            self._pending.unlink(missing_ok=True)


@dataclass(frozen=True)
class Received:
    """A file that was sent and lies in a staging folder."""

    name: str
    path: Path


class RefusedFile(BaseModel):
    """A file that was not taken. ``exists`` says that it could be replaced."""

    name: str
    reason: str
    exists: bool


class UploadStore:
    """The uploaded collections of all people.

    Args:
        root: Their folder, created with the first.
        most_bytes: The maximum bytes of one person's files.
    """

    def __init__(self, root: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._root, self._most_bytes = root, most_bytes
        self._lock, self._counting = Lock(), Lock()
        self._coming = Counter[Path]()
        self._staged = f"{STAGED}{secrets.token_hex(4)}-"  # folders of this process

    def of(self, owner: str) -> dict[str, Uploaded]:
        """Return somebody's collections by their names, in order."""
        return {
            folder.name: Uploaded(folder.name, folder)
            for folder in folders_in(home_of(self._root, owner))
        }

    def every(self) -> list[Uploaded]:
        """Return the collections of all people."""
        return [
            Uploaded(folder.name, folder)
            for home in folders_in(self._root)
            for folder in folders_in(home)
        ]

    def make(self, owner: str, name: str, taken: Iterable[str] = ()) -> Uploaded:
        """Make an empty collection; names that are ``taken`` it cannot have either.

        Raises:
            InputError: It cannot be called so, or the person has too many.
            ConflictError: There is one of that name.
        """
        checked_name = _collection_name(name)
        with self._lock:
            own = self.of(owner)
            if checked_name.casefold() in {other.casefold() for other in (*own, *taken)}:
                raise ConflictError(
                    f"There is a collection {checked_name!r} already.", "Name another."
                )
            if len(own) >= _MOST_COLLECTIONS:
                raise InputError(f"You have {len(own)} collections.", "Delete one of them.")
            with on_disk(checked_name):
                folder = home_of(self._root, owner) / checked_name
                folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                folder.mkdir(mode=0o700)
                _sync_up(folder, self._root.parent)
        return Uploaded(checked_name, folder)

    def delete(self, one: Uploaded) -> None:
        """Delete a collection; who reads its index goes on until the end.

        Raises:
            LexloopError: The disk does not let it.
        """
        gone = one.folder.with_name(f"{GONE}{secrets.token_hex(8)}")
        with self._lock, on_disk(one.name):
            one.folder.rename(gone)
            sync(gone.parent)  # deleted files must not come back after a power failure
        shutil.rmtree(gone, ignore_errors=True)

    def reserve(self, one: Uploaded, size: int) -> None:
        """Count the size of a coming upload among the files of its owner, until it is released.

        Raises:
            TooLargeError: The person would exceed their limit.
        """
        home = one.folder.parent
        with self._lock, on_disk(one.name):
            own = (Uploaded(place.name, place) for place in folders_in(home))
            size_now = sum(
                (collection.documents / file).stat().st_size
                for collection in own
                for file in collection.files()
            )
            with self._counting:
                if size_now + self._coming[home] + size > self._most_bytes:
                    raise TooLargeError(
                        f"You would have more than {self._most_bytes / MB:g} MB of files here, "
                        "with those that are being sent (limits.stored_mb).",
                        "Remove some first, or wait until the others have come.",
                    )
                self._coming[home] += size

    def release(self, one: Uploaded, size: int) -> None:
        """Stop counting a reserved size. The files were added, or did not come."""
        with self._counting:
            self._coming[one.folder.parent] -= size

    @contextmanager
    def staging(self, one: Uploaded) -> Iterator[Path]:
        """Create a folder for a coming upload, and delete what is left in it at the end.

        Raises:
            LexloopError: It cannot be created.
        """
        folder = one.folder / f"{self._staged}{secrets.token_hex(8)}"
        with on_disk(one.name):
            folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(
        self, one: Uploaded, received: Iterable[Received], replace: bool
    ) -> tuple[list[str], list[RefusedFile]]:
        """Move received files among the documents, each atomically.

        Room must have been reserved. With ``replace``, a file may take the place of another.

        Returns:
            The names of the files that were added, and the files that were not.

        Raises:
            LexloopError: The disk refuses.
        """
        added: list[str] = []
        refused: list[RefusedFile] = []
        with self._lock, on_disk(one.name):
            for file in received:
                place = one.documents / file.name
                if why := _hindrance(one.documents, place, replace):
                    refused.append(RefusedFile(name=file.name, reason=why, exists=why == _THERE))
                    continue
                if not added:
                    one.mark()
                place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                move(file.path, place)
                added.append(file.name)
            for folder in {(one.documents / name).parent for name in added}:
                _sync_up(folder, one.folder)
        return added, refused

    def remove(self, one: Uploaded, file: str) -> None:
        """Remove an uploaded file.

        Raises:
            NotFoundError: There is no file with that name.
        """
        with self._lock, on_disk(one.name):
            if file not in one.files():
                raise NotFoundError(f"There is no file {file!r}.", "See the documents.")
            one.mark()
            place = one.documents / file
            place.unlink()
            sync(place.parent)
            one.mark()  # an index being written may still have read it
            for parent in place.relative_to(one.documents).parents:
                with suppress(OSError):  # removed only if it is empty
                    (one.documents / parent).rmdir()

    def sweep(self) -> None:
        """Remove what an earlier process left half done. Only one process serves these folders."""
        for home in folders_in(self._root):
            for gone in home.glob(f"{GONE}*"):
                shutil.rmtree(gone, ignore_errors=True)
            for collection in folders_in(home):
                for staged in collection.glob(f"{STAGED}*"):
                    if not staged.name.startswith(self._staged):
                        shutil.rmtree(staged, ignore_errors=True)


class Receiver:
    """Takes the bytes of a body, and writes the files that it holds.

    Args:
        content_type: The content type of the request, with the boundary.
        folder: The folder for the files, which get arbitrary names.
        files: The maximum number of files in one body.

    Raises:
        InputError: It is not a multipart body.
    """

    def __init__(self, content_type: str, folder: Path, files: int) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise InputError("The body is not a form with files.", _AS_A_FORM)
        self.received: list[Received] = []
        self.refused: list[RefusedFile] = []
        self._folder, self._most, self._whole = folder, files, False
        self._names: list[str] = []
        self._header, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._file: FileIO | None = None
        try:
            self._parser = MultipartParser(
                options[b"boundary"],
                {
                    "on_part_begin": self._part_begun,
                    "on_header_field": self._field_read,
                    "on_header_value": self._value_read,
                    "on_header_end": self._header_ended,
                    "on_headers_finished": self._headers_ended,
                    "on_part_data": self._data_read,
                    "on_part_end": self._part_ended,
                    "on_end": self._ended,
                },
            )
        except FormParserError as error:
            raise _malformed(error) from error

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises:
            InputError: They are not a multipart body, or hold too many files.
            LexloopError: A file cannot be written.
        """
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise _malformed(error) from error
        except OSError as error:
            raise LexloopError(
                f"The upload cannot be written: {error.strerror}.",
                "Ask the operator to check the disk.",
            ) from error

    def finish(self) -> None:
        """Check that the body came whole.

        Raises:
            InputError: It was cut off.
        """
        if not self._whole:
            raise InputError("The upload was cut off: its end is missing.", "Send it again.")

    def close(self) -> None:
        """Close a file that was begun."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _part_begun(self) -> None:
        self._headers, self._header, self._value = {}, b"", b""

    def _field_read(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _value_read(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ended(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _headers_ended(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if options.get(b"name") != FIELD.encode() or b"filename" not in options:
            return
        if len(self.received) + len(self.refused) >= self._most:
            raise TooLargeError(
                f"More than {self._most} files were sent at once.", "Send fewer at once."
            )
        raw_name = options[b"filename"].decode("utf-8", "replace")
        try:
            name = file_name(raw_name)
        except InputError as error:
            self._refuse(raw_name, error.what)
            return
        if name in self._names:
            self._refuse(name, "It was sent twice.")
            return
        self._names.append(name)
        handle = os.open(self._place(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = FileIO(handle, "w")

    def _place(self) -> Path:
        return self._folder / str(len(self._names))

    def _data_read(self, data: bytes, start: int, end: int) -> None:
        remaining = memoryview(data)[start:end]
        while self._file is not None and remaining:
            remaining = remaining[self._file.write(remaining) :]

    def _part_ended(self) -> None:
        if self._file is None:
            return
        size = self._file.tell()
        self.close()
        if size:
            self.received.append(Received(self._names[-1], self._place()))
        else:
            self._refuse(self._names[-1], "It is empty.")

    def _ended(self) -> None:
        self._whole = True

    def _refuse(self, name: str, reason: str) -> None:
        self.refused.append(RefusedFile(name=name[:200], reason=reason, exists=False))


def _malformed(error: Exception) -> InputError:
    return InputError(f"The body is not a form with files: {error}.", _AS_A_FORM)


def file_name(said: str) -> str:
    """Return the name of an uploaded file, with its folders.

    Raises:
        InputError: It leads elsewhere, cannot be a file's, or is of no kind that is read.
    """
    name = normal(said)
    parts = name.split("/")
    if not name or len(name.encode("utf-8", "replace")) > _LONGEST_NAME or len(parts) > _DEEPEST:
        raise InputError("It has no name, or one that is too long.", "Name it otherwise.")
    if any(_is_odd(part) for part in parts):
        raise InputError("Its name leads elsewhere or cannot be a file's.", "Name it otherwise.")
    if any(part.startswith(".") for part in parts):
        raise InputError("It is hidden: its name begins with a dot.", "Name it otherwise.")
    if not is_known(PurePosixPath(name).suffix.lower()) and not is_sidecar(parts[-1]):
        kinds = ", ".join(suffixes())
        raise InputError(f"Files of its kind are not read; those that are: {kinds}.", "Convert it.")
    return name


def _is_odd(part: str) -> bool:
    """Return whether a part of a name could name something else than a file below a folder."""
    odd = UNSAFE.search(part) or any(unicodedata.category(c) == "Cc" or c == "\\" for c in part)
    long = len(part.encode("utf-8", "replace")) > _LONGEST_PART
    return bool(odd) or long or part in ("", ".", "..") or part != part.strip()


def _collection_name(text: str) -> str:
    name = normal(text).strip()
    if not re.fullmatch(NAME, name) or len(name.encode()) > _LONGEST_PART:
        raise InputError(
            f"A collection cannot be called {text[:100]!r}.",
            "Take letters, digits, blanks, hyphens and dots, and begin with a letter or digit.",
        )
    return name


def _hindrance(top: Path, place: Path, replace: bool) -> str:
    """Return why a file cannot be put at a place, or "" if it can."""
    if place.is_dir():
        return "There is a folder of that name."
    if any(parent.is_file() for parent in place.parents if parent.is_relative_to(top)):
        return "There is a file where its folder would be."
    return _THERE if place.exists() and not replace else ""


def _sync_up(folder: Path, top: Path) -> None:
    """Flush the names in a folder and in those above it, up to and including ``top``.

    Raises:
        OSError: One of them cannot be flushed.
    """
    for place in (folder, *folder.parents):
        sync(place)
        if place == top:
            return


@contextmanager
def on_disk(name: str) -> Iterator[None]:
    """Convert a failure of the disk into our error.

    Raises:
        LexloopError: The disk refuses.
    """
    try:
        yield
    except OSError as error:
        raise LexloopError(
            f"The collection {name} cannot be changed: {error.strerror}.",
            "Ask the operator to check the disk.",
        ) from error
