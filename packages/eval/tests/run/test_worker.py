"""Metrics of what was retrieved, worked by hand, and of one answer that needs no judge."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lexloop.core.types import Passage
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.judges import ClaimSupport
from lexloop_eval.case import Case, Rated, Span
from lexloop_eval.evidence import Relevant
from lexloop_eval.run.worker import (
    CaseCache,
    OneByOne,
    _of_the_answer,
    _record,
    by_people,
    of_retrieval,
    ranking,
)
from lexloop_eval.score import Unresolved


def passage(name: str, start: int = 0, end: int = 10) -> Passage:
    return {
        "id": f"{name}#{start}",
        "document": name,
        "title": "",
        "section": "",
        "page": None,
        "start": start,
        "end": end,
        "text": "",
        "score": 0.0,
        "signals": {},
        "n": 1,
    }


FOUND = [passage("a"), passage("a", 10, 20), passage("b"), passage("c"), passage("d")]
IDS = [one["id"] for one in FOUND]


def test_chunks_documents_and_characters() -> None:
    spans = (Span(document="a", start=5, end=25),)
    relevant = Relevant({"a#10": 1, "c#0": 2, "z#0": 1}, {"a": 1, "d": 2}, spans)
    scores = of_retrieval(relevant, IDS, FOUND[:2], 2)
    # of the two passages the second is relevant; of all five the second and the fourth
    assert (scores["recall@k"], scores["precision@k"]) == (1 / 3, 1 / 2)
    assert (scores["hit@k"], scores["mrr@k"], scores["map@k"]) == (1.0, 1 / 2, (1 / 2) / 3)
    assert (scores["recall@5"], scores["precision@5"]) == (2 / 3, 2 / 5)
    gain = 1 / math.log2(3) + 3 / math.log2(5)
    best = 3 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert scores["ndcg@5"] == pytest.approx(gain / best)
    assert scores["ndcg@10"] == Unresolved("fewer than 10 candidates")
    # documents come as a, b, c: a is one of the two that are relevant
    assert (scores["document_recall@3"], scores["document_precision@3"]) == (1 / 2, 1 / 3)
    # 0-10 and 10-20 hold 15 of the 20 characters of 5-25
    assert (scores["span_recall"], scores["span_precision"]) == (15 / 20, 15 / 20)


def test_what_is_not_known_is_unresolved_everywhere() -> None:
    scores = of_retrieval(Relevant.unknown("nobody knows"), IDS, FOUND, 5)
    assert set(scores.values()) == {Unresolved("nobody knows")}
    assert len(scores) == 6 * 4 + 2


def state(passages: list[Passage], last: list[Passage]) -> dict[str, Any]:
    return {
        "passages": passages,
        "attempts": [{"passages": passages}, {"passages": last}],
        "candidates": FOUND[:4],
        "graph_candidates": [passage("graph")],
    }


def test_the_ranking_begins_with_the_passages() -> None:
    chosen = [FOUND[2], FOUND[0]]
    assert ranking(state(chosen, chosen)) == ["b#0", "a#0", "a#10", "c#0", "graph#0"]
    # the candidates are those of the last attempt, not of the one that became the answer
    assert ranking(state(chosen, FOUND)) == ["b#0", "a#0"]
    assert ranking(state([], [])) == [*IDS[:4], "graph#0"]


GOLD = Case(
    question="When is the fee due?",
    rated=(
        Rated(answer="By 31 March.", score=1.0),
        Rated(answer="by  31 March", score=0.5),
        Rated(answer="In May.", score=0.0),
    ),
)


def test_people_who_scored_the_same_words_are_averaged() -> None:
    assert by_people(GOLD, "By 31 March. [2]") == 0.75
    assert by_people(GOLD, "In May. [1][2]") == 0.0


def test_one_by_one_the_company_of_a_text_does_not_show() -> None:
    embedder, texts = load_minilm(), ["A bias audit is impartial.", "Who pays the penalty?"]
    whole, reverse = OneByOne(embedder), OneByOne(embedder)
    assert np.array_equal(whole.embed(texts), reverse.embed(texts[::-1])[::-1])
    assert whole.embed([]).shape == (0, embedder.dimension)


def test_what_is_known_is_known_of_one_question() -> None:
    once, values = CaseCache(), list[str]()
    for question in ("a", "a", "b"):
        once.about(question)
        values.append(once.get("key", question.upper))
    assert values == ["A", "A", "B"]


def test_what_a_question_cost_is_recorded_where_prices_are_known() -> None:
    usage = {"model_calls": 1, "tokens_in": 11, "tokens_out": 7, "seconds": 0.1}
    fields: dict[str, Any] = {
        **{"complexity": 1, "answer": "It is.", "abstained": False, "warning": ""},
        **{"evaluation": {"passed": True}, "citations": [], "passages": [], "degraded": []},
    }
    case = Case(id="a", question="Is it?", question_type="simple", reference_answer="It is.")
    assert "cost_usd" not in _record(case, {**fields, "usage": usage}, 1.0, 3)
    priced = {**fields, "usage": {**usage, "cost_usd": 0.0025}}
    assert _record(case, priced, 1.0, 3)["cost_usd"] == 0.0025


def test_a_line_that_code_wrote_is_no_claim() -> None:
    async def judge(*_: Any) -> Judgement:
        return Judgement(None, None, None)

    embed, said = load_minilm().embed, "The owner pays the fee."
    answer = {"abstained": False, "answer": f"In law.txt:\n{said} [1]"}
    judges = SimpleNamespace(known=CaseCache(), embed=embed, support=ClaimSupport(embed))
    for told, faithfulness in (["In law.txt:"], 1.0), ([], 0.5):
        asked: Any = SimpleNamespace(
            **{"state": {**answer, "attempts": [{"told": told}]}, "question": "Who pays?"},
            **{"passages": [passage("law.txt") | {"text": said}], "judges": judges},
            judge=SimpleNamespace(judge=judge),
        )
        assert _of_the_answer(asked)["faithfulness"] == faithfulness
