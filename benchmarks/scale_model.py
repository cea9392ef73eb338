"""Nodes, memory, disk, waiting, hours and costs from 10^5 to 10^9 chunks, by what was measured.

    python benchmarks/scale_model.py [--price 0.70] [--per-second 5] [--copies 2]
    python benchmarks/scale_model.py --check

The first prints the table of ``docs/scale.md``; the second asks the model for what was measured
and prints both. Fitted is the model to ``scale_figures.json``, whose figures name their commands:
bytes by ``quantisation.py`` and by an index that was pushed, times by ``scale.py``. A row is
simulated unless one shard of that size was measured.
"""

import argparse
import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from _scale_fit import Row, Shard, kinds_in, read_figures, shard_of
from _scale_queue import Cluster, Shape, by_clients, by_rate

_SEED, _QUESTIONS, _FEWEST_QUESTIONS, _TASKS = 11, 4_000, 500, 400_000
_CLIENTS = 32
_GIB, _HOURS_A_MONTH = 2**30, 730
_CACHED, _FILLED, _BUSY = 0.45, 0.7, 0.6
"""Shares of a node's memory for files, of its disk, and of its cores that a plan uses."""
_SHARD_BYTES, _SHARD_DOCUMENTS = 50e9, 1e9
_MAJORITY, _MASTERS_ABOVE, _MASTERS, _MASTER_PRICE = 3, 6, 3, 0.25
_SIZES = (10**5, 10**6, 10**7, 10**8, 10**9)


class Machine(NamedTuple):
    """A data node: its cores, GiB of memory and of disk, and what an hour costs."""

    cores: int
    memory_gib: float
    disk_gib: float
    price: float


class Chunk(NamedTuple):
    """What a chunk takes.

    Args:
        windows: Vectors of it.
        searched: Bytes of its terms that searches go through.
        kept: All its other bytes but those of the searched vectors.
        asker: Bytes of the graph that whoever asks holds in memory.
        embedded_per_s: Chunks that a core reads, cuts and embeds in a second.
        written_per_s: Chunks that a core of an engine takes in a second.
    """

    windows: float
    searched: float
    kept: float
    asker: float
    embedded_per_s: float
    written_per_s: float


class Case(NamedTuple):
    """What a plan is asked for.

    Args:
        chunks: How many.
        copies: Of each shard, the first included.
        per_s: Questions a second.
        kind: How vectors are kept.
        chunk: What one takes.
        shard: What a search on a shard takes.
        machine: A data node.
    """

    chunks: int
    copies: int
    per_s: float
    kind: Row
    chunk: Chunk
    shard: Shard
    machine: Machine

    def tasks(self, shards: int) -> tuple[float, float]:
        """Return the milliseconds of the two searches of a question on one of so many shards."""
        chunks = self.chunks / shards
        words, vectors = self.shard.words.ms(chunks), self.shard.vectors
        return words, vectors.ms(chunks * self.chunk.windows) * self.kind.slower


class Plan(NamedTuple):
    """A cluster for so many chunks.

    Args:
        shards: Of the index of chunks.
        nodes: That hold data.
        masters: Nodes that hold none.
        searched_gib: What should fit into the memory of all nodes, copies included.
        disk_gib: Of all nodes, copies included.
        core_ms: That all nodes together work for a question.
    """

    shards: int
    nodes: int
    masters: int
    searched_gib: float
    disk_gib: float
    core_ms: float

    def monthly(self, machine: Machine) -> float:
        """Return what the nodes cost in a month."""
        return (self.nodes + _MASTER_PRICE * self.masters) * machine.price * _HOURS_A_MONTH


def plan(case: Case) -> Plan:
    """Return the fewest nodes that memory, disk and cores allow.

    Several copies need three: of two nodes neither knows which of them is gone.
    """
    chunks, copies, kind, chunk, machine = (
        case.chunks, case.copies, case.kind, case.chunk, case.machine,
    )  # fmt: skip
    searched = chunks * (chunk.windows * kind.searched + chunk.searched)
    disk = chunks * (chunk.windows * kind.disk + chunk.kept)
    documents = chunks * (1 + chunk.windows)
    shards = math.ceil(max(disk / _SHARD_BYTES, documents / _SHARD_DOCUMENTS, 1))
    core_ms = case.shard.once_ms + shards * sum(case.tasks(shards))
    nodes = math.ceil(
        max(
            copies * searched / (machine.memory_gib * _GIB * _CACHED),
            copies * disk / (machine.disk_gib * _GIB * _FILLED),
            case.per_s * core_ms / 1000 / (machine.cores * _BUSY),
            _MAJORITY if copies > 1 else 1,
        )
    )
    masters = _MASTERS if nodes > _MASTERS_ABOVE else 0
    return Plan(shards, nodes, masters, copies * searched / _GIB, copies * disk / _GIB, core_ms)


def hours(chunks: int, copies: int, chunk: Chunk, embedding: int, writing: int) -> float:
    """Return hours from documents to an index, by the slower of embedding and writing.

    Args:
        chunks: How many.
        copies: Of each shard: every one is written.
        chunk: With its rates.
        embedding: Cores that embed.
        writing: Cores of all data nodes.
    """
    slower = min(chunk.embedded_per_s * embedding, chunk.written_per_s * writing / copies)
    return chunks / slower / 3600


