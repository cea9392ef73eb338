"""How retrieval grows: the embedded collection beside Elasticsearch and OpenSearch, at any size.

    python benchmarks/scale.py [ADDRESS ...] --passages PASSAGES.jsonl --questions QUESTIONS.jsonl
        --work FOLDER [--chunks 13000,100000] [--vectors float,int8,binary] [--asked 100] [--ask 20]

ADDRESS names nodes that run, without an index: ``elasticsearch://HOST:9200,HOST:9201``. Beyond the
passages of the file, chunks are mixed from their sentences, and their vectors are those of the
passages jittered (``_mixture.py``): so 100,000 chunks, or 10^6, need no embedding. A chunk has one
window and no token vectors. Indexes are made in FOLDER and pushed under ``scale-CHUNKS`` unless
they are there already, and asked when the engine has merged them; those of coarser vectors, as far
as an engine has them, under ``scale-CHUNKS-VECTORS``.

Timed is ``View.search`` for a question as it stands, 120 hits by words and by vectors, as the
default settings ask; the question is embedded before. ``overhead`` is the time by our clock less
the engine's own ``took``, ``busy`` what our process computes of it, ``requests`` those of a
question. ``recall`` is that of the ten best by vectors against a scan of all, ``overlap`` that of
the ten best of each signal with those of the embedded collection. ``--ask`` times whole answers at
the first size, the embedding included, and counts those that are the embedded collection's own.
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from _contest import chunk_ids
from _mixture import Chunks, Half, mixed, read_passages
from _ours import write
from _shared import numbers, options, read_rows, table, timed

import lexloop
from lexloop.core.errors import CorpusError
from lexloop.core.files import is_index
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm
from lexloop.store.address import FLOAT, VECTOR_KINDS, Storage, VectorKind
from lexloop.store.folder.store import open_folder
from lexloop.store.manifest import Manifest
from lexloop.store.protocol import Store
from lexloop.store.view import Collection, View
from lexloop_engines.engine.client import Engine, engine_at
from lexloop_engines.engine.generation import published
from lexloop_engines.engine.moving import push_index
from lexloop_engines.engine.store import EngineStore, manifest_of, open_engine

LIMIT, TOP = 120, 10
"""Hits of each signal that the default settings fuse, and those that are compared."""
_BLOCK, _ROUNDS = 50_000, 3
Figures = dict[str, Any]
Found = list[list[list[str]]]
"""For each question the ids by words and those by vectors."""


@dataclass
class Cost:
    """What one search cost.

    Args:
        seconds: By the clock.
        busy: Seconds that this process computed.
        took: Seconds by the engine's own count.
        requests: To the engine.
    """

    seconds: float = 0.0
    busy: float = 0.0
    took: float = 0.0
    requests: int = 0


_cost: ContextVar[Cost] = ContextVar("cost")
"""Of the search under way; what it asks beside, in another thread, counts as well."""


def watch(engine: Engine) -> None:
    """Count the requests that searches make of an engine from now on."""
    plain = engine.ask

    def ask(*args: Any, **kwargs: Any) -> Any:
        told = plain(*args, **kwargs)
        if cost := _cost.get(None):
            cost.requests += 1
            cost.took += told.get("took", 0) / 1000
        return told

    engine.ask = ask  # type: ignore[method-assign]


def timed_search(view: View, question: str) -> tuple[Cost, list[list[str]]]:
    """Search once; return the cost, and the ids that words and vectors find, best first."""
    cost = Cost()
    _cost.set(cost)
    began, busy = time.perf_counter(), time.process_time()
    by_words, by_vectors = view.search([question], LIMIT)
    cost.seconds = time.perf_counter() - began
    cost.busy = time.process_time() - busy
    return cost, [[hit.chunk_id for hit in hits[0][:TOP]] for hits in (by_words, by_vectors)]


def one_by_one(view: View, questions: Sequence[str]) -> tuple[Figures, Found]:
    """Ask by one client, all of it several times; return the figures and what was found."""
    rounds = [[timed_search(view, question) for question in questions] for _ in range(_ROUNDS)]
    costs = [cost for asked in rounds for cost, _ in asked]
    return {
        **percentiles("", [cost.seconds for cost in costs]),
        "overhead_ms": 1000 * float(np.median([cost.seconds - cost.took for cost in costs])),
        "busy_ms": 1000 * float(np.median([cost.busy for cost in costs])),
        "requests": float(np.mean([cost.requests for cost in costs])),
    }, [ids for _, ids in rounds[0]]


def together(view: View, questions: Sequence[str], clients: int) -> Figures:
    """Ask by many clients at once; each asks the next question as soon as it has an answer."""
    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        costs = [cost for cost, _ in pool.map(lambda q: timed_search(view, q), questions)]
    rate = len(questions) / (time.perf_counter() - began)
    seconds = [cost.seconds for cost in costs]
    return {**percentiles(f"{clients}_", seconds), f"{clients}_per_s": rate}


def percentiles(prefix: str, seconds: Sequence[float]) -> Figures:
    """The 50th and the 95th in milliseconds."""
    p50, p95 = np.percentile(1000 * np.asarray(seconds), (50, 95))
    return {f"{prefix}p50_ms": float(p50), f"{prefix}p95_ms": float(p95)}


def exactly(vectors: Half, ids: Sequence[str], questions: Vectors) -> list[list[str]]:
    """The ids of the vectors nearest to each question, by a scan of all of them."""
    blocks = (vectors[i : i + _BLOCK] for i in range(0, len(vectors), _BLOCK))
    scores = np.concatenate([block.astype(np.float32) @ questions.T for block in blocks])
    best = np.argsort(-scores, axis=0, kind="stable")[:TOP].T
    return [[ids[row] for row in rows] for rows in best.tolist()]


def overlap(found: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]) -> float:
    """The mean share of the ids expected that were found."""
    pairs = zip(found, expected, strict=True)
    return float(np.mean([len({*a} & {*b}) / max(1, len(b)) for a, b in pairs]))


_WARM_UP, _ROUNDS, _CLIENTS = 20, 3, 32
_MERGES_S, _QUIET = 2400.0, 5
"""The most seconds that merges are waited for, and how often none may be seen in a row."""
_SETTINGS: dict[str, Any] = {"index.embedder": "minilm", "access.as_of": "any"}
_SAME = ("answer", "abstained", "finding", "citations")
"""What must be the same in an answer, wherever its sources are searched."""
_COLUMNS = (
    *("chunks", "where", "nodes", "p50_ms", "p95_ms", "32_p50_ms", "32_p95_ms", "32_per_s"),
    *("overhead_ms", "busy_ms", "requests", "recall", "overlap", "gib", "push_s", "merge_s"),
    *("ask_p50_ms", "ask_same"),
)


def main() -> None:
    """Measure every size everywhere and print the table."""
    parser, kinds = options(__doc__), lambda text: [*map(VectorKind, text.split(","))]
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="of nodes, without a name")
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines: text")
    parser.add_argument("--questions", type=Path, required=True, help="JSON Lines: question")
    parser.add_argument("--work", type=Path, required=True, help="keeps corpora and indexes")
    parser.add_argument("--chunks", type=numbers, default=[13_000, 100_000], metavar="N[,N]")
    parser.add_argument("--vectors", type=kinds, default=[FLOAT], metavar="KIND[,KIND]")
    parser.add_argument("--asked", type=int, default=100, help="questions a client and a pass")
    parser.add_argument("--ask", type=int, default=20, help="questions answered as a whole")
    given = parser.parse_args()
    asked = dict.fromkeys(row["question"] for row in read_rows(given.questions))
    questions = [*asked][: 2 * given.asked + _WARM_UP]
    passages, rows = read_passages(given.passages), list[Figures]()
    for size in given.chunks:
        whole = questions[: given.ask if size == given.chunks[0] else 0]
        rows += Size(size, mixed(passages, size, given.work), questions, whole, given).rows()
    print(table(_COLUMNS, ([_cell(row.get(name)) for name in _COLUMNS] for row in rows)))
    print(f"\n{os.cpu_count()} cores")


class Size:
    """So many chunks, asked in the embedded collection and then in every engine.

    Args:
        size: How many.
        corpus: Their folder.
        questions: Asked one by one and together.
        whole: Answered as a whole.
        given: The options.
    """

    def __init__(
        self, size: int, corpus: Path, questions: list[str], whole: list[str], given: Namespace
    ) -> None:
        self._size, self._questions, self._whole, self._given = size, questions, whole, given
        self._index = given.work / f"index-{size}"
        chunks = Chunks.load(corpus)
        if not is_index(self._index):
            write(chunks, self._index)
        self._minilm = load_minilm()
        self._first = questions[_WARM_UP:][: given.asked]
        vectors = self._minilm.embed(self._first)
        self._nearest = exactly(chunks.vectors, chunk_ids(chunks.texts), vectors)
        self._expected: Found = []
        self._answers: list[Figures] = []

    def rows(self) -> Iterator[Figures]:
        """The figures, the embedded collection's first."""
        with closing(open_folder(self._index, self._minilm)) as local:
            files = (path for path in self._index.rglob("*") if path.is_file())
            gib = sum(path.stat().st_size for path in files) / 2**30
            yield {**self._row("embedded", local, str(self._index)), "gib": gib}
        for base, kind in _places(self._given):
            kept = "" if kind == FLOAT else f"-{kind}"
            address = f"{base}/scale-{self._size}{kept}"
            pushed = _pushed(self._index, address, Storage(kind))
            with closing(open_engine(address, self._minilm)) as contents:
                figures = self._row(f"{base.partition(':')[0]}{kept}", contents, address)
            yield {**figures, **pushed, **_size_of(address)}

    def _row(self, where: str, contents: Store, source: str) -> Figures:
        figures, found = self._asked(contents)
        self._expected = self._expected or found
        figures["recall"] = overlap([by_vectors for _, by_vectors in found], self._nearest)
        joined = ([*chain.from_iterable(one)] for one in (found, self._expected))
        figures["overlap"] = overlap(*joined)
        figures |= self._answered(source) if self._whole else {}
        print(self._size, where, figures, file=sys.stderr, flush=True)
        return {"chunks": self._size, "where": where, **figures}

    def _asked(self, contents: Store) -> tuple[Figures, Found]:
        """Ask by one client and by many, each other questions, all embedded before."""
        if isinstance(contents, EngineStore):
            watch(contents.engine)
        view = Collection(contents).seen_by(Filters.of(Settings(**_SETTINGS)))
        view.embed([*self._questions])
        for _ in range(_ROUNDS):  # the engine compiles what it does often
            one_by_one(view, self._questions[-_WARM_UP:])
        figures, found = one_by_one(view, self._first)
        second = self._questions[_WARM_UP + self._given.asked :]
        return figures | together(view, second, _CLIENTS), found

    def _answered(self, source: str) -> Figures:
        """Answer questions as a whole, and count the answers that are the first source's."""
        taken, made = [], []
        for question in self._whole:
            seconds, answer = timed(lambda q=question: lexloop.ask(q, source, **_SETTINGS))
            taken.append(seconds)
            made.append({name: answer.get(name) for name in _SAME})
        self._answers = self._answers or made
        same = sum(a == b for a, b in zip(made, self._answers, strict=True))
        return {**percentiles("ask_", taken[1:]), "ask_same": f"{same}/{len(made)}"}


