"""The plan, the fit and the queues behind docs/scale.md, on numbers worked by hand."""

import numpy as np
import pytest
from _scale_fit import Row, Search, Shard, shard_of
from _scale_queue import Cluster, Shape, by_rate
from scale_model import Case, Chunk, Machine, plan

ONES = np.ones(3)
SHARD = Shard(Search(1.0, 1e-6), Search(0.5, 1e-6), 4.0, 2.0, ONES, ONES)
GIB = 2**30


def test_a_question_takes_as_long_as_its_last_shard() -> None:
    cluster = Cluster(Shape(nodes=2, cores=1, shards=2, copies=1, floor_ms=3.0))
    tasks = iter([[5.0], [9.0]])
    assert cluster.answer(10.0, lambda: next(tasks)) == 10 + 9 + 3


def test_at_half_of_what_a_core_can_do_questions_wait_as_long_as_queueing_theory_says() -> None:
    draws = [lambda: [10.0]] * 60_000
    taken = by_rate(Cluster(Shape(1, 1, 1, 1)), draws, per_s=50, seed=3)
    # M/D/1 (Pollaczek-Khinchine): service + rho * service / (2 (1 - rho)) = 10 + 5
    assert taken.mean() == pytest.approx(15, rel=0.03)


def _row(chunks: int, core_ms: float, shards: int = 1, nodes: int = 1) -> dict[str, object]:
    words, vectors = 1 + chunks / 1000, 2 + chunks / 500
    return {
        "chunks": chunks,
        "shards": shards,
        "nodes": nodes,
        "words_ms": words,
        "vectors_ms": vectors,
        "p50_ms": vectors + 6,
        "core_ms": core_ms,
        "quantiles_ms": [vectors + 6] * 3,
        "repeats": [1.0, 1.5, 2.0],
    }


def test_what_follows_the_law_is_fitted_exactly() -> None:
    shard = shard_of([_row(1_000, 9.0), _row(10_000, 36.0)])
    assert shard.words == pytest.approx((1.0, 0.001))
    assert shard.vectors == pytest.approx((2.0, 0.002))
    assert shard.floor_ms == pytest.approx(6.0)
    # at the larger, words take 11 and vectors 22; 3 more were computed
    assert shard.once_ms == pytest.approx(3.0)
    assert [*shard.repeats] == [1.0, 1.5, 2.0]


def _case(chunks: int, per_s: float = 0.0, cores: int = 8) -> Case:
    kind = Row(recall=1.0, searched=1000.0, disk=2000.0, slower=2.0)
    chunk = Chunk(3.0, 100.0, 4000.0, 300.0, embedded_per_s=30.0, written_per_s=100.0)
    machine = Machine(cores, memory_gib=64, disk_gib=1000, price=0.5)
    return Case(chunks, 2, per_s, kind, chunk, SHARD, machine)


def test_memory_disk_and_shards_add_up() -> None:
    made = plan(_case(10**7))
    # a chunk: 3 x 1,000 + 100 bytes searched, 3 x 2,000 + 4,000 on disk, twice each
    assert made.searched_gib == pytest.approx(2 * 3100 * 10**7 / GIB)
    assert made.disk_gib == pytest.approx(2 * 10_000 * 10**7 / GIB)
    assert made.shards == 2  # 100 GB in shards of 50
    assert made.nodes == 3  # 57.7 GiB of files in 28.8 a node; the disk would do with one
    assert made.masters == 0
    # 1 + 5 ms of words, twice 0.5 + 15 of vectors, on each of two shards, and 4 once
    assert made.core_ms == pytest.approx(2 * (6 + 2 * 15.5) + 4)
    assert made.monthly(_case(1).machine) == 3 * 0.5 * 730
