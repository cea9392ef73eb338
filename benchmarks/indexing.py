"""How long indexing takes next to the encoder alone, how large the index is, and an update.

    python benchmarks/indexing.py --passages PASSAGES.jsonl [--every N]

The passages that are not empty become one file of JSON Lines a document, of which every passage is
cut by itself. These become an index on disk with the shipped embedder's vectors and the rules'
triplets. ``encoder_s`` is what the encoder alone takes for exactly the texts that were embedded, in
the same process right after; for the keys that begin with ``whole_`` only whole chunks were
embedded, for ``tokenless_`` no token vectors were stored. With ``--every`` only every Nth text is
read and the others get its vectors: bytes are as they would be, and ``whole_time_s`` is what
indexing would take, the encoder's time counted for all texts. An update is the median of several,
each after another file has changed in one paragraph: in this process, and as the command.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import TypeVar

from _listening import Listener

from lexloop.core.settings import Settings
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools
from lexloop.store.writer import IndexUpdate, write_index

T = TypeVar("T")
_UPDATES = 3
_ADDED = " This holds from the day of publication."
_KINDS: dict[str, tuple[str, dict[str, str | bool]]] = {
    "statements": ("", {"index.windows": "statements"}),
    "whole": ("whole_", {"index.windows": "whole"}),
    "tokenless": ("tokenless_", {"index.windows": "statements", "index.token_vectors": False}),
    "tokenless_whole": (
        "tokenless_whole_",
        {"index.windows": "whole", "index.token_vectors": False},
    ),
}
"""What its figures' keys begin with, and how a chunk is embedded."""


def main() -> None:
    """Index, encode, update, and print flat JSON."""
    options = _options()
    figures: dict[str, float | int | str | None] = {}
    load_shipped().encode(
        ["The encoder's first call prepares what later ones find ready."], _silent
    )
    with tempfile.TemporaryDirectory() as name:
        sources = Path(name) / "sources"
        figures["files"] = _write_sources(options.passages, sources)
        for windows in options.windows.split(","):
            index = Path(name) / windows
            figures |= _indexing(sources, index, windows, options.every)
            print(json.dumps(figures), file=sys.stderr, flush=True)
            if windows == "statements" and options.every == 1:
                figures |= _updating(sources, index)
    figures["cores"] = os.cpu_count()
    print(json.dumps(figures, indent=2))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="with document_id and text")
    parser.add_argument("--windows", default="statements,whole", help=f"of {', '.join(_KINDS)}")
    parser.add_argument("--every", type=int, default=1, help="read every Nth text")
    return parser.parse_args()


def _write_sources(passages: Path, folder: Path) -> int:
    """One file a document; how many there are."""
    rows: dict[int, list[dict[str, str]]] = defaultdict(list)
    with passages.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["text"].strip():
                rows[row["document_id"]].append({"id": row["id"], "text": row["text"].strip()})
    folder.mkdir()
    for number, kept in rows.items():
        lines = "".join(json.dumps(row) + "\n" for row in kept)
        (folder / f"document-{number:02d}.jsonl").write_text(lines, encoding="utf-8")
    return len(rows)


def _indexing(sources: Path, index: Path, windows: str, every: int) -> dict[str, float | int]:
    listener = Listener(every)
    prefix, settings = _KINDS[windows]
    tools = tools_for(Settings.model_validate(settings), listener)
    took, outcome = _seconds(lambda: _write(index, sources, tools))
    alone = listener.encoder_s()
    size, tokens = _bytes(index.rglob("*")), _bytes(index.rglob("token*.npy"))
    figures = {
        "chunks": outcome.counts["chunks"],
        "triplets": outcome.counts["triplets"],
        "texts": listener.given,
        "index_s": round(took, 2),
        "encoder_s": round(alone, 2),
        "ratio_encoder": round(took / alone, 3),
        "whole_time_s": round(took + alone * (listener.given / len(listener.texts) - 1), 2),
        "index_bytes": size,
        "tokens_bytes": tokens,
        "bytes_per_chunk": round(size / outcome.counts["chunks"]),
    }
    return {f"{prefix}{name}": value for name, value in figures.items()}


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


def _updating(sources: Path, index: Path) -> dict[str, float]:
    tools = tools_for(Settings(), load_shipped())
    command = [sys.executable, "-m", "lexloop.apps.cli", "index", "update", str(index)]
    files = sorted(sources.iterdir())
    here = [_update(path, lambda: _write(index, sources, tools)) for path in files[:_UPDATES]]
    commands = [
        _update(path, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        for path in files[-_UPDATES:]
    ]
    return {
        "update_s": round(median(here), 3),
        "update_command_s": round(median(commands), 3),
    }


def _update(changed: Path, update: Callable[[], object]) -> float:
    """Seconds of an update after a passage in the middle of a file was reworded."""
    lines = changed.read_text(encoding="utf-8").splitlines()
    middle = len(lines) // 2
    row = json.loads(lines[middle])
    lines[middle] = json.dumps({**row, "text": row["text"] + _ADDED})
    changed.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return _seconds(update)[0]


def _write(index: Path, sources: Path, tools: Tools) -> IndexUpdate:
    return write_index(index, [IndexSource(str(sources))], tools)


def _seconds(run: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = run()
    return time.perf_counter() - began, result


def _silent(done: int, total: int) -> None:
    """A progress report that nobody reads."""


if __name__ == "__main__":
    main()
