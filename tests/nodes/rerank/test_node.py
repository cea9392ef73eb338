"""The k passages: merged, reordered, near-copies last, numbered."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import candidate
from running import runtime, update_of

from lexloop.core.state import State
from lexloop.core.types import Candidate, Chunk
from lexloop.nodes.question import parse
from lexloop.nodes.rerank import (
    FeatureReranker,
    NoReranker,
    _of_called,
    merge,
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


def _titled(id: str, title: str, text: str) -> Candidate:
    return {**candidate(id, text), "document": f"{id}.txt", "title": title}


def test_only_the_document_that_the_question_calls_by_name_is_read() -> None:
    pool = [
        _titled("a", "Ferry Licence", "A licence ends when the ferry sinks."),
        _titled("b", "Kestrel Licence", "A licence ends on appeal."),
        _titled("c", "Merlin Licence", "The Merlin licence ends when Ferry licences do."),
    ]
    assert ids(_of_called(parse("When does the Kestrel Licence end?"), pool)) == ["b"]
    assert ids(_of_called(parse("Do the Merlin and the Kestrel Licence end?"), pool)) == ["b", "c"]
    # another says the word, but it is the whole name; or nothing is called by one
    assert ids(_of_called(parse("When does the Ferry Licence end?"), pool)) == ["a"]
    assert ids(_of_called(parse("When does the Inner Ferry Licence end?"), pool)) == ["a", "b", "c"]
    assert ids(_of_called(parse("Kestrel? When does a licence end?"), pool)) == ["a", "b", "c"]
    assert _of_called(parse("When does the Kestrel Licence end?"), []) == []


def test_the_best_statement_decides(small: View) -> None:
    pool = [found(chunk) for chunk in small.every_chunk()]
    question = "What is the penalty for mooring without an inspection?"
    ranked = FeatureReranker(small).rerank(parse(question), pool)
    assert ranked[0]["section"] == "§ 5-200"
    assert sorted(ids(ranked)) == sorted(ids(pool))
    scores = [item["score"] for item in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(item["signals"]["rerank"] == item["score"] for item in ranked)
    assert all(type(item["score"]) is float for item in ranked)


@pytest.mark.parametrize("question", ["?", "\x00", "a" * 3000])
def test_any_question_can_be_reranked(small: View, question: str) -> None:
    pool = [found(chunk) for chunk in small.every_chunk()]
    assert len(FeatureReranker(small).rerank(parse(question), pool)) == len(pool)


def test_what_the_question_points_to_is_taken_whole_and_first(small: View) -> None:
    chunks = list(small.every_chunk())
    pool = [
        *(found(chunk, pointed=1.0) for chunk in chunks[:3]),
        *(found(chunk, lexical=1.0) for chunk in chunks[3:]),
    ]
    around = runtime(reranker=FeatureReranker(small))
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
        ("a9 b8 c7 d6 e5 A4 f3", 5, "a b c d e"),
        ("A9 B9 C9 a8 b7 c6 d5 e4 f3 g2 h1 i1 j1", 10, "a b c d e f g h A B"),
        ("A9 B8 a7 b6", 5, "a b A B"),  # too few operative ones: the others fill up
        ("A9 a8", 0, ""),
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
    return {**state(found, k=1), "advice": advice}


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
    update = update_of(rerank, retried(pool, strategy), runtime(reranker=NoReranker()))
    assert ids(update["passages"]) == taken
