"""The k passages: merged, reordered, numbered; how many, and by a cross-encoder."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indexes import view_of
from records import Held, candidate
from running import runtime, update_of
from tiny_bert import build

from lexloop.core.errors import DataError, DeadlineExceeded
from lexloop.core.running import Deadline, within
from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import BESIDE, Candidate, Chunk
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.question.parts import parse
from lexloop.nodes.rerank import (
    TEMPERATURE,
    CrossEncoderReranker,
    FeatureReranker,
    NoReranker,
    adaptive_k,
    budget_of,
    first_related,
    merge,
    of_each_document,
    operative_first,
    rerank,
)
from lexloop.store.view import View


def found(chunk: Chunk, **signals: float) -> Candidate:
    return {**chunk, "score": 0.5, "signals": signals}


def state(candidates: list[Candidate], graph: list[Candidate] | None = None, k: int = 3) -> State:
    return {
        "parsed": parse("What is the penalty for mooring without an inspection?"),
        "plan": {"k": k, "Q": 3, "K": 3, "S": 1},
        "candidates": candidates,
        "graph_candidates": graph or [],
    }


def ids(candidates: list[Any]) -> list[str]:
    return [item["id"] for item in candidates]


def test_the_graphs_chunks_come_after_and_known_ones_keep_both_signals() -> None:
    merged = merge(
        [candidate("a", dense=0.5), candidate("b", lexical=2.0)],
        [candidate("b", score=9.0, graph=0.75), candidate("c", graph=0.25)],
    )
    assert ids(merged) == ["a", "b", "c"]
    assert merged[1]["signals"] == {"lexical": 2.0, "graph": 0.75}
    assert merged[1]["score"] == 1.0


def test_the_best_statement_decides(small: View) -> None:
    pool = [found(chunk) for chunk in small.every_chunk()]
    for hostile in ("?", "\x00", "a" * 3000):
        assert len(FeatureReranker(small).rerank(parse(hostile), pool)) == len(pool)
    question = "What is the penalty for mooring without an inspection?"
    ranked = FeatureReranker(small).rerank(parse(question), pool)
    assert ranked[0]["section"] == "§ 5-200"
    assert sorted(ids(ranked)) == sorted(ids(pool))
    scores = [item["score"] for item in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(item["signals"]["rerank"] == item["score"] for item in ranked)
    assert all(type(item["score"]) is float for item in ranked)


def test_what_the_question_points_to_is_taken_whole_and_first(small: View) -> None:
    chunks = list(small.every_chunk())
    pool = [
        *(found(chunk, pointed=1.0) for chunk in chunks[:3]),
        *(found(chunk, lexical=1.0) for chunk in chunks[3:]),
    ]
    around = runtime(view=small, reranker=FeatureReranker(small))
    taken = update_of(rerank, state(pool, k=4), around)["passages"]
    assert ids(taken)[:3] == [chunk["id"] for chunk in chunks[:3]]
    assert [passage["n"] for passage in taken] == [1, 2, 3, 4]
    assert len(update_of(rerank, state(pool, k=1), around)["passages"]) == 3


def supporting(name: str, score: float) -> Candidate:
    return {**candidate(name, score=score), "supporting": True}


@pytest.mark.parametrize(
    ("pool", "k", "taken"),
    [
        ("A9 a8 b7 c6 d5 e4", 5, "a b c d A"),
        ("A9 B9 C9 a8 b7 c6 d5 e4 f3 g2 h1 i1 j1", 10, "a b c d e f g h A B"),
    ],
)
def test_operative_text_first(pool: str, k: int, taken: str) -> None:
    ranked = [
        supporting(item[0], float(item[1]))
        if item[0].isupper()
        else candidate(item[0], score=float(item[1]))
        for item in pool.split()
    ]
    assert ids(operative_first(ranked, k)) == taken.split()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=12), st.integers(0, 12))
def test_as_many_are_taken_as_there_are(drawn: list[tuple[bool, int]], k: int) -> None:
    ranked = [
        supporting(str(n), score) if beside else candidate(str(n), score=score)
        for n, (beside, score) in enumerate(sorted(drawn, key=lambda item: -item[1]))
    ]
    taken = operative_first(ranked, k)
    assert len(taken) == min(k, len(ranked))
    flags = [bool(item.get("supporting")) for item in taken]
    assert flags == sorted(flags)
    operative = sum(not item.get("supporting") for item in ranked)
    assert sum(flags) <= max(k // 5, k - operative)


def retried(found: list[Candidate], strategy: str) -> State:
    """A retry that reranks these and takes one passage."""
    advice = {"question": "", "queries": [], "guidance": "", "strategy": strategy}
    attempts: Any = [{"passages": [], "advice": advice}]
    return {**state(found, k=1), "attempts": attempts}


@pytest.mark.parametrize(
    ("strategy", "pool", "taken"),
    [
        ("reread", [candidate("a"), candidate("b")], ["a"]),
        ("broaden", [candidate("a"), candidate("b"), candidate("c")], ["a", "b"]),
        ("whole", [candidate("a"), candidate("b"), candidate("c", followed=1.0)], ["a", "c"]),
        ("operative", [supporting("a", 1.0), candidate("c", score=0.1)], ["c"]),
        ("operative", [supporting("a", 1.0)], []),
    ],
)
def test_a_retry_takes_what_its_strategy_says(
    strategy: str, pool: list[Candidate], taken: list[str]
) -> None:
    around = runtime(view=Held(*pool), reranker=NoReranker())
    update = update_of(rerank, retried(pool, strategy), around)
    assert ids(update["passages"]) == taken


def earlier(
    name: str, *, queries: Sequence[str] = (), strategy: str = "reread", **signals: float
) -> dict[str, Any]:
    """An attempt that was written from one passage, and what was to be done then."""
    passage = {"id": name, "n": 1, "score": 0.1, "signals": signals}
    return {"passages": [passage], "advice": {"queries": queries, "strategy": strategy}}


@pytest.mark.parametrize(
    ("complexity", "attempts", "taken"),
    [
        (0, [], "abc"),  # 1,500 tokens of 500 each
        (2, [], "abcde"),
        (0, [earlier("h")], "hab"),  # nothing else is searched for
        (0, [earlier("h", queries=["fee"])], "habcde"),
        (0, [earlier("h", strategy="broaden")], "habcde"),
        (0, [earlier("h", quoted=1.0)], "abc"),
        (0, [earlier("gone")], "abc"),  # the documents of a retriever are others by now
    ],
)
def test_for_a_model_passages_fill_a_budget_of_tokens_and_a_retry_keeps_what_it_has(
    complexity: int, attempts: list[Any], taken: str
) -> None:
    pool = [candidate(name, "word " * 400) for name in "abcdefgh"]
    asked: Any = {**state(pool[:7]), "complexity": complexity, "attempts": attempts}
    model = SimpleNamespace(instructions="Answer from the passages.")
    around = runtime(view=Held(*pool), reranker=NoReranker(), generator=model)
    update = update_of(rerank, asked, around)
    assert "".join(ids(update["passages"])) == taken
    assert update["plan"]["k"] == len(taken)


def test_of_five_classes_the_budgets_between_three_count_and_of_two_the_last() -> None:
    assert [budget_of((1500, 2000, 2500), place, 5) for place in range(5)] == [
        *(1500, 1750, 2000, 2250, 2500)
    ]
    pool = [candidate(name, "word " * 400) for name in "abcdefg"]
    asked: Any = {**state(pool), "complexity": 0, "attempts": []}
    chosen = Settings(**{"plan.classes": 2, "plan.k": {"budgets": [500, 1000, 9000]}})
    around = runtime(view=Held(*pool), reranker=NoReranker(), settings=chosen)
    assert "".join(ids(update_of(rerank, asked, around)["passages"])) == "ab"


@pytest.mark.parametrize(
    ("chosen", "strategy", "taken"),
    [
        ({}, "reread", "abc"),
        ({"plan.k": 1}, "reread", "a"),
        ({"plan.k": 1, "plan.beside": 1}, "reread", "ab"),
        ({"plan.beside": 0}, "broaden", "a"),
    ],
)
def test_no_more_stand_beside_the_k_than_the_settings_say(
    chosen: dict[str, int], strategy: str, taken: str
) -> None:
    pool = [{**candidate(name, score=1.0), "document": name} for name in "abc"]
    around = runtime(view=Held(*pool), reranker=NoReranker(), settings=Settings(**chosen))
    update = update_of(rerank, retried(pool, strategy), around)
    assert "".join(ids(update["passages"])) == taken


SCORES = st.lists(st.floats(0.001, 100.0), min_size=1, max_size=40).map(
    lambda found: sorted(found, reverse=True)
)
SHARES = st.floats(0.001, 1.0)


def behind(*factors: float) -> list[float]:
    """Scores that weigh 1, then 1 / factor each."""
    return [2.0 - 2.0 * TEMPERATURE * math.log(factor) for factor in (1.0, *factors)]


@pytest.mark.parametrize(
    ("scores", "share", "most", "taken"),
    [
        ([0.0, 0.0], 0.05, 10, 2),
        ([2.0, 2.0, 2.0, 2.0], 0.25, 10, 4),  # each holds a quarter
        (behind(4.0, 20.0), 0.15, 10, 2),  # weights 1, 0.25 and 0.05: shares 0.77, 0.19, 0.04
        ([*behind(4.0, 20.0), 2.0], 0.15, 10, 1),  # a copy at the end weighs, and none jumps ahead
    ],
)
def test_by_hand(scores: list[float], share: float, most: int, taken: int) -> None:
    assert adaptive_k(scores, share, most) == taken


@given(SCORES, SHARES, SHARES, st.integers(1, 50))
def test_at_least_one_and_never_more_than_allowed_and_a_higher_share_takes_no_more(
    scores: list[float], one: float, other: float, most: int
) -> None:
    low, high = sorted((one, other))
    fewer, more = adaptive_k(scores, high, most), adaptive_k(scores, low, most)
    assert 1 <= fewer <= more <= min(most, len(scores))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = "fee berth owner must pay the a"
    return Path(build(tmp_path_factory.mktemp("reranker"), words, ["relevant"]))


def test_candidates_are_ordered_by_the_models_score(folder: Path) -> None:
    pool = [
        candidate("a", "the owner must pay", dense=0.5),
        candidate("b", "a berth", dense=0.5),
        candidate("c", "the fee " * 100, dense=0.5),  # longer than the model's window
    ]
    reranker = CrossEncoderReranker(str(folder))
    ranked = reranker.rerank(parse("the fee"), pool)
    assert sorted(item["id"] for item in ranked) == ["a", "b", "c"]
    scores = [item["score"] for item in ranked]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    for item in ranked:
        assert type(item["score"]) is float
        assert item["signals"] == {"dense": 0.5, "rerank": item["score"]}
    again = {item["id"]: item["score"] for item in reranker.rerank(parse("the fee"), pool[::-1])}
    assert again == pytest.approx({item["id"]: item["score"] for item in ranked}, abs=1e-5)
    assert reranker.rerank(parse("the fee"), []) == []


def test_scoring_stops_when_the_question_has_run_out_of_time(folder: Path) -> None:
    reranker = CrossEncoderReranker(str(folder))
    over = Deadline(time.monotonic() - 1, allowed_s=5)
    with within(over), pytest.raises(DeadlineExceeded, match="reranked"):
        reranker.rerank(parse("the fee"), [candidate("a", "the owner must pay", dense=0.5)])


def test_what_is_no_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reranker"):
        CrossEncoderReranker(str(tmp_path / "nowhere"))
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in folder.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes())
    (damaged / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(DataError, match="reranker"):
        CrossEncoderReranker(str(damaged))


def test_what_is_called_by_name_comes_somewhat_before_others() -> None:
    pool = [candidate("a", score=0.9), candidate("b", score=0.6), candidate("c", score=0.8)]
    told = [{**one, "document": f"{one['id']}.txt"} for one in pool]
    asked = state(told)
    for called, order in (([], "abc"), (["b.txt"], "abc"), (["c.txt"], "cab")):
        asked["parsed"]["called"] = called
        around = runtime(view=Held(*told), reranker=NoReranker())
        update = update_of(rerank, asked, around)
        assert "".join(one["id"] for one in update["passages"]) == order, called


def test_each_of_a_few_documents_has_a_passage() -> None:
    pool = [
        candidate(name, score=score)
        for name, score in zip("abcd", (0.9, 0.8, 0.2, 0.1), strict=True)
    ]
    told = [{**one, "document": f"{one['id'] in 'ab'}.txt"} for one in pool]
    asked = {**state(told), "plan": {"k": 1, "Q": 1, "K": 1, "S": 1}}
    for called, taken in (([], "ac"), (["True.txt"], "a")):
        asked["parsed"]["called"] = called
        around = runtime(view=Held(*told), reranker=NoReranker())
        update = update_of(rerank, asked, around)
        assert "".join(one["id"] for one in update["passages"]) == taken, called
        beside = [one["id"] for one in update["passages"] if BESIDE in one["signals"]]
        assert beside == [*taken[1:]]
    many = [{**candidate(f"c{n}"), "document": f"{n}.txt"} for n in range(9)]
    assert of_each_document(many[:1], many[:8]) == many[1:8]
    assert of_each_document(many[:1], many) == []
    assert of_each_document([], []) == []


def test_one_is_taken_that_relations_lead_to() -> None:
    pool = [candidate(name, score=score) for name, score in zip("abcd", (4, 3, 2, 1), strict=True)]
    pool[1]["signals"]["graph"] = 0.0
    pool[2]["signals"]["graph"] = pool[3]["signals"]["graph"] = 0.2
    assert [one["id"] for one in first_related(pool[:1], pool)] == ["c"]
    assert [one["id"] for one in first_related(pool[:3], pool)] == ["d"]
    assert first_related(pool, pool) == []
    asked = {**state(pool), "plan": {"k": 1, "Q": 1, "K": 1, "S": 1}}
    update = update_of(rerank, asked, runtime(view=Held(*pool), reranker=NoReranker()))
    assert [one["id"] for one in update["passages"]] == ["a", "c"]
    assert [BESIDE in one["signals"] for one in update["passages"]] == [False, True]


_RECITED = """Berth Regulation

Whereas:

(1) Whoever loses a boat in a storm should not pay for a berth that stands empty.

(2) Salt is sold in sacks, and sacks differ.

Article 1

Charges cease where use of a berth is impossible.

Article 2

Salt is weighed dry.
"""


def test_a_recital_near_the_question_brings_forward_what_it_explains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = view_of(Document("a.txt", "Berth Regulation", _RECITED), embedder=load_minilm())
    pool = [found(chunk, dense=0.5) for chunk in view.every_chunk()]
    assert [one["section"] for one in pool if one.get("supporting")] == ["Recital 1", "Recital 2"]
    asked = parse("My boat sank in a storm, must I still pay?")

    def scores(weight: float) -> dict[str, float]:
        monkeypatch.setattr("lexloop.nodes.rerank.EXPLAINED", weight)
        ranked = FeatureReranker(view).rerank(asked, pool)
        return {one["section"]: one["score"] for one in ranked}

    before, after = scores(0.0), scores(1.0)
    gained = {section: after[section] - before[section] for section in after}
    assert gained["Article 1"] > 0.05
    assert gained["Article 1"] + gained["Article 2"] == pytest.approx(0.0, abs=1e-6)
    assert gained["Recital 1"] == gained["Recital 2"] == 0.0
