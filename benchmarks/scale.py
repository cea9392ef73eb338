"""How retrieval grows: the embedded collection beside Elasticsearch and OpenSearch, at any size.

    python benchmarks/scale.py [ADDRESS ...] --passages PASSAGES.jsonl --questions QUESTIONS.jsonl
        --work FOLDER [--chunks 13000,100000] [--vectors float,int8,binary] [--shards 1,3]
        [--asked 100] [--ask 20] [--json OUT]

ADDRESS names nodes that run, without an index: ``elasticsearch://HOST:9200,HOST:9201``. Beyond the
passages of the file, chunks are mixed from their sentences, and their vectors are those of the
passages jittered (``_mixture.py``): so 100,000 chunks, or 10^6, need no embedding. A chunk has one
window and no token vectors. Indexes are made in FOLDER and pushed under ``scale-CHUNKS`` unless
they are there already, and asked when the engine has merged them; those of coarser vectors, as far
as an engine has them, under ``scale-CHUNKS-VECTORS``, those in several shards under
``scale-CHUNKS-SHARDS``.

Timed is ``View.search`` for a question as it stands, 120 hits by words and by vectors, as the
default settings ask; the question is embedded before. ``overhead`` is the time by our clock less
the engine's own ``took``, ``busy`` what our process computes of it, ``core`` what those of the
engine compute; ``words`` and ``vectors`` are the engine's times of its two searches, ``requests``
those of a question. ``recall`` is that of the ten best by vectors against a scan of all,
``overlap`` that of the ten best of each signal with those of the embedded collection. ``--ask``
times whole answers at the first size, the embedding included, and counts those that are the
embedded collection's own.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from itertools import product as product_of
from pathlib import Path
from typing import Any

from _contest import chunk_ids
from _mixture import Chunks, mixed, read_passages
from _ours import write
from _scale_asking import Found, exactly, one_by_one, overlap, percentiles, together, watch

import lexloop
from lexloop.core.errors import CorpusError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.minilm import load_minilm
from lexloop.store.engine.address import FLOAT, USUAL, VECTOR_KINDS, Storage, VectorKind
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.generation import published
from lexloop.store.engine.moving import push_index
from lexloop.store.engine.store import EngineStore, manifest_of, open_engine
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import Manifest
from lexloop.store.protocol import Store
from lexloop.store.view import Collection

_WARM_UP, _ROUNDS, _CLIENTS = 20, 3, 32
_MERGES_S, _QUIET = 2400.0, 5
"""The most seconds that merges are waited for, and how often none may be seen in a row."""
_SETTINGS: dict[str, Any] = {"index.embedder": "minilm", "access.as_of": "any"}
_SAME = ("answer", "abstained", "finding", "citations")
"""What must be the same in an answer, wherever its sources are searched."""
_COLUMNS = (
    *("chunks", "where", "nodes", "p50_ms", "p95_ms", "32_p50_ms", "32_p95_ms", "32_per_s"),
    *("overhead_ms", "busy_ms", "core_ms", "words_ms", "vectors_ms", "requests"),
    *("recall", "overlap", "shards", "gib", "push_s", "merge_s", "ask_p50_ms", "ask_same"),
)
Row = dict[str, Any]


def main() -> None:
    """Measure every size everywhere, print the table, and write the figures where asked."""
    options = _options()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    asked = list(dict.fromkeys(json.loads(line)["question"] for line in lines))
    questions = asked[: 2 * options.asked + _WARM_UP]
    passages, rows = read_passages(options.passages), list[Row]()
    for size in options.chunks:
        corpus = mixed(passages, size, options.work)
        whole = questions[: options.ask if size == options.chunks[0] else 0]
        rows += _measure(corpus, size, questions, whole, options)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    print(_table(rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="of nodes, without a name")
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines: text")
    parser.add_argument("--questions", type=Path, required=True, help="JSON Lines: question")
    parser.add_argument("--work", type=Path, required=True, help="keeps corpora and indexes")
    parser.add_argument("--chunks", type=_sizes, default=[13_000, 100_000], metavar="N[,N]")
    parser.add_argument("--vectors", type=_kinds, default=[FLOAT], metavar="KIND[,KIND]")
    parser.add_argument("--shards", type=_sizes, default=[1], metavar="N[,N]")
    parser.add_argument("--asked", type=int, default=100, help="questions a client and a pass")
    parser.add_argument("--ask", type=int, default=20, help="questions answered as a whole")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _kinds(text: str) -> list[VectorKind]:
    return [VectorKind(kind) for kind in text.split(",")]


def _measure(
    corpus: Path, size: int, questions: Sequence[str], whole: Sequence[str], options: Any
) -> list[Row]:
    """The figures of one size: the embedded collection's, then those of every engine."""
    chunks, index = Chunks.load(corpus), options.work / f"index-{size}"
    if not is_index(index):
        write(chunks, index)
    minilm, ids = load_minilm(), chunk_ids(chunks.texts)
    first = questions[_WARM_UP:][: options.asked]
    nearest = exactly(chunks.vectors, ids, minilm.embed([*first]))
    answers: list[Any] = []
    expected: Found = []

    def row(where: str, contents: Store, source: str) -> Row:
        figures, found = _asked(contents, questions, options.asked)
        expected[:] = expected or found
        figures["recall"] = overlap([by_vectors for _, by_vectors in found], nearest)
        figures["overlap"] = overlap(*([*chain.from_iterable(one)] for one in (found, expected)))
        if whole:
            figures |= _answered(source, whole, answers)
        print(size, where, json.dumps(figures), file=sys.stderr, flush=True)
        return {"chunks": size, "where": where, **figures}

    with closing(open_folder(index, minilm)) as local:
        rows = [{**row("embedded", local, str(index)), "gib": _gib(index)}]
    for base, storage in _places(options):
        kept = "".join(f"-{one}" for one in storage if one not in USUAL)
        address = f"{base}/scale-{size}{kept}"
        pushed = _pushed(index, address, storage)
        with closing(open_engine(address, minilm)) as contents:
            figures = row(f"{base.partition(':')[0]}{kept}", contents, address)
        rows.append({**figures, **pushed, "shards": storage.shards, **_size_of(address)})
    return rows


