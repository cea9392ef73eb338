"""The search over every query, on the small statute."""

from collections.abc import Callable
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.core.state import State, Update
from lexloop.core.types import Candidate
from lexloop.corpus.index.collection import Collection
from lexloop.nodes.hybrid_retrieve.backend import Hit
from lexloop.nodes.hybrid_retrieve.node import SUB_QUERY_WEIGHT, hybrid_retrieve

QUESTION = "What is the penalty for mooring without an inspection?"
Retrieve = Callable[..., list[Candidate]]


def state(question: str = QUESTION, queries: list[str] | None = None, k: int = 3) -> State:
    plan = {"k": k, "Q": 3, "K": 3, "S": 1}
    return {"standalone": question, "queries": queries or [], "plan": plan}


@pytest.fixture
def retrieve(small: Collection, finish: Callable[[Any], Update]) -> Retrieve:
    def run(asked: State, **settings: object) -> list[Candidate]:
        return finish(hybrid_retrieve(asked, small, Settings(**settings)))["candidates"]

    return run


@pytest.mark.parametrize("fusion", ["linear", "rrf"])
def test_the_section_that_answers_is_found(retrieve: Retrieve, fusion: str) -> None:
    found = retrieve(state(), fusion=fusion)
    assert found[0]["section"] == "§ 5-200"
    assert set(found[0]["signals"]) == {"lexical", "dense"}
    scores = [candidate["score"] for candidate in found]
    assert scores == sorted(scores, reverse=True)


def test_scores_are_plain_floats(retrieve: Retrieve) -> None:
    for candidate in retrieve(state()):
        assert type(candidate["score"]) is float
        assert all(type(signal) is float for signal in candidate["signals"].values())


def test_a_candidate_is_its_chunk(retrieve: Retrieve, small: Collection) -> None:
    for candidate in retrieve(state()):
        document = small.documents[candidate["document"]].text
        assert document[candidate["start"] : candidate["end"]] == candidate["text"]


def test_candidates_are_limited_but_never_to_fewer_than_k(retrieve: Retrieve) -> None:
    assert len(retrieve(state(k=3), candidates=2)) == 3
    assert len(retrieve(state(k=1), candidates=2)) == 2


def test_a_query_like_the_question_adds_nothing(retrieve: Retrieve) -> None:
    assert retrieve(state(queries=[QUESTION]), fusion="rrf") == retrieve(state(), fusion="rrf")


def test_sub_queries_bring_up_what_they_ask_for(retrieve: Retrieve) -> None:
    found = retrieve(state("Who is responsible?", ["notice of a new fee"]))
    assert found[0]["section"] == "§ 5-300"


def test_a_sub_query_counts_for_less_than_the_question(retrieve: Retrieve) -> None:
    whole = {c["id"]: c["score"] for c in retrieve(state("notice of a new fee"))}
    asked = state("zzz", ["notice of a new fee"])
    for candidate in retrieve(asked, candidates=1):
        expected = SUB_QUERY_WEIGHT * whole[candidate["id"]]
        assert candidate["score"] == pytest.approx(expected)


def test_no_backend_finds_nothing(finish: Callable[[Any], Update]) -> None:
    assert finish(hybrid_retrieve(state(), None, Settings())) == {"candidates": []}


def test_a_backend_that_finds_nothing(finish: Callable[[Any], Update]) -> None:
    class Empty:
        def search_lexical(self, queries: list[str], limit: int) -> list[list[Hit]]:
            return [[] for _ in queries]

        search_vector = search_lexical

    for fusion in ("rrf", "linear"):
        found = finish(hybrid_retrieve(state(), Empty(), Settings(fusion=fusion)))
        assert found == {"candidates": []}


@pytest.mark.parametrize("question", ["?", "ἀλήθεια", "the of and", "\x00", "a" * 4000, "§"])
def test_any_text_can_be_searched(retrieve: Retrieve, question: str) -> None:
    assert len(retrieve(state(question))) == len(retrieve(state()))


def test_advice_to_search_more_broadly_brings_up_more(retrieve: Retrieve) -> None:
    advice = {"question": QUESTION, "queries": [], "guidance": "", "broaden": True}
    assert len(retrieve({**state(k=1), "advice": advice}, candidates=3)) == 6
    narrow = {**advice, "broaden": False}
    assert len(retrieve({**state(k=1), "advice": narrow}, candidates=3)) == 3
