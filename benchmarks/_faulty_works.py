"""What Lexloop writes, done with calls that fail: run by ``_faults.py``, which loads ``_faults.c``.

Prints a record for each fault as a line of JSON.
"""

import gc
import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _faults import Faulty, Work
from _shared import options
from indexes import Letters, letter_tools
from kills import act, held

from lexloop.core.arrays import faiss_library
from lexloop.core.files import MANIFEST, is_index
from lexloop.core.jsonl import write_checked
from lexloop.core.metadata import Filters
from lexloop.core.text_cache import TextCache
from lexloop.store import scan
from lexloop.store.folder.generations import GENERATIONS, LOCK
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import index_key, open_corpus, open_index
from lexloop.store.writer import remove_documents, write_index
from lexloop_eval.case import Case
from lexloop_eval.record import RunFolder, unanswered

_FILES = 4
_IN_MEMORY = Path("/dev/shm")
"""Where there is one, thousands of indexes need not wait for a disk."""


def _write(names: str, place: Path, kind: str = "auto") -> None:
    sources = [IndexSource(str(Path(name).absolute())) for name in names.split()]
    write_index(place / "index", sources, letter_tools(**{"index.dense": kind}))


def _remove(place: Path) -> None:
    remove_documents(place / "index", ["act-1.txt", "act-3.txt"], letter_tools())


def _read(place: Path) -> None:
    open_index(place / "index", Letters()).close()


def _ask_folder(place: Path) -> None:
    """What a first question about a folder of documents does."""
    os.environ["LEXLOOP_CACHE"] = str(place)
    collection, degraded = open_corpus("old", letter_tools())
    told = list(collection.seen_by(Filters()).documents)
    collection.close()
    if not degraded and not is_index(_index(place)):
        raise AssertionError("nothing says that nothing is kept")
    if told != [f"act-{number}.txt" for number in range(_FILES)]:
        raise AssertionError(f"answers would come from {told}")


def _index(place: Path) -> Path:
    cached = place / "indexes" / index_key(Path("old"), letter_tools().recipe)
    return cached if cached.exists() else place / "index"


def _state(place: Path) -> str:
    index = _index(place)
    return held(index, Letters()) if is_index(index) else "no index"


def _residue(place: Path) -> list[str]:
    """What lies in an index beside what its manifest names."""
    index = _index(place)
    if not is_index(index):
        return [index.name] if index.exists() else []
    manifest = Manifest.read(index)
    folder = index / GENERATIONS / manifest.generation
    named = {index / MANIFEST, index / LOCK, index / GENERATIONS, folder}
    named |= {folder / name for name in manifest.sha256}
    return sorted(str(path.relative_to(index)) for path in {*index.rglob("*")} - named)


def _kept(place: Path) -> TextCache:
    return TextCache(place / "replies.sqlite", "replies")


def _keep(key: str, place: Path) -> None:
    kept = _kept(place)
    try:
        kept.put(key, key * 9000)
    finally:
        kept.close()


def _found(place: Path) -> str:
    kept = _kept(place)
    try:
        return "".join(str(len(kept.find(key) or "")) + key for key in "ab")
    finally:
        kept.close()


def _add_record(name: str, place: Path) -> None:
    with RunFolder(place / "run", {"what": "faults"}) as folder:
        if (name, "1") not in folder.records.held:
            asked = unanswered(Case(id="1", question="What is a berth?"), "")
            folder.records.add({**asked, "variant": name, "answer": name * 9000})


def _records(place: Path) -> str:
    with RunFolder(place / "run", {"what": "faults"}) as folder:
        return " ".join(
            f"{row}{len(line['answer'])}" for (row, _), line in folder.records.held.items()
        )


def _beside(*names: str) -> Callable[[Path], list[str]]:
    def residue(place: Path) -> list[str]:
        found = [path for path in place.rglob("*") if path.is_file()]
        return sorted(path.name for path in found if path.name not in names)

    return residue


_old, _new = partial(_write, "old"), partial(_write, "new")
_of_index = partial(Work, state=_state, residue=_residue)
WORKS = {
    "create": _of_index(_new),
    "update": _of_index(_new, before=_old),
    "add": _of_index(partial(_write, "old more"), before=_old),
    "remove": _of_index(_remove, before=_old),
    # all else is as in an update
    "hnsw": _of_index(
        partial(_new, kind="hnsw"), before=partial(_old, kind="hnsw"), kinds=("write",)
    ),
    "cache": _of_index(_ask_folder, needed=False),
    "read": _of_index(_read, before=_old),
    "file": Work(
        lambda place: write_checked(place / "set.jsonl", "new" * 9000),
        lambda place: str(len((place / "set.jsonl").read_text())),
        _beside("set.jsonl"),
        lambda place: write_checked(place / "set.jsonl", "old"),
    ),
    "replies": Work(partial(_keep, "b"), _found, _beside("replies.sqlite"), partial(_keep, "a")),
    "records": Work(
        partial(_add_record, "b"),
        _records,
        _beside("run.json", "records.jsonl", "refusals.jsonl"),
        partial(_add_record, "a"),
    ),
}


def main() -> None:
    """Try the faults of some of it."""
    parser = options(__doc__)
    parser.add_argument("works", nargs="+", choices=WORKS)
    parser.add_argument(
        "--few", action="store_true", help="the first of a kind, the last, one between"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as place:
        os.chdir(place)
        _make_sources()
        _warm(Path(place))
        for work in given.works:
            faulty = Faulty(WORKS[work], Path(place, work))
            for record in faulty.tried(given.few):
                print(json.dumps({"work": work, **record}), flush=True)


def _make_sources() -> None:
    for folder, numbers in (("old", range(_FILES)), ("new", range(1, _FILES + 1)), ("more", [9])):
        Path(folder).mkdir()
        for number in numbers:
            when = "within 10 days" if number == 1 and folder == "new" else "in time"
            Path(folder, f"act-{number}.txt").write_text(act(number, 3, when))


def _warm(place: Path) -> None:
    """Have files parsed by the worker processes once, and everything imported, before any fork."""
    known: dict[str, Any] = {}
    for folder in ("old", "new", "more"):
        found = scan.scan([IndexSource(str(Path(folder).absolute()))])
        for loaded in found.read(found.fingerprints, lambda *_: None):
            known[loaded.file.sha256] = loaded
    scan.read_files = lambda files, *_: (known[file.sha256] for file in files)
    for write in (_old, _new):
        write(place / "warm")
        _state(place / "warm")
    faiss_library()
    gc.collect()
    gc.freeze()  # what forks leave open is looked for among what is theirs


if __name__ == "__main__":
    main()
