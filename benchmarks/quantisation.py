"""What float, int8 and binary vectors are worth in a running node of either engine.

    python benchmarks/quantisation.py ADDRESS --passages PASSAGES.jsonl --queries QUESTIONS.jsonl

ADDRESS is ``elasticsearch://HOST:PORT`` or ``opensearch://HOST:PORT``. Indexed are the vectors of
passages and of their sentences, one a document and nothing else (an index of Lexloop keeps the
vectors of a chunk nested in it), on one shard, merged into one segment before it is asked. Recall
is against the exact order of the float vectors. ``disk_bytes`` are Lucene's files of vectors,
``searched_bytes`` those of them that every search goes through: the graph and the vectors that it
compares, which should fit into memory. A question's time is the least of three, by one client.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any, NamedTuple

import numpy as np
from _vector_kinds import OVERSAMPLED, Floats, Kind, kinds_of, request
from _windows import vectors_of, windows_of
from numpy.typing import NDArray
from opensearchpy import OpenSearch
from opensearchpy.helpers import bulk

_TOP, _WARM_UP, _BATCH, _ROUNDS = 10, 30, 500, 3
_TIMEOUT_S = 600
_INDEX = "lexloop-quantisation"
_VECTOR_FILES = ("vex", "vec", "veq", "veb")
"""Lucene's files of the graph, of the vectors as they came, and of those made coarser."""


Figures = dict[str, Any]


class Engine(NamedTuple):
    """A running node, and which product it is."""

    product: str
    client: OpenSearch


class Questions(NamedTuple):
    """Vectors of questions, shape (questions, dimension), and the numbers of their neighbours."""

    vectors: Floats
    exact: NDArray[np.int64]


def main() -> None:
    """Measure every kind at every size; print the figures, and write them where asked."""
    options = _options()
    product, _, place = options.address.partition("://")
    engine = Engine(product, OpenSearch([f"http://{place}"], timeout=_TIMEOUT_S))
    vectors = vectors_of(windows_of(options.passages))
    asked_with = vectors_of(_questions(options.queries, options.questions))
    rows: list[Figures] = []
    for size in options.vectors:
        held = vectors[np.random.default_rng(size).permutation(len(vectors))[:size]]
        questions = Questions(asked_with, nearest(held, asked_with, _TOP))
        for name, kind in kinds_of(engine.product, held).items():
            stored = _store(engine, kind, held)
            for asked in _ways(engine, kind, questions, held):
                rows.append({"kind": name, "vectors": len(held), **asked, **stored})
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    engine.client.indices.delete(index=_INDEX)
    report = {"product": product, "questions": len(asked_with), "rows": rows}
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("address", help="of one node: elasticsearch://… or opensearch://…")
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--queries", type=Path, required=True, help="JSON Lines with `question`")
    parser.add_argument("--questions", type=int, default=400, help="how many of them are asked")
    parser.add_argument("--vectors", type=_sizes, default=[20_000, 50_000], metavar="N[,N]")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _questions(path: Path, count: int) -> list[str]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line)["question"] for line in islice(file, count)]


def nearest(vectors: Floats, questions: Floats, limit: int) -> NDArray[np.int64]:
    """Return the numbers of the nearest vectors, shape (questions, limit), in no order."""
    return np.argpartition(-(questions @ vectors.T), limit, axis=1)[:, :limit]


def recall(found: list[list[int]], exact: NDArray[np.int64]) -> float:
    """Return the mean share of the exact neighbours that were found."""
    pairs = zip(found, exact.tolist(), strict=True)
    return fmean(len({*ours} & {*theirs}) / len(theirs) for ours, theirs in pairs)


