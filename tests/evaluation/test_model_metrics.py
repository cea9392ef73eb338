"""Every metric that a model judges, from scripted replies over real HTTP to numbers by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_openai import FakeOpenAI, Reply, reply

from lexloop.core.errors import ModelAuthError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import ABSTENTION
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.model_metrics import model_metrics
from lexloop.evaluation.score import Unresolved
from lexloop.models.embedding import Vectors

CONTEXTS = ["The fee is $50.", "Fees are paid in May."]
GIVEN: dict[str, Any] = {
    "question": "What fee?",
    "answer": "It is $50 [1], due in June [2].",
    "reference": "The fee is $50, due in May.",
    "contexts": CONTEXTS,
}
RUBRICS = {"model_correctness_general", "model_correctness_criteria", "model_correctness_examples"}
GROUNDED = {"model_faithfulness", "model_groundedness_tenths", "model_context_relevance"}
GROUNDED |= {"model_groundedness"}
STATED = {*GROUNDED, "model_answer_relevancy", "model_answer_relevance"}
BY_PASSAGES = {*GROUNDED, "model_context_precision", "model_context_recall"}
BY_REFERENCE = {
    *RUBRICS,
    "model_context_precision",
    "model_context_recall",
    "model_similarity_tenths",
}


def embed(texts: list[str]) -> Vectors:
    """The question points north; a text about trees east; others between."""
    known = {"What fee?": (0, 1), "Which tree?": (1, 0)}
    return np.array([known.get(text, (0.6, 0.8)) for text in texts], np.float32)


def verdicts(*values: bool) -> Reply:
    return reply(verdicts=[{"n": n, "verdict": v} for n, v in enumerate(values, start=1)])


def rehearse(server: FakeOpenAI) -> None:
    """A model that answers everything well."""
    server.play(
        "split_claims",
        reply(claims=["The fee is $50.", "The fee is due in June."]),
        reply(claims=["The fee is $50.", "The fee is due in May."]),
    )
    server.play("attribute_claims", verdicts(True, False), verdicts(True, True))
    server.play("context_precision", verdicts(False, True))
    server.play("questions_of_answer", reply(questions=["What fee?", "Which tree?", "How much?"]))
    server.play("correctness_general", reply(score=3))
    server.play("correctness_criteria", reply(score=4))
    server.play("correctness_examples", reply(score=2.5))
    server.play("groundedness_tenths", reply(score=0.5))
    server.play("similarity_tenths", reply(score=0.7))
    server.play(
        "evaluate",
        reply(
            answer_relevance={"score": 1},
            context_relevance={"score": 0.75},
            groundedness={"score": 0.5},
        ),
    )


def test_every_metric_and_a_rerun_that_costs_nothing(server: FakeOpenAI, asker: Asker) -> None:
    rehearse(server)
    found = model_metrics(asker, embed, **GIVEN)
    wanted = {
        "model_faithfulness": 0.5,
        "model_answer_relevancy": pytest.approx((1 + 0 + 0.8) / 3),
        "model_context_precision": 0.5,
        "model_context_recall": 1.0,
        "model_correctness_general": 3.0,
        "model_correctness_criteria": 4.0,
        "model_correctness_examples": 2.5,
        "model_groundedness_tenths": 0.5,
        "model_similarity_tenths": 0.7,
        "model_answer_relevance": 1.0,
        "model_context_relevance": 0.75,
        "model_groundedness": 0.5,
    }
    assert list(found.items()) == list(wanted.items())
    assert len(server.requests) == asker.spent["model_calls"] == 12
    assert model_metrics(asker, embed, **GIVEN) == found
    assert len(server.requests) == 12


@pytest.mark.parametrize(
    ("changes", "reason", "missing"),
    [
        ({"reference": " \n"}, "there is no reference answer", BY_REFERENCE),
        ({"contexts": []}, "no passage was retrieved", BY_PASSAGES),
        ({"answer": ABSTENTION}, "the answer is an abstention", STATED),
        ({"answer": ""}, "there is no answer", STATED | RUBRICS | {"model_similarity_tenths"}),
    ],
)
def test_what_a_metric_lacks_leaves_it_unresolved_and_is_not_asked(
    server: FakeOpenAI, asker: Asker, changes: dict[str, Any], reason: str, missing: set[str]
) -> None:
    rehearse(server)
    found = model_metrics(asker, embed, **{**GIVEN, **changes})
    assert {name for name, score in found.items() if score == Unresolved(reason)} == missing
    assert {name for name, score in found.items() if isinstance(score, Unresolved)} == missing


def test_garbage_leaves_the_other_metrics_alone(server: FakeOpenAI, asker: Asker) -> None:
    rehearse(server)
    server.play("groundedness_tenths", reply(score=0.55))
    server.play("correctness_general", Reply("five!"))
    server.play("evaluate", Reply("All fine."))
    found = model_metrics(asker, embed, **GIVEN)
    failed = {name: score for name, score in found.items() if isinstance(score, Unresolved)}
    assert set(failed) == {
        "model_groundedness_tenths",
        "model_correctness_general",
        "model_answer_relevance",
        "model_context_relevance",
        "model_groundedness",
    }
    assert "whole number of tenths" in failed["model_groundedness_tenths"].reason
    assert "could not be read" in failed["model_groundedness"].reason


def test_refused_key_stops_at_the_first_call(server: FakeOpenAI, tmp_path: Path) -> None:
    wrong = Connection(base_url=server.base_url, api_key="sk-wrong-91b7e0c4d2")
    settings = Settings(model="openai:scripted")
    with Asker(settings, wrong, tmp_path / "r") as asker, pytest.raises(ModelAuthError):
        model_metrics(asker, embed, **GIVEN)
    assert len(server.requests) == 1
