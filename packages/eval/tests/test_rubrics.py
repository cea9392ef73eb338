"""Judging by the papers' rubrics beside hardened ones: scales, forms, caps and orders, by hand."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_openai import FakeOpenAI, Reply, Request, reply
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from sets import rows

from lexloop.core.settings import Settings
from lexloop.models.request import Unreadable, read_json
from lexloop.prompts import under
from lexloop_eval.asking import Asker
from lexloop_eval.judges_by_model import (
    METHODS,
    SPEAKERS,
    Given,
    chat_eval,
    correctness,
    fair_eval,
    groundedness_tenths,
    model_metrics,
    similarity_tenths,
)
from lexloop_eval.rubrics import GradeLine, ShareLine
from lexloop_eval.score import Unresolved

Converse = Callable[..., Any]


FORMS: dict[str, type[BaseModel]] = {"grade": GradeLine, "share": ShareLine}


@pytest.mark.parametrize(("form", "text", "score"), rows("scores"))
def test_a_score_stands_alone_on_a_line(form: str, text: str, score: float) -> None:
    assert read_json(text, FORMS[form]).model_dump() == {"score": score}


@pytest.mark.parametrize(("form", "text", "problem"), rows("no_scores"))
def test_what_is_no_score(form: str, text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_json(text, FORMS[form])


@given(st.text(), st.integers(10, 50))
def test_no_reason_changes_the_grade_before_it(reason: str, tenths: int) -> None:
    assert read_json(f"{tenths / 10}\n{reason}", GradeLine).score == tenths / 10


def no_vectors(texts: list[str]) -> Any:
    return np.ones((len(texts), 1), np.float32)


HARDENED = Given(
    "Is a cat allowed?",
    "Yes [1].",
    "No, cats are not allowed.",
    ["Cats are forbidden."],
    no_vectors,
)
REWORDED = replace(HARDENED, rubrics="reworded")
CAP = "cannot be more than 2"


def heeding(request: Request) -> Reply:
    """A grade of 3 by a model that does as its instructions say, in the form that they ask for."""
    score = 2 if CAP in request.system else 3
    return reply(score=score) if '{"reasoning"' in request.system else Reply(f"{score}\nSo.")


def test_the_cap_is_ours_and_off_where_the_papers_rubrics_judge(
    server: FakeOpenAI, converse: Converse
) -> None:
    server.otherwise = heeding
    graded = [converse(correctness, case, m) for case in (HARDENED, REWORDED) for m in METHODS]
    assert graded == [3.0, 3.0, 2.0, 3.0, 3.0, 3.0]
    roles = [request.role for request in server.requests]
    names = [f"correctness_{method}" for method in METHODS]
    assert roles == [*names, *(f"after_kalra/{name}" for name in names)]
    for request in server.requests:
        assert request.user.count("<data-") == 3
        assert "never an instruction" in request.system


def test_tenths_are_strict_where_they_are_hardened_alone(server: FakeOpenAI, asker: Asker) -> None:
    server.otherwise = lambda request: (
        reply(score=0.55) if '{"reasoning"' in request.system else Reply("0.55")
    )
    for judge in (groundedness_tenths, similarity_tenths):
        refused = asker.settle(judge(asker, HARDENED))
        assert isinstance(refused, Unresolved)
        assert "whole number of tenths" in refused.reason
        assert asker.settle(judge(asker, REWORDED)) == 0.55


def evidence(*scores: list[float]) -> Reply:
    return reply(evidence=[{"reasoning": "So.", "scores": given} for given in scores])


@pytest.mark.parametrize("document", [None, "§ 4 Form B is to be used."])
def test_fair_eval_as_reworded_is_one_judgement_in_one_order(
    server: FakeOpenAI, converse: Converse, document: str | None
) -> None:
    answers = ["Form A.", "Form B."]
    server.script(evidence([1, 10]))
    assert converse(fair_eval, "Which?", answers, document, "reworded") == [1.0, 10.0]
    [request] = server.requests
    assert request.role == ("after_ryu/fair_eval_document" if document else "after_ryu/fair_eval")
    assert converse(fair_eval, "Which?", [], document, "reworded") == []


def test_chat_eval_as_reworded_names_no_roles(server: FakeOpenAI, converse: Converse) -> None:
    turns = [reply(remark="Hm.", scores=[score]) for score in (1, 1, 1, 1, 10, 9, 8, 5)]
    server.script(*turns)
    assert converse(chat_eval, "Which?", ["Form A."], "§ 4", "reworded") == [8.0]
    assert {request.role for request in server.requests} == {"after_ryu/chat_eval_document"}
    assert len(server.requests) == 2 * SPEAKERS
    assert not any("lawyer" in request.system for request in server.requests)


@pytest.fixture
def by_papers(server: FakeOpenAI, tmp_path: Path) -> Iterator[Asker]:
    """What judges by the reworded rubrics, with the replies of the ``asker`` beside it."""
    chosen = {"model.attempts": 1, "loop.rubrics": "reworded"}
    settings = Settings(model="openai:scripted", deadline_s=5, **chosen)
    with Asker(settings, server.connection, tmp_path / "replies.sqlite") as made:
        yield made


def all_in_form(request: Request) -> Reply:
    if str(request.role).endswith("evaluate"):
        low = {"score": 0.25 if "after_" in str(request.role) else 0.75}
        return reply(answer_relevance=low, context_relevance=low, groundedness=low)
    return Reply("1\nSo.") if "after_" in str(request.role) else reply(score=1)


def test_rubrics_share_no_kept_reply(server: FakeOpenAI, asker: Asker, by_papers: Asker) -> None:
    """Those without a printed prompt are the same under both, and asked once."""
    server.otherwise = all_in_form
    metrics = [model_metrics(asker, HARDENED), model_metrics(by_papers, REWORDED)]
    assert [scores["model_groundedness"] for scores in metrics] == [0.75, 0.25]
    asked = [str(request.role) for request in server.requests]
    reworded = [role for role in asked if role.startswith("after_")]
    graded = {*(f"correctness_{method}" for method in METHODS), "evaluate"}
    graded |= {"groundedness_tenths", "similarity_tenths"}
    assert sorted(reworded) == sorted(under("reworded", name) for name in graded)
    assert graded <= {*asked}
    assert model_metrics(by_papers, REWORDED) == metrics[1]
    again = [str(request.role) for request in server.requests[len(asked) :]]
    assert not graded & {role.rpartition("/")[2] for role in again}
