"""Answers in groups, and their documents."""

import json

import pytest

from lexloop.core.types import ABSTENTION
from lexloop.evaluation.eval_rag.judging import Answer, AnswerJudge, judge_answers
from lexloop.evaluation.eval_rag.questions import QuestionIndex
from lexloop.evaluation.score import Unresolved
from lexloop.models.embedding import Embedder


def quiet(stage: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""


@pytest.fixture(scope="module")
def judge(minilm: Embedder) -> AnswerJudge:
    return AnswerJudge(minilm)


def test_answers_keep_their_order_and_share_a_document(
    judge: AnswerJudge, index: QuestionIndex
) -> None:
    dog, cat = "What does a dog licence cost?", "Does a cat need a chip?"
    answers = [
        Answer(id=str(i), system="s", question=dog if i % 2 else cat, answer=f"{i} euros.")
        for i in range(19)
    ]
    seen: list[tuple[str, int, int]] = []
    judged = judge_answers(answers, index, judge, None, progress=lambda *stage: seen.append(stage))
    assert [one["id"] for one in judged] == [str(i) for i in range(19)]
    labels = {one["question"]: one["document"] and one["document"]["label"] for one in judged}
    assert labels == {dog: "dog_act.txt § 1", cat: "cat_act.txt § 7"}
    assert ("judging", 19, 19) in seen
    assert json.loads(json.dumps(judged)) == judged


def test_a_line_names_the_documents_that_answer(judge: AnswerJudge, index: QuestionIndex) -> None:
    question = "What does a dog licence cost?"
    answers = [
        Answer(id="a", question=question, answer="40 euros."),
        Answer(id="b", question=question, answer="40 euros.", documents=("cat_act.txt",)),
        Answer(id="c", question="And a cat?", answer="Nothing.", documents=("no_act.txt",)),
    ]
    first, second, third = judge_answers(answers, index, judge, None, progress=quiet)
    assert first["document"] == second["document"]
    assert second["document"] is not None
    assert second["document"]["label"].startswith("cat_act.txt")
    assert third["document"] is None
    assert third["scores"]["groundedness_document"] == {
        "unresolved": "the index holds nothing of the documents that the line names"
    }


@pytest.mark.parametrize("answer", ["", "...", "[1]", "\x00"])
def test_answers_that_say_nothing(judge: AnswerJudge, answer: str) -> None:
    asked = Answer(question="Why?", answer=answer, reference_answer="So.", contexts=("So it is.",))
    (scores,) = judge.scores([asked], [Unresolved("none")], quiet)
    assert scores["groundedness"] == Unresolved("the answer claims nothing")
    assert scores["similarity"] == Unresolved("the answer is empty")
    assert scores["answer_relevance"] == Unresolved("the answer claims nothing")
    assert scores["correctness"] == 1.0
    assert scores["rouge1_recall"] == 0.0
    assert judge.scores([], [], quiet) == []


def test_an_answer_to_the_question_is_more_relevant(judge: AnswerJudge) -> None:
    question = "What does a dog licence cost?"
    said = ("A dog licence costs 40 euros a year.", "The town hall was built in 1870.")
    answers = [Answer(question=question, answer=text) for text in (*said, ABSTENTION)]
    scores = judge.scores(answers, [Unresolved("none")] * 3, quiet)
    to_it, beside_it, silent = (one["answer_relevance"] for one in scores)
    assert isinstance(to_it, float)
    assert isinstance(beside_it, float)
    assert 1 >= to_it > 0.5 > beside_it >= 0
    assert silent == Unresolved("the answer is an abstention")
