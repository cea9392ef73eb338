"""What the benchmarks of ingestion over Ray share: laws, a cluster, and two indexes compared."""

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.models.minilm import load_shipped
from lexloop.store.folder.store import open_folder
from lexloop.store.protocol import PreparedDocument

_CLOSE = 2e-3
"""How far numbers of vectors may lie apart: batches of other sizes round otherwise."""


def write_laws(folder: Path, count: int, sections: int) -> None:
    """Write laws of so many sections each, no two of which are the same."""
    folder.mkdir(parents=True)
    for law in range(count):
        paragraphs = (
            f"§ {part} Berths of class {law}-{part}. The owner of a berth must pay fee {part * 7} "
            f"within {law % 28 + 2} days of the notice. A boat longer than {part + 5} metres may "
            f"not moor at quay {law} at night, unless the harbour master has given leave. Leave "
            f"means a written permit under section {part % 9 + 1} of the act on harbours."
            for part in range(1, sections + 1)
        )
        text = "\n\n".join([f"Harbour Act {law}", *paragraphs])
        (folder / f"act-{law:04}.txt").write_text(text, encoding="utf-8")


def compared(index: Path, sound: Path) -> dict[str, int]:
    """Count the documents of an index that are lost, doubled or unlike those of a sound one."""
    embedder = load_shipped()
    with (
        closing(open_folder(index, embedder)) as there,
        closing(open_folder(sound, embedder)) as wanted,
    ):
        one, other = there.lexical, wanted.lexical
        same = list(one.terms) == list(other.terms) and (one.weights != other.weights).nnz == 0
        names, known = Counter(there.catalogue.names), Counter(wanted.catalogue.names)
        made = {name: there.made_of(name) for name in names}
        wrong = sum(not _same(made.get(name), wanted.made_of(name)) for name in known)
    lost = sum((known - names).values())
    doubled = sum((names - known).values())
    return {"lost": lost, "doubled": doubled, "wrong": wrong - lost + (not same)}


def _same(one: PreparedDocument | None, other: PreparedDocument) -> bool:
    if one is None or one.document != other.document or len(one.chunks) != len(other.chunks):
        return False
    return all(_same_chunk(a, b) for a, b in zip(one.chunks, other.chunks, strict=True))


def _same_chunk(one: Any, other: Any) -> bool:
    made = "chunk", "statements", "triplets"
    return (
        all(getattr(one, name) == getattr(other, name) for name in made)
        and np.array_equal(one.marks, other.marks)
        and one.vectors.shape == other.vectors.shape
        and bool(np.abs(one.vectors - other.vectors).max(initial=0) < _CLOSE)
    )