def _store(engine: Engine, kind: Kind, vectors: Floats) -> Figures:
    """Index the vectors, merge them, and return what that took in seconds and in bytes."""
    indices = engine.client.indices
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}
    settings |= {"compound_format": False}
    settings |= {"knn": True} if engine.product == "opensearch" else {}
    mapping = {"_source": {"enabled": False}, "dynamic": "strict"}
    mapping |= {"properties": {"v": kind.mapping(vectors.shape[1])}}
    indices.delete(index=_INDEX, ignore_unavailable=True)
    indices.create(index=_INDEX, body={"settings": {"index": settings}, "mappings": mapping})
    begin = time.perf_counter()
    bulk(engine.client, _actions(kind.given(vectors)), chunk_size=_BATCH)
    written = time.perf_counter()
    indices.forcemerge(index=_INDEX, max_num_segments=1)
    indices.refresh(index=_INDEX)
    indices.flush(index=_INDEX)
    merged = time.perf_counter()
    files = _files(engine)
    return {
        "write_s": round(written - begin, 1),
        "merge_s": round(merged - written, 1),
        "disk_bytes": sum(files.values()),
        "searched_bytes": searched_bytes(files),
        "files": files,
    }


def _actions(rows: NDArray[Any]) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows):
        yield {"_index": _INDEX, "_id": str(number), "v": row.tolist()}


def _files(engine: Engine) -> dict[str, int]:
    """Return the bytes of Lucene's files of vectors by their endings."""
    indices = engine.client.indices
    if engine.product == "elasticsearch":  # which packs the files of a segment into one, but counts
        stats = indices.stats(index=_INDEX, metric="dense_vector")
        counted = stats["_all"]["primaries"]["dense_vector"]["off_heap"]
        found = {name: counted[f"total_{name}_size_bytes"] for name in _VECTOR_FILES}
    else:
        asked = {"include_segment_file_sizes": "true"}
        stats = indices.stats(index=_INDEX, metric="segments", params=asked)
        sizes = stats["_all"]["primaries"]["segments"]["file_sizes"]
        found = {name: sizes[name]["size_in_bytes"] for name in _VECTOR_FILES if name in sizes}
    return {name: size for name, size in found.items() if size}


def searched_bytes(files: dict[str, int]) -> int:
    """Return the bytes of the graph and of the vectors that its search compares."""
    coarse = files.get("veq", 0) + files.get("veb", 0)
    return files.get("vex", 0) + (coarse or files["vec"])


def _ways(engine: Engine, kind: Kind, questions: Questions, held: Floats) -> Iterator[Figures]:
    """Ask without floats, then with so many candidates compared by theirs."""
    given = kind.given(questions.vectors)
    for by in dict.fromkeys(("", kind.rescored)):
        limit = OVERSAMPLED * _TOP if by == "asker" else _TOP
        oversampled = OVERSAMPLED if by == "engine" else 0
        bodies = [request(engine.product, row.tolist(), limit, oversampled) for row in given]
        times, found = _asked(engine.client, bodies)
        if by == "asker":
            found = [_best(held, *pair) for pair in zip(questions.vectors, found, strict=True)]
        yield {
            "rescored": by,
            "recall@10": round(recall(found, questions.exact), 4),
            "p50_ms": round(median(times), 2),
            "p95_ms": round(quantiles(times, n=20)[-1], 2),
        }


def _asked(client: OpenSearch, bodies: list[Figures]) -> tuple[list[float], list[list[int]]]:
    """Return the least milliseconds of each search by one client, and the numbers it found."""
    for body in bodies[:_WARM_UP]:
        client.search(index=_INDEX, body=body)
    times = [math.inf] * len(bodies)
    found: list[list[int]] = [[]] * len(bodies)
    for _ in range(_ROUNDS):
        for place, body in enumerate(bodies):
            begin = time.perf_counter()
            hits = client.search(index=_INDEX, body=body)["hits"]["hits"]
            times[place] = min(times[place], 1000 * (time.perf_counter() - begin))
            found[place] = [int(hit["_id"]) for hit in hits]
    return times, found


def _best(vectors: Floats, question: Floats, candidates: list[int]) -> list[int]:
    """Return the candidates that are nearest by their floats."""
    order = np.argsort(-(vectors[candidates] @ question))
    return [candidates[place] for place in order[:_TOP]]


if __name__ == "__main__":
    main()
