"""The embedded judge on one provision."""

from collections.abc import Callable

import pytest

from lexloop.core.running import waited
from lexloop.core.types import ABSTENTION, Passage
from lexloop.nodes.context import Judgement
from lexloop.nodes.evaluate.judges import EmbeddedJudge
from lexloop.nodes.question import parse
from lexloop.store.view import View

PAYS = "A boat owner must pay the mooring fee within 10 business days of arrival."
QUESTION = "When must the owner pay the mooring fee?"
Judge = Callable[..., Judgement]


@pytest.fixture
def judge(small: View) -> Judge:
    def run(question: str, answer: str, *sections: str) -> Judgement:
        found = [chunk for chunk in small.every_chunk() if chunk["section"] in sections]
        passages: list[Passage] = [
            {**chunk, "score": 1.0, "signals": {}, "n": n} for n, chunk in enumerate(found, 1)
        ]
        return waited(EmbeddedJudge(small).judge(parse(question), passages, answer))

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
