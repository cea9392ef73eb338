""".zip: an archive of files."""

import io
import stat
import zipfile
from collections.abc import Iterator

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.source import DAMAGED, Limits, check_size

_ENCRYPTED = 0x1


class Archive:
    """An archive of files, opened by ``opened``.

    Args:
        file: The archive.
    """

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._infos = [info for info in file.infolist() if not info.is_dir()]
        self.members = [_printed(info.filename) for info in self._infos]
        """The names of the members in order, as printable text; a name may occur twice."""

    def read(self, number: int) -> bytes:
        """Return the content of a member, by its place in ``members``.

        Raises:
            CorpusError: The member leads out of the archive, is not a regular file, or cannot be
                unpacked.
        """
        info = self._infos[number]
        parts = info.filename.replace("\\", "/").split("/")
        if ".." in parts:
            raise CorpusError("Its name leads out of the archive (..).", "Pack it again.")
        if parts[0] == "" or parts[0][1:2] == ":":
            raise CorpusError("Its name is absolute.", "Pack it again.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CorpusError("It is a link.", "Pack the file itself.")
        if info.flag_bits & _ENCRYPTED:
            raise CorpusError("It is encrypted.", "Pack it without a password.")
        try:
            return self._file.read(info)
        except DAMAGED as error:
            raise CorpusError(f"It cannot be unpacked ({error}).", "Pack it again.") from error

    def own(self, name: str) -> Iterator[Document | SkippedSource]:
        """Yield nothing: an archive has no text of its own."""
        yield from ()


def opened(data: bytes, limits: Limits) -> Archive:
    """Open an archive that stays within the limits.

    Raises:
        CorpusError: The archive is damaged or unpacks to too much.
    """
    try:
        file = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGED as error:
        raise CorpusError(f"It is a damaged archive ({error}).", "Pack it again.") from error
    check_size([info for info in file.infolist() if not info.is_dir()], len(data), limits)
    return Archive(file)


def _printed(name: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
