"""What lies beside the documents and is of no kind that is read."""

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexloop.corpus.index.manifest import Source


def other_kinds(sources: "Iterable[Source]") -> dict[str, int]:
    """How many visible files of each other suffix the sources hold."""
    from lexloop.corpus.load.formats import SUFFIXES
    from lexloop.corpus.load.sidecar import SIDECAR

    kinds: Counter[str] = Counter()
    for source in sources:
        for _, folders, names in os.walk(source.path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            seen = (name for name in names if not name.startswith(".") and name != SIDECAR)
            kinds.update(Path(name).suffix.lower() for name in seen)
    return {kind or "no suffix": count for kind, count in kinds.items() if kind not in SUFFIXES}
