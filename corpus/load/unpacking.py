"""How much an archive may unpack to, told from its list before anything is unpacked."""

import zipfile
from collections.abc import Sequence

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.document import Limits


def check_size(members: Sequence[zipfile.ZipInfo], packed: int, limits: Limits) -> None:
    """Refuse an archive that unpacks to too much; the sizes it states are enforced on reading.

    Args:
        members: The archive's list.
        packed: The archive's own bytes.
        limits: What it may unpack to.

    Raises:
        CorpusError: It has too many members, or becomes too large or too many times larger.
    """
    if len(members) > limits.archive_members:
        raise CorpusError(
            f"It has {len(members)} members, more than {limits.archive_members}.",
            "Split the archive.",
        )
    unpacked = sum(info.file_size for info in members)
    if unpacked > limits.archive_bytes:
        raise CorpusError(
            f"It unpacks to {unpacked} bytes, more than {limits.archive_bytes}.",
            "Split the archive.",
        )
    if unpacked > limits.archive_free and unpacked > limits.archive_ratio * packed:
        raise CorpusError(
            f"It unpacks to {unpacked // max(1, packed)} times its size, as a bomb does.",
            "Give the files unpacked.",
        )