def _places(options: Any) -> Iterator[tuple[str, Storage]]:
    """The engines with each way of keeping vectors that is asked for and that they have."""
    for base in options.addresses:
        product = base.partition(":")[0].removesuffix("+tls")
        kinds = [kind for kind in options.vectors if kind in VECTOR_KINDS[product]]
        yield from ((base, Storage(*kept)) for kept in product_of(kinds, options.shards))


def _asked(contents: Store, questions: Sequence[str], many: int) -> tuple[Row, Found]:
    """Ask by one client and by many, each other questions, all embedded before."""
    engine = contents.engine if isinstance(contents, EngineStore) else None
    if engine:
        watch(engine)
    view = Collection(contents).seen_by(Filters.of(Settings(**_SETTINGS)))
    view.embed([*questions])
    first, second = questions[_WARM_UP:][:many], questions[_WARM_UP:][many:]
    for _ in range(_ROUNDS):  # the engine compiles what it does often
        one_by_one(view, questions[-_WARM_UP:])
    figures, found = one_by_one(view, first, engine)
    return figures | together(view, second, _CLIENTS), found


def _answered(source: str, questions: Sequence[str], answers: list[Any]) -> Row:
    """Answer questions as a whole; ``answers`` are those to be the same, or are kept as such."""
    made, seconds = [], []
    for question in questions:
        began = time.perf_counter()
        answer = lexloop.ask(
            question, source, **{"index.embedder": "minilm", "access.as_of": "any"}
        )
        seconds.append(time.perf_counter() - began)
        made.append({name: answer.get(name) for name in _SAME})
    answers[:] = answers or made
    same = sum(a == b for a, b in zip(made, answers, strict=True))
    return {**percentiles("ask_", seconds[1:]), "ask_same": f"{same}/{len(made)}"}


def _pushed(index: Path, address: str, storage: Storage) -> Row:
    """Push an index unless it is there; return the seconds that it took."""
    try:
        if manifest_of(address).sha256 == Manifest.read(index).sha256:
            return {}
    except CorpusError as error:
        print(error, "It is pushed now.", file=sys.stderr)
    began = time.perf_counter()
    push_index(index, address, load_minilm(), storage=storage)
    pushed = time.perf_counter()
    _await_merges(address)
    return {"push_s": pushed - began, "merge_s": time.perf_counter() - pushed}


def _await_merges(address: str) -> None:
    """Wait for what an engine does aside after a push: it slows searches only while it lasts."""
    engine, quiet = engine_at(address), 0
    path = f"/lexloop-{engine.address.name}.{published(engine)}.*/_stats/merge"
    until = time.monotonic() + _MERGES_S
    while quiet < _QUIET and time.monotonic() < until:
        time.sleep(1.0)
        merging = engine.ask("GET", path)["_all"]["total"]["merges"]["current"]
        quiet = 0 if merging else quiet + 1


def _size_of(address: str) -> Row:
    """How many nodes an engine has, and the GiB of the primary shards of an index."""
    engine = engine_at(address)
    health = engine.ask("GET", "/_cluster/health")
    indexes = f"/lexloop-{engine.address.name}.{published(engine)}.*"
    stats = engine.ask("GET", f"{indexes}/_stats/store,segments")
    primaries = stats["_all"]["primaries"]
    return {
        "nodes": health["number_of_nodes"],
        "gib": primaries["store"]["size_in_bytes"] / 2**30,
        "segments": primaries["segments"]["count"],
    }


def _gib(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**30


def _table(rows: Sequence[Row]) -> str:
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        "|" + "---|" * len(_COLUMNS),
        *(f"| {' | '.join(_shown(row.get(name)) for name in _COLUMNS)} |" for row in rows),
        "",
        f"{os.cpu_count()} cores",
    ]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.0f}"
    return "" if value is None else str(value)


if __name__ == "__main__":
    main()
