"""Zip archives, which may be bombs: their members, and what each of them holds."""

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.source import Limits

_ENCRYPTED = 0x1
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


class Archive:
    """An archive of files, opened by ``open_archive``.

    Args:
        file: The archive.
    """

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._infos = [info for info in file.infolist() if not info.is_dir()]
        self.members = [_printed(info.filename) for info in self._infos]
        """The names of its members in order, as text of one line; one may come twice."""

    def read(self, number: int) -> bytes:
        """Return the content of a member, by its place in ``members``.

        Raises:
            CorpusError: It leads out of the archive, is no plain file, or cannot be unpacked.
        """
        info = self._infos[number]
        parts = info.filename.replace("\\", "/").split("/")
        if ".." in parts:
            raise CorpusError("Its name leads out of the archive (..).", "Pack it anew.")
        if parts[0] == "" or parts[0][1:2] == ":":
            raise CorpusError("Its name is absolute.", "Pack it anew.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CorpusError("It is a link.", "Pack the file itself.")
        if info.flag_bits & _ENCRYPTED:
            raise CorpusError("It is encrypted.", "Pack it without a password.")
        if info.filename.lower().endswith(".zip"):
            raise CorpusError("It is an archive within an archive.", "Unpack it.")
        try:
            return self._file.read(info)
        except DAMAGED as error:
            raise CorpusError(f"It cannot be unpacked ({error}).", "Pack it anew.") from error


@contextmanager
def open_archive(data: bytes, limits: Limits) -> Iterator[Archive]:
    """Open an archive that stays within the limits.

    Raises:
        CorpusError: It is damaged or unpacks to too much.
    """
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it anew.") from error
    with file:
        check_size([info for info in file.infolist() if not info.is_dir()], len(data), limits)
        yield Archive(file)


def read_member(data: bytes, inside: str, limits: Limits) -> bytes:
    """Return the content of one member of an archive, named as its document below the archive.

    Raises:
        CorpusError: There is none, or it or the archive cannot be unpacked.
    """
    with open_archive(data, limits) as archive:
        if inside in archive.members:
            return archive.read(archive.members.index(inside))
    raise CorpusError(f"It holds no {inside}.", "Index it anew.")


def check_size(members: Sequence[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    """Check the size and number of an archive's members against the limits.

    The sizes that its list of members states are enforced on reading.

    Raises:
        CorpusError: It has too many members, or becomes too large or too many times larger.
    """
    unpacked = sum(info.file_size for info in members)
    what, hint = "", "Split the archive."
    if len(members) > limits.archive_members:
        what = f"It has {len(members)} members, more than {limits.archive_members}."
    elif unpacked > limits.archive_bytes:
        what = f"It unpacks to {unpacked} bytes, more than {limits.archive_bytes}."
    elif unpacked > limits.archive_free and unpacked > limits.archive_ratio * packed:
        what = f"It unpacks to {unpacked // max(1, packed)} times its size, as a bomb does."
        hint = "Give the files unpacked."
    if what:
        raise CorpusError(what, hint)


def _printed(name: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
