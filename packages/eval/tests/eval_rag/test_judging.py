"""EvalRAG: questions of a corpus, judged answers of several systems, and the report."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sets import rows

from lexloop.core.errors import InputError
from lexloop.core.types import ABSTENTION
from lexloop.models.embedding import Embedder
from lexloop.store.view import View
from lexloop_eval.eval_rag.judging import (
    Answer,
    AnswerJudge,
    AnswerRecord,
    judge_answers,
    read_answers,
)
from lexloop_eval.eval_rag.questions import (
    MOST_CHARS,
    Authority,
    CitedAuthorities,
    KnownAnswer,
    QuestionIndex,
    authorities_of,
    pair_entries,
)
from lexloop_eval.eval_rag.report import summarise, to_html, to_markdown
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


@pytest.fixture(scope="module")
def authorities(acts: View) -> list[Authority]:
    return authorities_of(acts)


def labels(authorities: list[Authority], text: str) -> list[str]:
    return [authority.label for authority in CitedAuthorities(authorities).of(text)]


def test_the_sections_of_a_corpus_and_a_long_one_cut(authorities: list[Authority]) -> None:
    assert [authority.kind for authority in authorities if authority.kind == "case"] == ["case"]
    names = {authority.label for authority in authorities}
    assert {"dog_act.txt § 1", "dog_act.txt § 2", "cat_act.txt § 7"} <= names
    assert all(0 < len(authority.text) <= MOST_CHARS for authority in authorities)


@pytest.mark.parametrize(("answer", "cited"), rows("eval_rag_references"))
def test_references(authorities: list[Authority], answer: str, cited: list[str]) -> None:
    assert labels(authorities, answer) == cited


def test_a_pair_rests_on_what_its_answer_cites(authorities: list[Authority]) -> None:
    cited, alone = pair_entries(
        [
            KnownAnswer(question="How?", answer="By § 2 and § 7."),
            KnownAnswer(question="Why?", answer=" So. "),
        ],
        authorities,
    )
    assert cited.authority.origin == "cited"
    assert cited.authority.label == "dog_act.txt § 2, cat_act.txt § 7"
    assert cited.authority.documents == ("dog_act.txt", "cat_act.txt")
    assert "leash" in cited.authority.text
    assert "chip" in cited.authority.text
    assert (alone.authority.origin, alone.authority.text) == ("answer", "So.")
    assert alone.authority.documents == ()


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How much is a licence for my dog?", "dog_act.txt § 1"),
        ("Does a cat outdoors need a chip?", "cat_act.txt § 7"),
        ("What does a chip cost?", "a known answer"),
        ("My dog died; do I get the fee back?", "2013MU2250.txt"),
    ],
)
def test_the_nearest_question_leads_to_the_authority(
    index: QuestionIndex, question: str, label: str
) -> None:
    (match,) = index.nearest([question], [None])
    assert match is not None
    assert match[0].authority.label == label
    assert 0.3 < match[1] <= 1.01


def test_a_known_question_finds_itself_and_only_documents_asked_for(index: QuestionIndex) -> None:
    questions = [entry.question for entry in index.entries]
    matches = index.nearest(questions, [None] * len(questions))
    assert [match[0].question for match in matches if match] == questions
    dog = "How much is a licence for my dog?"
    cats, nothing = index.nearest([dog, dog], [["cat_act.txt"], ["no_act.txt"]])
    assert cats is not None
    assert cats[0].authority.documents == ("cat_act.txt",)
    assert nothing is None
    assert index.nearest([], []) == []


EVIL = "<script>alert(1)</script>"
ABOUT: dict[str, Any] = {
    "answers_file": EVIL, "model": None, "human": "grade", "rubrics": "hardened",
    "known_questions": 1, "version": "0",
}  # fmt: skip


def row(system: str, human: float | None, **scores: float | dict[str, str]) -> AnswerRecord:
    return {"id": "1", "system": system, "question": f"{human}?", "answer": EVIL, "human": human,
            "document": None, "scores": scores}  # fmt: skip


def test_means_and_what_is_missing() -> None:
    rows = [row("a", i, x=i / 4) for i in range(1, 5)]
    rows.append(row(EVIL, None, x={"unresolved": "why | so"}))
    summary = summarise(rows, ABOUT)
    means = {(scored["system"], scored["score"]): scored["mean"] for scored in summary["systems"]}
    assert means == {("a", "x"): 0.625, ("a", "human"): 2.5, (EVIL, "x"): None}
    assert summary["unresolved"] == [{"score": "x", "reason": "why | so", "answers": 1}]
    (agreement,) = summary["agreement"]
    assert (agreement["n"], agreement["pearson"]["mean"], agreement["kendall"]["mean"]) == (4, 1, 1)
    table = to_markdown(summary)
    assert "| x | 0.625 [0.375, 0.875] (0) | – (1) |" in table
    assert r"why \| so" in table
    assert "<script" not in table
    page = to_html(summary, rows)
    assert page.count("<svg") == 1
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    assert ElementTree.fromstring(drawing) is not None
    assert all(text in page for text in ("Agreement with grade", "Spearman", "0.625"))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_without_people_there_is_no_agreement_and_no_plot() -> None:
    rows = [row("", None, x=0.5)]
    summary = summarise(rows, ABOUT)
    assert summary["agreement"] == []
    for shown in (to_markdown(summary), to_html(summary, rows)):
        assert "0.5" in shown
        assert "Agreement" not in shown
        assert "<svg" not in shown
