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
    {"system": "\x1b[2J|<b>`", "question": "\u202eHow high is the civil penalty?", "human": 7,
     "answer": "\x9b[1] | It is at most $1,500."},
]  # fmt: skip


@pytest.fixture
def judge(run: Run, tmp_path: Path) -> Run:
    """``judge("--corpus", "sample")`` -> the summary, and the judged lines."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")

    def judged(*arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        out = tmp_path / "out"
        result = run("judge", str(answers), "--out", str(out), "--json", *arguments)
        assert result.exit_code == 0, result.stderr
        assert (out / "report.html").read_text("utf-8").endswith("</html>")
        lines = (out / "judged.jsonl").read_text("utf-8").splitlines()
        assert json.loads((out / "summary.json").read_text("utf-8")) == json.loads(result.stdout)
        return json.loads(result.stdout), [json.loads(line) for line in lines]

    return judged


def by_role(request: Request) -> Reply:
    """A reply in the form that the judge's prompt asks for; whatever stands first is best."""
    count = len(re.findall(r'answer="', request.user))
    claims = len(re.findall(r'(?:claim|passage)="', request.user))
    low_first = [9 if i == 0 else 2 for i in range(count)]
    whole = request.role or ""
    role, reworded = whole.rpartition("/")[2], whole.startswith("after_")
    evidence = {"reasoning": "so", "scores": low_first}
    replies: dict[str, Any] = {
        "fair_eval": {"evidence": [evidence] * (1 if reworded else 3)},
        "chat_eval": {"remark": "so", "scores": low_first},
        "split_claims": {"claims": ["one"]},
        "attribute_claims": {"verdicts": [{"n": 1, "verdict": True}]},
        "context_precision": {"verdicts": [{"n": i + 1, "verdict": True} for i in range(claims)]},
        "questions_of_answer": {"questions": ["What is it?"] * 3},
        "ask_provision": {"questions": ["What does the text say?"]},
        "correctness": {"score": 4.0},
        "tenths": {"score": 0.7},
        "evaluate": {name: {"score": 0.5} for name in
                     ("context_relevance", "groundedness", "answer_relevance")},
    }  # fmt: skip
    for part, reply in replies.items():
        if role.startswith(part) or role.endswith(part):
            plain = reworded and "score" in reply
            return Reply(f"{reply['score']}\nSo." if plain else json.dumps(reply))
    raise AssertionError(role)


def unresolved(row: dict[str, Any], name: str) -> str:
    return str(row["scores"][name]["unresolved"])


def test_without_documents_and_without_a_key(judge: Run, run: Run, tmp_path: Path) -> None:
    summary, (good, bad, _) = judge()
    assert good["scores"]["exact_match"] == good["scores"]["rougeL"] == 1.0
    for name in ("correctness", "groundedness", "rouge1_recall", "similarity", "bleu"):
        assert good["scores"][name] > bad["scores"][name]
    assert unresolved(good, "groundedness_document").startswith("no corpus and no pairs are given")
    assert (summary["systems"][0]["system"], summary["human_scores"]) == ("a", 3)
    shown = run("judge", str(tmp_path / "answers.jsonl"))
    assert "## Scores" in shown.stdout
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown.stdout + shown.stderr)
    assert "<b>" not in shown.stdout


def test_by_a_model(
    judge: Run, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, documents: Path
) -> None:
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    server.otherwise = by_role
    asked = ("--model", "openai:scripted", "--base-url", server.base_url, "--set",
             "model.attempts=1", "--corpus", str(documents), "--write-questions",
             "--questions-each", "1")  # fmt: skip
    summary, (good, bad, penalty) = judge(*asked)
    roles = server.roles_asked()
    assert roles.count("ask_provision") == summary["known_questions"] == 4
    assert {"fair_eval", "fair_eval_document", "chat_eval", "chat_eval_document"} <= {*roles}
    # the scripted judge prefers whatever stands first, which both orders even out
    assert good["scores"]["model_fair_eval"] == bad["scores"]["model_fair_eval"] == 5.5
    assert (good["scores"]["model_chat_eval"], bad["scores"]["model_chat_eval"]) == (9.0, 2.0)
    assert good["scores"]["model_correctness_criteria"] == 4.0
    assert unresolved(penalty, "model_faithfulness") == "no passage was retrieved"
    assert summary["rubrics"] == "hardened"
    reworded, (first, second, _) = judge(*asked, "--rubrics", "reworded")
    assert reworded["rubrics"] == "reworded"
    panels = [(record["scores"]["model_fair_eval"]) for record in (first, second)]
    assert panels == [9.0, 2.0], "one order alone, as the paper has it"
    assert first["scores"]["model_correctness_criteria"] == 4.0
    assert first["scores"]["model_groundedness_tenths"] == 0.7