def waits(case: Case, made: Plan) -> tuple[float, float]:
    """Simulate questions at random times; return the median and 95th percentile of milliseconds."""
    shard, cores = case.shard, case.machine.cores
    shape = Shape(made.nodes, cores, made.shards, case.copies, shard.floor_ms, shard.once_ms)
    count = max(_FEWEST_QUESTIONS, min(_QUESTIONS, _TASKS // made.shards))
    draws = shard.draws(case.tasks(made.shards), count, _SEED)
    taken = by_rate(Cluster(shape), draws, case.per_s, _SEED)
    p50, p95 = np.percentile(taken[count // 10 :], [50, 95])  # the first meet an idle cluster
    return float(p50), float(p95)


def chunk_of(figures: Mapping[str, Any], product: str) -> Chunk:
    """Return what a chunk takes, by an index that was pushed and by rates that were measured."""
    index, indexing = figures["index"], figures["indexing"]
    bytes_of, chunks = index["bytes"], index["chunks"]
    kept = sum(bytes_of.values()) - bytes_of["windows.vector"]
    searched = sum(bytes_of[name] for name in index["searched"])
    rows = [row for row in figures["scale"][product]["rows"] if "push_s" in row]
    most = max((row for row in rows if row["nodes"] == 1), key=lambda row: row["chunks"])
    written = most["gib"] * _GIB / (most["push_s"] + most["merge_s"])
    return Chunk(
        index["windows"] / chunks,
        searched / chunks,
        kept / chunks,
        index["asker_bytes"] / chunks,
        indexing["chunks"] / indexing["seconds"] / indexing["cores"],
        written / sum(bytes_of.values()) * chunks / figures["cores"],
    )


def table(options: argparse.Namespace, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    rows = figures["scale"][options.product]["rows"]
    shard, chunk = shard_of(rows), chunk_of(figures, options.product)
    kinds = kinds_in(figures["quantisation"][options.product]["rows"])
    machine = Machine(options.cores, options.memory, options.disk, options.price)
    measured = max(row["chunks"] for row in rows)
    yield (
        "| chunks | vectors | copies | shards | nodes | searched GiB | disk GiB | asker GiB "
        "| p50 ms | p95 ms | core s a question | ingestion h | $ a month | |\n" + "|---" * 14 + "|"
    )
    for chunks in _SIZES:
        copies = 1 if chunks == _SIZES[0] else options.copies
        for name, kind in kinds.items():
            case = Case(chunks, copies, options.per_second, kind, chunk, shard, machine)
            made = plan(case)
            p50, p95 = waits(case, made)
            took = hours(chunks, copies, chunk, options.embedding, made.nodes * machine.cores)
            simulated = chunks > measured or made.nodes > 1
            masters = f" + {made.masters}" if made.masters else ""
            yield (
                f"| {_power(chunks)} | {name} | {copies} | {made.shards} | {made.nodes}{masters} "
                f"| {_two(made.searched_gib)} | {_two(made.disk_gib)} "
                f"| {_two(chunks * chunk.asker / _GIB)} | {p50:.0f} | {p95:.0f} "
                f"| {_two(made.core_ms / 1000)} | {_two(took)} "
                f"| {_two(made.monthly(machine))} | {'simulated' if simulated else 'fitted'} |"
            )


def check(options: argparse.Namespace, figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a table of what was measured beside what the model says.

    All was measured on the cores of one machine, who asked and all nodes together.
    """
    rows, cores = figures["scale"][options.product]["rows"], figures["cores"]
    shard = shard_of(rows)
    yield (
        "| chunks | shards | nodes | p50 ms, model | p95 | 32 clients: a second, model "
        "| p50 ms, model |\n" + "|---" * 7 + "|"
    )
    for row in rows:
        count, busy = row["shards"], row["busy_ms"]
        shape = Shape(1, cores, count, 1, shard.floor_ms - busy, shard.once_ms + busy)
        tasks = [one.ms(row["chunks"] / count) for one in (shard.words, shard.vectors)]
        draws = shard.draws(tasks, _QUESTIONS, _SEED)
        alone, _ = by_clients(Cluster(shape), draws, 1)
        many, rate = by_clients(Cluster(shape), draws, _CLIENTS)
        p50, p95 = np.percentile(alone, [50, 95])
        yield (
            f"| {row['chunks']:,} | {count} | {row['nodes']} | {row['p50_ms']:.0f}, {p50:.0f} "
            f"| {row['p95_ms']:.0f}, {p95:.0f} | {row['32_per_s']:.0f}, {rate:.0f} "
            f"| {row['32_p50_ms']:.0f}, {np.median(many):.0f} |"
        )


def _power(chunks: int) -> str:
    return f"10^{round(math.log10(chunks))}"


def _two(number: float) -> str:
    """Return a number with two digits that count: no plan is surer than that."""
    if number <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(number))
    return f"{round(number, digits):,.{max(digits, 0)}f}"


def _options(figures: Mapping[str, Any]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--product", choices=sorted(figures["scale"]), default="elasticsearch")
    parser.add_argument("--per-second", type=float, default=5.0, help="questions, at random times")
    parser.add_argument("--copies", type=int, default=2, help="of a shard, the first included")
    parser.add_argument("--cores", type=int, default=8, help="of a data node")
    parser.add_argument("--memory", type=float, default=64.0, help="of a data node, GiB")
    parser.add_argument("--disk", type=float, default=1_750.0, help="of a data node, GiB")
    parser.add_argument("--price", type=float, default=0.70, help="of a data node, $ an hour")
    parser.add_argument("--embedding", type=int, default=64, help="cores that embed")
    parser.add_argument("--check", action="store_true", help="measured beside the model")
    return parser.parse_args()


def main() -> None:
    """Print the table."""
    figures = read_figures()
    options = _options(figures)
    print(*(check if options.check else table)(options, figures), sep="\n")


if __name__ == "__main__":
    main()
