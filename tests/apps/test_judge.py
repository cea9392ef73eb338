"""``lexloop judge``: with and without documents, people's scores and a model."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request

Run = Callable[..., Any]
AUDIT = "What is a bias audit?"
GOOD = "A bias audit is an impartial evaluation by an independent auditor."
BAD = "A bias audit is a tax that every tenant pays to the landlord in 1999."
ROWS: list[dict[str, Any]] = [
    {"system": "a", "question": AUDIT, "answer": GOOD, "reference_answer": GOOD, "human": 9,
     "contexts": [GOOD]},
    {"system": "b", "question": AUDIT.lower(), "answer": BAD, "reference_answer": GOOD, "human": 1,
     "contexts": [GOOD]},
    {"system": "a", "question": "How high is the civil penalty?", "answer": "It is at most $1,500.",
     "human": 7},
    {"system": "b", "question": "How high is the civil penalty?", "answer": "Nobody pays.",
     "human": 2},
]  # fmt: skip


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return file


@pytest.fixture
def law(tmp_path: Path) -> str:
    """A corpus of one small document."""
    folder = tmp_path / "law"
    folder.mkdir()
    (folder / "law.txt").write_text(
        f"§ 20-870 Definitions. {GOOD}\n\n§ 20-872 Penalties. The penalty is at most $1,500.\n",
        "utf-8",
    )
    return str(folder)


@pytest.fixture
def judge(run: Run, answers: Path, tmp_path: Path) -> Run:
    """``judge("--corpus", "sample")`` -> the summary, and the judged lines."""

    def judged(*arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        out = tmp_path / "out"
        result = run("judge", str(answers), "--out", str(out), "--json", *arguments)
        assert result.exit_code == 0, result.stderr
        assert (out / "report.html").read_text("utf-8").endswith("</html>")
        lines = (out / "judged.jsonl").read_text("utf-8").splitlines()
        assert json.loads((out / "summary.json").read_text("utf-8")) == json.loads(result.stdout)
        return json.loads(result.stdout), [json.loads(line) for line in lines]

    return judged


@pytest.fixture
def by_judge(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options with which the scripted server judges: high scores where an answer is ``GOOD``."""
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    server.otherwise = by_role
    return ["--model", "openai:scripted", "--base-url", server.base_url, "--set",
            "model.attempts=1"]  # fmt: skip


def by_role(request: Request) -> Reply:
    """A reply in the form that the judge's prompt asks for."""
    count = len(re.findall(r'kind="answer"', request.user))
    claims = len(re.findall(r'kind="(?:claim|passage)"', request.user))
    low_first = [9 if i == 0 else 2 for i in range(count)]
    role = request.role or ""
    replies: dict[str, Any] = {
        "fair_eval": {"evidence": [{"reasoning": "so", "scores": low_first}] * 3},
        "chat_eval": {"remark": "so", "scores": low_first},
        "split_claims": {"claims": ["one"]},
        "attribute_claims": {"verdicts": [{"n": 1, "verdict": True}]},
        "context_precision": {"verdicts": [{"n": i + 1, "verdict": True} for i in range(claims)]},
        "questions_of_answer": {"questions": ["What is it?"] * 3},
        "eval_rag_questions": {"questions": ["What does the text say?"]},
        "correctness": {"score": 4.0},
        "tenths": {"score": 0.7},
        "evaluate": {name: {"score": 0.5} for name in
                     ("context_relevance", "groundedness", "answer_relevance")},
    }  # fmt: skip
    for part, reply in replies.items():
        if role.startswith(part) or role.endswith(part):
            return Reply(json.dumps(reply))
    raise AssertionError(role)


def unresolved(row: dict[str, Any], name: str) -> str:
    return str(row["scores"][name]["unresolved"])


def test_without_documents_and_without_a_key(judge: Run) -> None:
    summary, (good, bad, penalty, nobody) = judge()
    assert good["scores"]["exact_match"] == good["scores"]["rouge_l"] == 1.0
    for name in ("correctness", "groundedness", "rouge_1", "answer_similarity", "bleu"):
        assert good["scores"][name] > bad["scores"][name]
    assert good["document"] is None
    assert unresolved(good, "groundedness_document").startswith("no corpus and no pairs are given")
    assert unresolved(penalty, "correctness") == "there is no reference answer"
    assert unresolved(nobody, "groundedness") == "the line has no contexts"
    assert summary["systems"][0]["system"] == "a"
    assert summary["human_scores"] == 4


def test_with_the_document_of_the_nearest_question(judge: Run) -> None:
    summary, (good, bad, penalty, nobody) = judge("--corpus", "sample")
    assert summary["known_questions"] > 100
    assert summary["documents"] == {"provision, corpus": 4}
    assert "penal" in penalty["document"]["nearest_question"].lower()
    assert good["scores"]["groundedness_document"] > bad["scores"]["groundedness_document"]
    assert penalty["scores"]["groundedness_document"] > nobody["scores"]["groundedness_document"]
    (agreement,) = [r for r in summary["agreement"] if r["score"] == "groundedness_document"]
    assert agreement["n"] == 4


def test_pairs_rest_on_what_their_answers_cite(judge: Run, tmp_path: Path, law: str) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pair = {"question": AUDIT, "answer": "See § 20-870 of the Administrative Code."}
    pairs.write_text(json.dumps(pair))
    _, (good, *_) = judge("--pairs", str(pairs), "--corpus", law)
    found = good["document"]
    assert (found["label"], found["kind"], found["origin"]) == ("law.txt § 20-870", "pair", "cited")
    _, (alone, *_) = judge("--pairs", str(pairs))
    assert alone["document"]["origin"] == "answer"


def test_by_a_model_with_and_without_the_document(
    judge: Run, server: FakeOpenAI, by_judge: list[str], law: str
) -> None:
    asked = ("--corpus", law, "--write-questions", "--questions-each", "1", *by_judge)
    summary, (good, bad, penalty, _) = judge(*asked)
    assert server.roles_asked().count("eval_rag_questions") == summary["known_questions"] > 0
    for name in ("model_fair_eval", "model_fair_eval_document"):
        # the scripted judge prefers whatever stands first, which both orders even out
        assert good["scores"][name] == bad["scores"][name] == 5.5
    for name in ("model_chat_eval", "model_chat_eval_document"):
        assert (good["scores"][name], bad["scores"][name]) == (9.0, 2.0)
    assert good["scores"]["model_correctness_criteria"] == 4.0
    assert unresolved(penalty, "model_faithfulness") == "no passage was retrieved"
    roles = server.roles_asked()
    assert {"fair_eval", "fair_eval_document", "chat_eval", "chat_eval_document"} <= {*roles}
    again, _ = judge(*asked)
    assert len(server.requests) == len(roles), "a rerun asks nobody"
    assert again == summary


def test_hostile_answers_steer_neither_terminal_nor_table(run: Run, answers: Path) -> None:
    row = {"system": "\x1b[2J|<b>`", "question": "\u202eWhy?", "answer": "\x9b[1] |"}
    answers.write_text(json.dumps(row), "utf-8")
    result = run("judge", str(answers))
    assert result.exit_code == 0
    assert not {"\x1b", "\x9b", "\u202e"} & set(result.stdout + result.stderr)
    assert "<b>" not in result.stdout
    assert "## Scores" in result.stdout