def _places(given: Namespace) -> Iterator[tuple[str, VectorKind]]:
    """The engines with each way of keeping vectors that is asked for and that they have."""
    for base in given.addresses:
        product = base.partition(":")[0].removesuffix("+tls")
        yield from ((base, kind) for kind in given.vectors if kind in VECTOR_KINDS[product])


def _pushed(index: Path, address: str, storage: Storage) -> Figures:
    """Push an index unless it is there; return the seconds that it took."""
    try:
        if manifest_of(address).sha256 == Manifest.read(index).sha256:
            return {}
    except CorpusError as error:
        print(error, "It is pushed now.", file=sys.stderr)
    push_s, _ = timed(lambda: push_index(index, address, load_minilm(), storage=storage))
    merge_s, _ = timed(lambda: _await_merges(address))
    return {"push_s": push_s, "merge_s": merge_s}


def _await_merges(address: str) -> None:
    """Wait for what an engine does aside after a push: it slows searches only while it lasts."""
    engine, quiet = engine_at(address), 0
    path = f"/lexloop-{engine.address.name}.{published(engine)}.*/_stats/merge"
    until = time.monotonic() + _MERGES_S
    while quiet < _QUIET and time.monotonic() < until:
        time.sleep(1.0)
        merging = engine.ask("GET", path)["_all"]["total"]["merges"]["current"]
        quiet = 0 if merging else quiet + 1


def _size_of(address: str) -> Figures:
    """How many nodes an engine has, and the GiB of the primary shards of an index."""
    engine = engine_at(address)
    indexes = f"/lexloop-{engine.address.name}.{published(engine)}.*"
    stats = engine.ask("GET", f"{indexes}/_stats/store")["_all"]["primaries"]["store"]
    nodes = engine.ask("GET", "/_cluster/health")["number_of_nodes"]
    return {"nodes": nodes, "gib": stats["size_in_bytes"] / 2**30}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.0f}"
    return "" if value is None else str(value)


if __name__ == "__main__":
    main()
