"""How long indexing takes next to the encoder alone, how large the index is, and an update.

    python benchmarks/indexing.py --passages PASSAGES.jsonl [--every N] [--windows statements,whole]
    python benchmarks/indexing.py --documents FOLDER [--every N]

The passages that are not empty become one file of JSON Lines a document, of which every passage is
cut by itself; or the files of a folder are indexed, each Nth of them. These become an index on disk
with the shipped embedder's vectors and the rules' triplets; ``encoder s`` is what the encoder takes
of that, ``sentence-transformers s`` what that library takes to embed the same chunks once, right
behind. With the windows ``whole`` only whole chunks are embedded, with ``tokenless`` no token
vectors are stored. An update is the median of several, each after another file has changed in one
paragraph: in this process, and as the command.
"""

import copy
import json
import os
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path
from statistics import median

from _shared import LEXLOOP, Row, T, options, read_rows, table, timed

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.embedding import Embedder
from lexloop.models.minilm import genuine_folder, load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import open_index, tools_for
from lexloop.store.preparing import Tools
from lexloop.store.writer import IndexUpdate, write_index

_UPDATES = 3
_ADDED = " This holds from the day of publication."
_KINDS: dict[str, dict[str, str | bool]] = {
    "statements": {"index.windows": "statements"},
    "whole": {"index.windows": "whole"},
    "tokenless": {"index.windows": "statements", "index.token_vectors": False},
}


def main() -> None:
    """Index, encode, update, and print a table."""
    parser = options(__doc__)
    parser.add_argument("--passages", type=Path, help="with document_id and text")
    parser.add_argument("--documents", type=Path, help="a folder of files, in place of passages")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th document")
    parser.add_argument("--windows", default="statements,whole", help=f"of {', '.join(_KINDS)}")
    given = parser.parse_args()
    names = given.windows.split(",")
    # the encoder's first call prepares what later ones find ready
    load_shipped().encode(["A text."], lambda *_: None)
    with tempfile.TemporaryDirectory() as name:
        sources = Path(name) / "sources"
        if given.documents:
            files = _copy_sources(given.documents, sources, given.every)
        else:
            files = _write_sources(given.passages, sources, given.every)
        columns = [_indexing(sources, Path(name) / one, one) for one in names]
        updated = {} if given.documents else _updating(sources, Path(name) / names[0], names[0])
    print(f"{files} files, {os.cpu_count()} cores\n")
    rows = [[key, *(f"{one[key]:,}" for one in columns)] for key in columns[0]]
    print(table(["", *names], rows))
    for key, seconds in updated.items():
        print(f"{key} {seconds:.2f} s")


def _copy_sources(documents: Path, folder: Path, every: int) -> int:
    """Copy each of so many files, whatever folder they lie in; how many there are."""
    folder.mkdir()
    chosen = sorted(path for path in documents.rglob("*") if path.is_file())[::every]
    for number, path in enumerate(chosen):
        shutil.copy(path, folder / f"{number:03}{path.suffix}")
    return len(chosen)


def _write_sources(passages: Path, folder: Path, every: int) -> int:
    """One file a document; how many there are."""
    rows: dict[int, list[Row]] = defaultdict(list)
    for row in read_rows(passages):
        if row["text"].strip():
            rows[row["document_id"]].append({"id": row["id"], "text": row["text"].strip()})
    folder.mkdir()
    for number, kept in [*rows.items()][::every]:
        lines = "".join(json.dumps(row) + "\n" for row in kept)
        (folder / f"document-{number:02d}.jsonl").write_text(lines, encoding="utf-8")
    return len([*rows][::every])


def _clocked() -> tuple[Embedder, list[float]]:
    """The embedder that ships, and the seconds of each call that indexing makes of it."""
    embedder, spent = copy.copy(load_shipped()), list[float]()

    def clocked(encode: Callable[..., T]) -> Callable[..., T]:
        def run(*given: object) -> T:
            seconds, made = timed(lambda: encode(*given))
            spent.append(seconds)
            return made

        return run

    for name in ("encode", "encode_tokens"):
        setattr(embedder, name, clocked(getattr(embedder, name)))
    return embedder, spent


def _indexing(sources: Path, index: Path, windows: str) -> dict[str, float]:
    embedder, spent = _clocked()
    tools = tools_for(Settings.model_validate(_KINDS[windows]), embedder)
    took, outcome = timed(lambda: _write(index, sources, tools))
    encoder, size = sum(spent), _bytes(index.rglob("*"))
    plainly = _plainly(index, embedder)
    return {
        "chunks": outcome.counts["chunks"],
        "vectors": outcome.counts["windows"],
        "triplets": outcome.counts["triplets"],
        "index s": round(took, 2),
        "encoder s": round(encoder, 2),
        "times the encoder": round(took / encoder, 3),
        "sentence-transformers s": round(plainly, 2),
        "times sentence-transformers": round(took / plainly, 3),
        "bytes": size,
        "of these token vectors": _bytes(index.rglob("token*.npy")),
        "bytes a chunk": round(size / outcome.counts["chunks"]),
    }


def _plainly(index: Path, embedder: Embedder) -> float:
    """The seconds that sentence-transformers takes to embed an index's chunks once."""
    from sentence_transformers import SentenceTransformer

    collection = open_index(index, embedder)
    view = collection.seen_by(Filters())
    texts = [chunk["text"] for chunk in view.every_chunk()]
    collection.close()
    model = SentenceTransformer(str(genuine_folder()), device="cpu")
    model.encode(texts[:2])
    return timed(lambda: model.encode(texts, show_progress_bar=False))[0]


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


def _updating(sources: Path, index: Path, windows: str) -> dict[str, float]:
    tools = tools_for(Settings.model_validate(_KINDS[windows]), load_shipped())
    command = [*LEXLOOP, "index", "update", str(index)]
    ways: dict[str, Callable[[], object]] = {
        "an update in a process that is up": lambda: _write(index, sources, tools),
        "the same as a command": lambda: subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL
        ),
    }
    files = cycle(sorted(sources.iterdir()))
    return {
        name: median(_update(next(files), update) for _ in range(_UPDATES))
        for name, update in ways.items()
    }


def _update(changed: Path, update: Callable[[], object]) -> float:
    """Seconds of an update after a passage in the middle of a file was reworded."""
    lines = changed.read_text(encoding="utf-8").splitlines()
    middle = len(lines) // 2
    row = json.loads(lines[middle])
    lines[middle] = json.dumps({**row, "text": row["text"] + _ADDED})
    changed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return timed(update)[0]


def _write(index: Path, sources: Path, tools: Tools) -> IndexUpdate:
    return write_index(index, [IndexSource(str(sources))], tools)


if __name__ == "__main__":
    main()
