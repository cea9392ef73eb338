"""How long indexing takes next to the encoder alone, and an update with one changed file.

    python benchmarks/indexing.py --passages PASSAGES.jsonl [--json OUT]

The passages that are not empty become one file a document: JSON Lines, of which every passage is
cut by itself, or plain text, which is cut as a whole. These become an index on disk with MiniLM's
vectors and the rules' triplets. ``encoder_s`` is what the encoder alone takes for exactly
the texts that were embedded, in the same process right after; for the keys that begin with
``whole_`` only whole chunks were embedded, for ``tokenless_`` no token vectors were stored. An
update is the median of several, each after another file has changed in one paragraph: in this
process, and as the command.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

from lexloop.core.settings import Settings
from lexloop.corpus.index.manifest import Source
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.index.writer import Outcome, write_index
from lexloop.corpus.opening import tools_for
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import load_minilm
from lexloop.models.tokens import Codes

T = TypeVar("T")
_UPDATES = 3
_BETWEEN = {"jsonl": "\n", "txt": "\n\n"}
_ADDED = " This holds from the day of publication."
_KINDS: dict[str, tuple[str, dict[str, str | bool]]] = {
    "statements": ("", {"windows": "statements"}),
    "whole": ("whole_", {"windows": "whole"}),
    "tokenless": ("tokenless_", {"windows": "statements", "token_vectors": False}),
    "tokenless_whole": ("tokenless_whole_", {"windows": "whole", "token_vectors": False}),
}
"""What its figures' keys begin with, and how a chunk is embedded."""


class Listener:
    """MiniLM, and the texts that it was given to encode."""

    def __init__(self) -> None:
        self._minilm = load_minilm()
        self.name, self.dimension = self._minilm.name, self._minilm.dimension
        self.window = self._minilm.window
        self.texts: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:
        """As MiniLM."""
        return self._minilm.embed(texts)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        """As MiniLM; the texts are kept."""
        self.texts += texts
        return self._minilm.encode(texts, progress)

    def token_codes(self, text: str) -> Codes:
        """As MiniLM."""
        return self._minilm.token_codes(text)

    def encode_tokens(self, texts: Sequence[str], progress: Progress) -> tuple[Halves, list[Codes]]:
        """As MiniLM; the texts are kept."""
        self.texts += texts
        return self._minilm.encode_tokens(texts, progress)

    def count_tokens(self, text: str) -> int:
        """As MiniLM."""
        return self._minilm.count_tokens(text)

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        """As MiniLM."""
        return self._minilm.count_tokens_many(texts)

    def encoder_s(self) -> float:
        """Seconds that MiniLM alone takes for the texts."""
        return _seconds(lambda: self._minilm.encode(self.texts, _silent))[0]


def main() -> None:
    """Index, encode, update; print flat JSON and write it where asked."""
    options = _options()
    figures: dict[str, float | int | str | None] = {}
    load_minilm().encode(["The encoder's first call prepares what later ones find ready."], _silent)
    with tempfile.TemporaryDirectory() as name:
        sources = Path(name) / "sources"
        figures["files"] = _write_sources(options.passages, sources, options.files)
        for windows in options.windows.split(","):
            index = Path(name) / windows
            figures |= _indexing(sources, index, windows)
            print(json.dumps(figures), file=sys.stderr, flush=True)
            if windows == "statements":
                figures |= _updating(sources, index)
    figures["cores"] = os.cpu_count()
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--passages", type=Path, required=True, help="with document_id and text")
    parser.add_argument("--files", choices=("jsonl", "txt"), default="jsonl")
    parser.add_argument("--windows", default="statements,whole", help=f"of {', '.join(_KINDS)}")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    return parser.parse_args()


def _write_sources(passages: Path, folder: Path, kind: str) -> int:
    """One file a document; how many there are."""
    rows: dict[int, list[dict[str, str]]] = defaultdict(list)
    with passages.open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["text"].strip():
                rows[row["document_id"]].append({"id": row["id"], "text": row["text"].strip()})
    folder.mkdir()
    for number, kept in rows.items():
        parts = [json.dumps(row) if kind == "jsonl" else row["text"] for row in kept]
        path = folder / f"document-{number:02d}.{kind}"
        path.write_text(_BETWEEN[kind].join(parts) + "\n", encoding="utf-8")
    return len(rows)


def _indexing(sources: Path, index: Path, windows: str) -> dict[str, float | int]:
    listener = Listener()
    prefix, settings = _KINDS[windows]
    tools = tools_for(Settings.model_validate(settings), listener)
    took, outcome = _seconds(lambda: _write(index, sources, tools))
    alone = listener.encoder_s()
    figures = {
        "chunks": outcome.counts["chunks"],
        "triplets": outcome.counts["triplets"],
        "texts": len(listener.texts),
        "index_s": round(took, 2),
        "encoder_s": round(alone, 2),
        "ratio_encoder": round(took / alone, 3),
        "index_mb": _megabytes(index.rglob("*")),
        "tokens_mb": _megabytes(index.rglob("token*.npy")),
    }
    return {f"{prefix}{name}": value for name, value in figures.items()}


def _megabytes(paths: Iterable[Path]) -> float:
    return round(sum(path.stat().st_size for path in paths if path.is_file()) / 1e6, 1)


def _updating(sources: Path, index: Path) -> dict[str, float]:
    tools = tools_for(Settings(), load_minilm())
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
    between = _BETWEEN[changed.suffix[1:]]
    parts = changed.read_text(encoding="utf-8").split(between)
    middle = len(parts) // 2
    if changed.suffix == ".jsonl":
        row = json.loads(parts[middle])
        parts[middle] = json.dumps({**row, "text": row["text"] + _ADDED})
    else:
        parts[middle] += _ADDED
    changed.write_text(between.join(parts), encoding="utf-8")
    return _seconds(update)[0]


def _write(index: Path, sources: Path, tools: Tools) -> Outcome:
    return write_index(index, [Source(str(sources))], tools)


def _seconds(run: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    result = run()
    return time.perf_counter() - began, result


def _silent(done: int, total: int) -> None:
    """A progress report that nobody reads."""


if __name__ == "__main__":
    main()
