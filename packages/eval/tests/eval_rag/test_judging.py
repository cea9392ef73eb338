"""Answers in a file, what is refused of it by line and field, and what judges make of answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import InputError
from lexloop.core.types import ABSTENTION
from lexloop.models.embedding import Embedder
from lexloop_eval.eval_rag.judging import Answer, AnswerJudge, judge_answers, read_answers
from lexloop_eval.eval_rag.questions import QuestionIndex
from lexloop_eval.score import Unresolved

GOOD: dict[str, Any] = {"question": "Why?", "answer": "So."}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def written(file: Path, *rows: Any) -> Path:
    file.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return file


def test_what_may_be_missing(file: Path) -> None:
    bare, full = read_answers(
        written(file, GOOD, {**GOOD, "id": 7, "system": "gpt", "contexts": ["a"], "human": 3})
    )
    assert (bare.id, bare.system, bare.human, bare.contexts) == ("a0001", "", None, None)
    assert (full.id, full.system, full.human, full.contexts) == ("7", "gpt", 3.0, ("a",))


def test_a_column_of_another_name(file: Path) -> None:
    (answer,) = read_answers(written(file, {**GOOD, "lawyer": 8, "human": "not read"}), "lawyer")
    assert answer.human == 8.0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": " ", "answer": "So."}, "line 2, field question"),
        ({**GOOD, "contexts": "one text"}, "line 2, field contexts"),
        ({**GOOD, "human": "8"}, "line 2, field human"),
        ({**GOOD, "human": True}, "line 2, field human"),
        ({**GOOD, "human": float("nan")}, "line 2, field human"),
    ],
)
def test_malformed_lines(file: Path, row: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(written(file, GOOD, row))


def test_ids_of_one_system(file: Path) -> None:
    row = {**GOOD, "id": "x"}
    assert len(read_answers(written(file, {**row, "system": "a"}, {**row, "system": "b"}))) == 2
    with pytest.raises(InputError, match="'x' of 'a'"):
        read_answers(written(file, {**row, "system": "a"}, {**row, "system": "a"}))


def test_a_column_that_is_not_there(file: Path) -> None:
    with pytest.raises(InputError, match="no line has a score in 'lawyer'"):
        read_answers(written(file, GOOD), "lawyer")
    with pytest.raises(InputError, match="holds no scores"):
        read_answers(written(file, GOOD), "question")


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
    assert [record["id"] for record in judged] == [str(i) for i in range(19)]
    labels = {
        record["question"]: record["document"] and record["document"]["label"] for record in judged
    }
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
    texts = ("A dog licence costs 40 euros a year.", "The town hall was built in 1870.")
    answers = [Answer(question=question, answer=text) for text in (*texts, ABSTENTION)]
    scores = judge.scores(answers, [Unresolved("none")] * 3, quiet)
    to_it, beside_it, silent = (row["answer_relevance"] for row in scores)
    assert isinstance(to_it, float)
    assert isinstance(beside_it, float)
    assert 1 >= to_it > 0.5 > beside_it >= 0
    assert silent == Unresolved("the answer is an abstention")
