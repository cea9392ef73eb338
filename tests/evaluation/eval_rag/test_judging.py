"""Answers in groups, their documents, and what is summed up of them."""

import json
from typing import Any

import pytest

from lexloop.core.score import Unresolved
from lexloop.core.types import ABSTENTION
from lexloop.corpus.index.view import View
from lexloop.evaluation.eval_rag.answers import Answer
from lexloop.evaluation.eval_rag.embedded_scores import Case, EmbeddedScores
from lexloop.evaluation.eval_rag.index import QuestionIndex
from lexloop.evaluation.eval_rag.judging import Judged, judge_answers
from lexloop.evaluation.eval_rag.markdown import to_markdown
from lexloop.evaluation.eval_rag.provisions import provisions_of
from lexloop.evaluation.eval_rag.questions import entries_by_rule
from lexloop.evaluation.eval_rag.summary import summarise
from lexloop.models.embedding import Embedder

ABOUT: dict[str, Any] = {
    "answers_file": "answers.jsonl", "model": None, "human": "human", "known_questions": 1
}  # fmt: skip


def quiet(stage: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""


@pytest.fixture(scope="module")
def embedded(minilm: Embedder) -> EmbeddedScores:
    return EmbeddedScores(minilm)


@pytest.fixture(scope="module")
def index(acts: View, minilm: Embedder) -> QuestionIndex:
    return QuestionIndex.build(entries_by_rule(provisions_of(acts)), minilm, lambda *_: None)


def row(system: str, human: float | None, **scores: float | dict[str, str]) -> Judged:
    return {"id": "1", "system": system, "question": f"{human}?", "answer": "So.", "human": human,
            "document": None, "scores": scores}  # fmt: skip


def test_answers_keep_their_order_and_share_a_document(
    embedded: EmbeddedScores, index: QuestionIndex
) -> None:
    dog, cat = "What does a dog licence cost?", "Does a cat need a chip?"
    answers = [
        Answer(id=str(i), system="s", question=dog if i % 2 else cat, answer=f"{i} euros.")
        for i in range(19)
    ]
    seen: list[tuple[str, int, int]] = []
    judged = judge_answers(
        answers, index, embedded, None, progress=lambda *stage: seen.append(stage)
    )
    assert [one["id"] for one in judged] == [str(i) for i in range(19)]
    labels = {one["question"]: one["document"] and one["document"]["label"] for one in judged}
    assert labels == {dog: "dog_act.txt § 1", cat: "cat_act.txt § 7"}
    assert ("judging", 19, 19) in seen
    assert json.loads(json.dumps(judged)) == judged


def test_a_line_names_the_documents_that_answer(
    embedded: EmbeddedScores, index: QuestionIndex
) -> None:
    question = "What does a dog licence cost?"
    answers = [
        Answer(id="a", question=question, answer="40 euros."),
        Answer(id="b", question=question, answer="40 euros.", documents=("cat_act.txt",)),
        Answer(id="c", question="And a cat?", answer="Nothing.", documents=("no_act.txt",)),
    ]
    first, second, third = judge_answers(answers, index, embedded, None, progress=quiet)
    assert first["document"] == second["document"]
    assert second["document"] is not None
    assert second["document"]["label"].startswith("cat_act.txt")
    assert third["document"] is None
    assert third["scores"]["groundedness_document"] == {
        "unresolved": "the index holds nothing of the documents that the line names"
    }


@pytest.mark.parametrize("answer", ["", "...", "[1]", "\x00"])
def test_answers_that_say_nothing(embedded: EmbeddedScores, answer: str) -> None:
    asked = Answer(question="Why?", answer=answer, reference_answer="So.", contexts=("So it is.",))
    (scores,) = embedded.of([Case(asked, Unresolved("none"))], quiet)
    assert scores["groundedness"] == Unresolved("the answer claims nothing")
    assert scores["answer_similarity"] == Unresolved("the answer is empty")
    assert scores["answer_relevance"] == Unresolved("the answer claims nothing")
    assert scores["correctness"] == 1.0
    assert scores["rouge_1"] == 0.0
    assert embedded.of([], quiet) == []


def test_an_answer_to_the_question_is_more_relevant(embedded: EmbeddedScores) -> None:
    question = "What does a dog licence cost?"
    said = ("A dog licence costs 40 euros a year.", "The town hall was built in 1870.")
    nothing = Unresolved("none")
    cases = [Case(Answer(question=question, answer=text), nothing) for text in (*said, ABSTENTION)]
    to_it, beside_it, silent = (one["answer_relevance"] for one in embedded.of(cases, quiet))
    assert isinstance(to_it, float)
    assert isinstance(beside_it, float)
    assert 1 >= to_it > 0.5 > beside_it >= 0
    assert silent == Unresolved("the answer is an abstention")


def test_means_and_what_is_missing() -> None:
    rows = [row("a", i, x=i / 4) for i in range(1, 5)]
    rows.append(row("b", None, x={"unresolved": "why | so"}))
    summary = summarise(rows, ABOUT)
    found = {(one["system"], one["score"]): one["mean"] for one in summary["systems"]}
    assert found == {("a", "x"): 0.625, ("a", "human"): 2.5, ("b", "x"): None}
    assert summary["unresolved"] == [{"score": "x", "reason": "why | so", "answers": 1}]
    (agreement,) = summary["agreement"]
    assert (agreement["n"], agreement["pearson"], agreement["kendall"]) == (4, 1.0, 1.0)
    table = to_markdown(summary)
    assert "| x | 0.625 [0.375, 0.875] | unresolved |" in table
    assert r"why \| so" in table


def test_without_human_scores_there_is_no_agreement() -> None:
    summary = summarise([row("", None, x=0.5)], ABOUT)
    assert summary["agreement"] == []
    assert "Agreement" not in to_markdown(summary)
