"""Questions and rewordings by a model."""

import json
from random import Random

import pytest
from fake_openai import FakeOpenAI, Reply, Request

from lexloop.core.errors import ModelUnavailable
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.case import OUT_OF_SCOPE
from lexloop.evaluation.testset.make import ModelMaker, WrittenQuestion, case_of, make_test_set
from lexloop.evaluation.testset.training import ModelNoise
from lexloop.store.view import View


def written(request: Request) -> Reply:
    """A question on the first sentence of the first passage."""
    passage = request.user.split("\n")[1]
    quote = passage.split(". ")[0]
    topic = " ".join(quote.split()[-4:])
    return Reply(json.dumps({
        "question": f"What do the documents say of {topic}?",
        "answer": quote,
        "quotes": [quote],
        "history_user": f"I want to know about {topic}.",
        "history_assistant": "",
    }))  # fmt: skip


def test_a_models_questions_are_tied_to_their_quotes(
    server: FakeOpenAI, asker: Asker, contract: View
) -> None:
    server.play("make_question", written)
    maker = ModelMaker(contract, asker, 7)
    for kind in ("simple", "conversational"):
        for question in make_test_set(contract, maker, 2, (kind,)).questions:
            assert question.evidence
            texts = [contract.text_of(span.document) or "" for span in question.evidence]
            quotes = [t[s.start : s.end] for t, s in zip(texts, question.evidence, strict=True)]
            assert question.reference_context == "\n\n".join(quotes)
            assert (question.reference_answer or "?") in quotes[0]
            roles = [turn.role for turn in question.conversation_history]
            assert roles == (["user", "assistant"] if kind == "conversational" else [])


def test_a_model_that_writes_nothing_is_said_to(
    server: FakeOpenAI, asker: Asker, contract: View
) -> None:
    server.play("make_question", Reply("I would rather not."))
    with pytest.raises(ModelUnavailable, match="wrote no question"):
        ModelMaker(contract, asker, 7)("simple", 2)


def test_quotes_must_be_in_the_passages(contract: View) -> None:
    chunk = next(iter(contract.every_chunk()))
    words = chunk["text"].split()[:6]

    def case(kind: str, *quotes: str, **more: str) -> object:
        reply = WrittenQuestion(
            question="What is flour?", answer="Wheat.", quotes=list(quotes), **more
        )
        return case_of(reply, kind, [chunk], contract)

    assert case("simple", "  \n".join(words)) is not None
    assert case("simple", "Rye is not flour.") is None
    assert case("simple", " ".join(words), "Rye is not flour.") is None
    assert case("simple") is None
    assert case("simple", " ") is None
    assert case(OUT_OF_SCOPE) is not None
    assert case("conversational", " ".join(words)) is None


def test_a_model_rewords_and_rules_stand_in(server: FakeOpenAI, asker: Asker) -> None:
    server.play("augment_question", Reply('{"question": "Levy?"}'), Reply("no"))
    noise = ModelNoise(asker)
    assert noise("shortened", "What is the levy?", Random(1)) == "Levy?"
    assert noise("misspelt", "What is the levy?", Random(1)) != "What is the levy?"
    assert len(server.requests) == 1
    assert noise("verbose", "What is the levy?", Random(1)).endswith("what is the levy?")
    assert noise.failed == 1
