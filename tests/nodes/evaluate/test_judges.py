"""The judges: the embedded one on one provision, the model's over real HTTP."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from records import passage

from lexloop.core.running import waited
from lexloop.core.types import ABSTENTION, Passage
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.judges import EmbeddedJudge, ModelJudge, exchanged_words, gaps_filled
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

PAYS = "A boat owner must pay the mooring fee within 10 business days of arrival."
QUESTION = "When must the owner pay the mooring fee?"
Judge = Callable[..., Judgement]


@pytest.fixture
def judge(small: View, passages: Callable[..., list[Passage]]) -> Judge:
    def run(question: str, answer: str, *sections: str) -> Judgement:
        found = passages(*sections) if sections else []
        return waited(EmbeddedJudge(small).judge(parse(question), found, answer))

    return run


def test_a_quoted_answer_scores_high(judge: Judge) -> None:
    found = judge(QUESTION, f"{PAYS} [1]", "§ 10-2")
    assert found.answer_relevance > 0.8
    assert found.context_relevance > 0.7
    assert found.groundedness == 1.0
    assert found.reasons == []
    scores = (found.answer_relevance, found.context_relevance, found.groundedness)
    assert {type(score) for score in scores} == {float}


def test_what_the_passages_do_not_say_is_not_grounded(judge: Judge) -> None:
    found = judge(QUESTION, f"{PAYS} [1] The moon is made of green cheese. [1]", "§ 10-2")
    assert found.groundedness == pytest.approx(0.5, abs=0.15)
    assert found.reasons == ["Not found in the passages: The moon is made of green cheese."]


@pytest.mark.parametrize("answer", ["", "🙂", ABSTENTION, "a" * 5000])
@pytest.mark.parametrize("sections", [(), ("§ 10-2",)])
def test_scores_of_any_answer_lie_between_0_and_1(
    judge: Judge, answer: str, sections: tuple[str, ...]
) -> None:
    found = judge(QUESTION, answer, *sections)
    for score in (found.answer_relevance, found.context_relevance, found.groundedness):
        assert score is not None
        assert 0.0 <= score <= 1.0
    assert found.context_relevance == 0.0 or sections


Converse = Callable[..., Any]
PASSAGES = [passage(1, "The fee is $50.")]


def verdict(answer: object, context: object, grounded: object) -> Reply:
    scores = {"answer_relevance": answer, "context_relevance": context, "groundedness": grounded}
    return Reply(json.dumps({k: {"reasoning": f"On {k}.", "score": v} for k, v in scores.items()}))


def test_three_scores_with_their_reasons(server: FakeOpenAI, converse: Converse) -> None:
    server.play("evaluate", verdict(0.9, 0.25, 1))
    found = converse(
        lambda chat: ModelJudge(chat).judge(parse("What fee?"), PASSAGES, "It is $50 [1].")
    )
    assert found.answer_relevance == 0.9
    assert found.context_relevance == 0.25
    assert found.groundedness == 1.0
    assert isinstance(found.groundedness, float)
    assert found.reasons[1] == "context relevance 0.25: On context_relevance."
    [request] = server.requests
    assert 'passage="1">\nRule | § 1\nThe fee is $50.' in request.user
    assert 'kind="answer">\nIt is $50 [1].\n' in request.user


@pytest.mark.parametrize("named", [None, [], ["  "], [" The fee. "] * 9])
def test_what_is_missing_may_be_null_and_is_bounded(
    server: FakeOpenAI, converse: Converse, named: list[str] | None
) -> None:
    scores = json.loads(verdict(0.9, 0.9, 0.9).text)
    server.play("evaluate", Reply(json.dumps({**scores, "missing": named, "unsupported": named})))
    found = converse(
        lambda chat: ModelJudge(chat).judge(parse("What fee?"), PASSAGES, "It is $50 [1].")
    )
    assert found.missing == ["The fee."] * (5 if named and named[0].strip() else 0)
    assert len(found.unsupported) == len(found.missing)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        verdict(float("nan"), 1, 1),
        Reply('{"answer_relevance": {"score": 1}, "groundedness": {"score": 1}}'),
    ],
)
def test_scores_that_cannot_be_read_are_no_scores(
    server: FakeOpenAI, converse: Converse, reply: Reply
) -> None:
    server.otherwise = reply
    found = converse(
        lambda chat: ModelJudge(chat).judge(parse("What fee?"), PASSAGES, "It is $50 [1].")
    )
    assert (found.answer_relevance, found.context_relevance, found.groundedness) == (None,) * 3
    assert "could not be read" in found.reasons[0]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("answer", "doubted"),
    [
        ("The landlord repairs the roof and the lifts [1].", False),
        ("The landlord repairs the roof and the windows [1].", True),
        ("The landlord pays the repairs of the roof and lifts [1].", False),
        ("Motorräder sind zugelassen [2].", True),
        ("Motorräder sind nicht zugelassen [2].", False),
    ],
)
def test_a_word_in_place_of_another_is_doubted_in_any_language(answer: str, doubted: bool) -> None:
    texts = ["The landlord repairs the roof and the lifts.", "Motorräder sind nicht zugelassen."]
    shown = [passage(n, text) for n, text in enumerate(texts, 1)]
    assert bool(exchanged_words("Who repairs what?", shown, answer)) == doubted


def test_a_gap_that_the_passages_fill_is_doubted() -> None:
    shown = [passage(1, "The rent is due monthly. A second key costs 12 crowns.")]
    honest = "The rent is due monthly [1].\nNot in the passages: whether a pet is allowed."
    assert gaps_filled(shown, honest) == []
    [doubt] = gaps_filled(shown, honest.replace("whether a pet is allowed", "what a key costs"))
    assert doubt.startswith("“A second key costs 12 crowns.” may be")


def test_a_sentence_without_end_is_not_compared_word_by_word() -> None:
    cited = [passage(1, "The tenant pays the rent on the first of May. " * 500)]
    said = "the tenant pays the toll on the first of May "
    assert exchanged_words("Who pays?", cited, f"{said * 2000}[1].") == []
    cited = [passage(1, "The tenant pays the rent on the first of May.")]
    assert exchanged_words("Who pays?", cited, f"{said}[1].") != []
