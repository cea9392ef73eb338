"""How long a shard is busy with a question, and what many clients make of it.

    python benchmarks/scale_service.py ADDRESS --passages PASSAGES.jsonl --queries QUESTIONS.jsonl

ADDRESS is of one node: ``elasticsearch://HOST:PORT`` or ``opensearch://HOST:PORT``. Chunks are
mixed from the passages; each has its terms and three nested vectors of real texts, jittered. Each
size is asked for words alone, for vectors alone and for both in one request by one client, the
largest also by many clients, and once more split into three shards. ``floor`` is a search that
finds nothing: what a request costs before anything is searched. ``repeats`` says how much longer a
question takes than the least of three, ``core_ms`` how long the engine's process computes for one.
Clients and engine share the machine.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from _mixture import mixed_texts, read_passages
from _vector_kinds import Floats, kinds_of
from _windows import vectors_of, windows_of
from opensearchpy import OpenSearch
from opensearchpy.helpers import bulk

from lexloop.corpus.text.tokens import tokenize

WINDOWS = 3
"""Vectors of a chunk: 3.2 in the median of ObliQA."""
_LIMIT, _JITTER, _WARM_UP, _ROUNDS = 42, 0.02, 50, 3
_INDEX, _TIMEOUT_S = "lexloop-scale-service", 600
_CUTS = 50

Body = dict[str, Any]
Figures = dict[str, Any]
Questions = Sequence[tuple[str, list[float]]]
Requests = list[list[Body]]


def main() -> None:
    """Measure every size; print the figures, and write them where asked."""
    options = _options()
    product, _, place = options.address.partition("://")
    client = OpenSearch([f"http://{place}"], timeout=_TIMEOUT_S, maxsize=max(options.clients))
    vectors = vectors_of(windows_of(options.passages))
    with options.queries.open(encoding="utf-8") as file:
        asked = [json.loads(line)["question"] for line in islice(file, options.questions)]
    questions = [*zip(asked, vectors_of(asked).tolist(), strict=True)]
    rows: list[Figures] = []
    passages, most = read_passages(options.passages), options.chunks[-1]
    indexes = [(size, 1, vectors) for size in options.chunks] + [(most, 3, vectors)]
    indexes += [(size, 1, vectors[:0]) for size in options.words]
    for size, shards, held in indexes:
        texts = (text for _, text in islice(mixed_texts(passages), size))
        stored = _store(client, product, shards, _chunks(texts, held))
        ways = _ways(product, questions) if len(held) else {"words": _by_words(questions)}
        for row in _measured(client, ways, options.clients if size == most else [1]):
            rows.append({"chunks": size, "shards": shards, **stored, **row})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    client.indices.delete(index=_INDEX)
    text = json.dumps({"product": product, "questions": len(questions), "rows": rows}, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("address", help="of one node: elasticsearch://… or opensearch://…")
    parser.add_argument("--passages", type=Path, required=True, help="JSON Lines with `text`")
    parser.add_argument("--queries", type=Path, required=True, help="JSON Lines with `question`")
    parser.add_argument("--questions", type=int, default=300, help="how many of them are asked")
    parser.add_argument("--chunks", type=_numbers, default=[5_000, 20_000, 60_000])
    parser.add_argument("--words", type=_numbers, default=[100_000, 400_000], help="no vectors")
    parser.add_argument("--clients", type=_numbers, default=[1, 4, 16])
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _chunks(texts: Iterator[str], vectors: Floats) -> Iterator[Body]:
    draw = np.random.default_rng(WINDOWS)
    for text in texts:
        chunk: Body = {"_index": _INDEX, "terms": " ".join(tokenize(text))}
        if not len(vectors):
            yield chunk
            continue
        own = vectors[draw.integers(0, len(vectors), WINDOWS)]
        own = own + draw.normal(0.0, _JITTER, own.shape)
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        windows = [{"v": row} for row in own.round(5).tolist()]
        yield {**chunk, "windows": windows}


def _store(client: OpenSearch, product: str, shards: int, chunks: Iterator[Body]) -> Figures:
    settings: Body = {"number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}
    settings |= {"knn": True} if product == "opensearch" else {}
    vector = kinds_of(product, np.ones((1, 1), dtype=np.float32))["float"].mapping(384)
    fields = {
        "terms": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
        "windows": {"type": "nested", "properties": {"v": vector}},
    }
    mapping = {"_source": {"enabled": False}, "dynamic": "strict", "properties": fields}
    client.indices.delete(index=_INDEX, ignore_unavailable=True)
    client.indices.create(index=_INDEX, body={"settings": settings, "mappings": mapping})
    begin = time.perf_counter()
    count, _ = bulk(client, chunks, chunk_size=200)
    written = time.perf_counter() - begin
    client.indices.forcemerge(index=_INDEX, max_num_segments=1)
    client.indices.refresh(index=_INDEX)
    whole = time.perf_counter() - begin
    return {"write_per_s": round(count / written), "merged_per_s": round(count / whole)}


def _ways(product: str, questions: Questions) -> dict[str, Requests]:
    words = _by_words(questions)
    nearest = [[_near(product, vector)] for _, vector in questions]
    return {
        "floor": [[{"query": {"match_none": {}}}]] * len(questions),
        "words": words,
        "vectors": nearest,
        "both": [[*one, *other] for one, other in zip(words, nearest, strict=True)],
    }


def _measured(
    client: OpenSearch, ways: dict[str, Requests], clients: Sequence[int]
) -> Iterator[Figures]:
    for name, requests in ways.items():
        _timed(client, requests[:_WARM_UP], 1)
        for many in clients if name == "both" else [1]:
            before, begin = _core_ms(client), time.perf_counter()
            rounds = [_timed(client, requests, many) for _ in range(_ROUNDS)]
            passed = time.perf_counter() - begin
            least = [*map(min, *rounds)]
            every = [(time, low) for one in rounds for time, low in zip(one, least, strict=True)]
            # alone, the least of three is what no other program slowed; among many, all count
            times = least if many == 1 else [time for time, _ in every]
            yield {
                "asked": name,
                "clients": many,
                "p50_ms": round(median(times), 2),
                "p95_ms": round(quantiles(times, n=20)[-1], 2),
                "per_s": round(_ROUNDS * len(requests) / passed, 1),
                "core_ms": round((_core_ms(client) - before) / _ROUNDS / len(requests), 2),
                "quantiles_ms": _rounded(quantiles(times, n=_CUTS)),
                "repeats": _rounded(quantiles((time / low for time, low in every), n=_CUTS)),
            }


def _core_ms(client: OpenSearch) -> float:
    """Return how long the only node has computed since its start."""
    (node,) = client.nodes.stats(metric="process")["nodes"].values()
    return float(node["process"]["cpu"]["total_in_millis"])


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(number, 2) for number in numbers]


def _by_words(questions: Questions) -> Requests:
    return [[_words(text)] for text, _ in questions]


def _words(text: str) -> Body:
    should = [{"term": {"terms": term}} for term in dict.fromkeys(tokenize(text))]
    return {"size": _LIMIT, "query": {"bool": {"should": should}}, "track_total_hits": False}


def _near(product: str, vector: list[float]) -> Body:
    if product == "elasticsearch":
        knn = {"field": "windows.v", "query_vector": vector, "k": _LIMIT, "num_candidates": 100}
        return {"size": _LIMIT, "knn": knn, "track_total_hits": False}
    query = {"knn": {"windows.v": {"vector": vector, "k": _LIMIT}}}
    nested = {"path": "windows", "score_mode": "max", "query": query}
    return {"size": _LIMIT, "query": {"nested": nested}, "track_total_hits": False}


def _timed(client: OpenSearch, requests: Sequence[list[Body]], clients: int) -> list[float]:
    """Return the milliseconds of each request, asked by so many clients at once."""

    def ask(bodies: list[Body]) -> float:
        head: Body = {"index": _INDEX, "search_type": "dfs_query_then_fetch"}
        lines = [line for body in bodies for line in (head, body)]
        begin = time.perf_counter()
        answers = client.msearch(body=lines)["responses"]
        passed = 1000 * (time.perf_counter() - begin)
        if wrong := [answer["error"] for answer in answers if "error" in answer]:
            raise SystemExit(f"The engine refused a search: {wrong[0]}")
        return passed

    with ThreadPoolExecutor(clients) as pool:
        return [*pool.map(ask, requests)]


if __name__ == "__main__":
    main()
