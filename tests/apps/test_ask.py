"""``lexloop ask`` in this process, without a model and with one on loopback."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
from fake_openai import ANSWER, KEY, FakeOpenAI, Reply

from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.shapes.record import text_hosts
from lexloop.core.settings import Connection, Settings

Run = Callable[..., Any]
QUESTION = "What is a bias audit?"


def test_answer_with_markers_sources_and_verdict(run: Run) -> None:
    result = run("ask", QUESTION)
    assert result.exit_code == 0
    assert "independent auditor. [1]" in result.stdout
    assert '[1] law.txt · § 20-870 "Bias audit" · line 15\n' in result.stdout
    assert result.stdout.count("bias audit is an evaluation") == 1
    assert re.match(r"Passed · \d+% likely to answer the question\n", result.stdout)
    assert "\nanswer relevance 0." in result.stdout
    assert "citations verified · 0 retries" in result.stdout
    assert "nothing left this machine" in result.stdout
    assert "\x1b" not in result.stdout + result.stderr


def test_json_is_one_flat_object_and_nothing_else(run: Run, in_json: Run) -> None:
    result = run("ask", QUESTION, "--json")
    report = json.loads(result.stdout)
    assert result.stderr == ""
    assert report["passed"] is True
    assert report["abstained"] is False
    assert report["retries"] == len(report["attempts"]) - 1 == 0
    assert report["plan"] == {"k": 3, "Q": 3, "K": 3, "S": 1}
    assert sum(report["probabilities"]) == pytest.approx(1.0)
    assert (report["usage"]["model_calls"], report["hosts"], report["read_as"]) == (0, [], [])
    assert all(c["quote"] in "".join(p["text"] for p in report["passages"]) for c in
               report["citations"])  # fmt: skip
    assert "candidates" not in report
    assert len(in_json("ask", QUESTION, "--trace")["candidates"]) > len(report["passages"])


def test_a_slip_is_said_and_answered_as_what_was_meant(run: Run, in_json: Run) -> None:
    said = run("ask", "What is a bias aduit?").stdout
    assert "\n“aduit” read as: audit\nA bias audit is" in said
    report = in_json("ask", "What is a bias aduit?")
    assert report["read_as"] == [{"written": "aduit", "read": "audit"}]
    assert (report["question"], report["standalone"]) == ("What is a bias aduit?", QUESTION)


def test_the_document_that_a_question_describes_is_told(run: Run, tmp_path: Path) -> None:
    for tenant in ("Otto Lind", "Ruth Voss"):
        text = f"Lease of {tenant}\n\n1. Rent. The Tenant pays $500 a month.\n"
        (tmp_path / f"{tenant}.txt").write_text(text, encoding="utf-8")
    asked = "In the lease of Otto Lind, what is the rent?"
    said = run("ask", asked, "--corpus", str(tmp_path)).stdout
    assert "\nAsked in Otto Lind.txt\nThe Tenant pays $500 a month. [1]\n" in said


def test_trace_shows_every_step(run: Run) -> None:
    # a story to be read without, and a part that nothing answers
    asked = f"I run a small shop. {QUESTION} Where does the auditor live?"
    options = ("--trace", "--classes", "2", "--max-retries", "1", "--care", "high")
    result = run("ask", asked, *options)
    for part in ("Complexity 0 (0: 0.", "k = 5, Q = 3, K = 4, S = 2", "keywords: ", "lexical",
                 "dense", "rerank", "bias audit — is defined as → ", "Attempt 1", "Attempt 2",
                 "advice: ", "reworded: ", "Not passed: at best in part · ", "1 retry",
                 "Warning: "):  # fmt: skip
        assert part in result.stdout, part
    assert result.exit_code == 0


def test_settings_reach_the_graph(in_json: Run) -> None:
    named = ("--variant", "pa", "--k", "2", "-Q", "1", "--fusion", "rrf")
    report = in_json("ask", QUESTION, *named, "--set", "retrieval.reranker=none")
    assert report["plan"] == {"k": 2, "Q": 1, "K": 0, "S": 0}
    assert (report["variant"], report["triplets"]) == ("pa", [])


def test_a_question_from_standard_input(run: Run) -> None:
    result = run("ask", "-", "--json", stdin="\ufeffWhat is a bias audit?\n")
    assert json.loads(result.stdout)["question"] == QUESTION
    refused = run("ask", "-", stdin=b"What \xff\xfe?")
    assert refused.exit_code == 2
    assert "not UTF-8 text (byte 5)" in refused.stderr


def test_an_error_is_json_where_json_is_asked_for(in_json: Run, tmp_path: Path) -> None:
    error = in_json("ask", "Why?", "--corpus", tmp_path / "data", code=4)["error"]
    assert (error["type"], error["exit_code"]) == ("CorpusError", 4)
    assert error["what"].endswith("does not exist.")
    assert error["hint"]


def test_a_question_needs_no_quotes(in_json: Run) -> None:
    found = in_json("ask", "What", "is", "-k", "3", "a", "bias", "audit?")
    assert found["question"] == "What is a bias audit?"
    assert found["plan"]["k"] == 3


def test_out_writes_the_answer_with_footnotes(run: Run, in_json: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.md"
    result = run("ask", QUESTION, "--out", str(file), "--as-of", "2024-01-31")
    assert result.exit_code == 0
    assert f"Written to {file}." in result.stderr
    assert "independent auditor. [1]" in result.stdout
    said = file.read_text("utf-8")
    assert said.startswith(f"# {QUESTION}\n")
    assert "- **Law as of:** 2024-01-31\n- **Collections:** sample\n" in said
    assert '[^1]: law.txt, § 20-870 "Bias audit", line 15.' in said
    word = tmp_path / "ANSWER.DOCX"
    report = in_json("ask", QUESTION, "--out", word)
    told = [paragraph.text for paragraph in docx.Document(str(word)).paragraphs]
    first = report["answer"].partition(" [1]")[0]
    assert any(text.startswith(first) for text in told)


def test_out_refuses_what_it_could_not_write_before_it_asks(run: Run, tmp_path: Path) -> None:
    there, dangling = tmp_path / "there.md", tmp_path / "dangling.md"
    there.write_text("mine", "utf-8")
    dangling.symlink_to(tmp_path / "nowhere")
    for file, said in {
        there: "is there already. Name another file, or add --overwrite.",
        dangling: "is there already",
        tmp_path / "answer.pdf": "Name a file that ends in .docx, .md or .eml.",
        tmp_path / "none" / "answer.md": "There is no folder",
    }.items():
        result = run("ask", QUESTION, "--out", str(file))
        assert (result.exit_code, result.stdout) == (2, ""), file
        assert said in result.stderr
    assert there.read_text("utf-8") == "mine"
    assert run("ask", QUESTION, "--out", str(there), "--overwrite").exit_code == 0
    assert there.read_text("utf-8").startswith(f"# {QUESTION}\n")


def test_the_host_is_named_and_the_cost_told(
    run: Run, in_json: Run, server: FakeOpenAI, by_model: list[str]
) -> None:
    server.play("generate", Reply(ANSWER))
    result = run("ask", QUESTION, *by_model)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert f"go to {host}, nowhere else." in result.stderr
    assert f"openai:scripted at {host} · 1 calls · 11 tokens in, 7 out" in result.stdout
    assert ANSWER in result.stdout
    assert in_json("ask", QUESTION, *by_model)["hosts"] == [host]


def test_an_error_hides_a_refused_key(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.key = "another"
    result = run("ask", QUESTION, "--json", *by_model)
    assert result.exit_code == 6
    assert json.loads(result.stdout)["error"]["type"] == "ModelAuthError"
    assert KEY not in result.stdout + result.stderr


def test_reasoning_is_in_the_trace_alone(
    run: Run, in_json: Run, server: FakeOpenAI, by_model: list[str]
) -> None:
    server.play("generate", Reply(f"<think>It may be an audit.</think>{ANSWER}"))
    assert "reasoning of generate: It may" in run("ask", QUESTION, "--trace", *by_model).stdout
    assert "may be an audit" not in run("ask", QUESTION, *by_model).stdout
    assert "reasoning" not in in_json("ask", QUESTION, *by_model)
    assert in_json("ask", QUESTION, "--trace", *by_model)["reasoning"] == [
        {"attempt": 1, "node": "generate", "text": "It may be an audit."}
    ]


def test_with_tracing_no_answer_says_that_nothing_left(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say_where_text_goes([])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    say_where_text_goes([])
    assert "LangSmith tracing is on" in capsys.readouterr().err
    monkeypatch.setenv("LANGSMITH_TRACING", "1")  # what LangSmith itself does not act on
    told = run("ask", QUESTION).stdout
    assert "nothing left" not in told
    assert "a trace for LangSmith" in told


def test_an_embedding_host_is_named_too() -> None:
    settings = Settings(**{"index.embedder": "openai:text-embedding-3-small"})
    assert text_hosts(settings, Connection()) == ["api.openai.com"]
    own = Connection(base_url="http://user:secret@127.0.0.1:9/v1")
    assert text_hosts(settings, own) == ["127.0.0.1:9"]
    assert text_hosts(Settings(), own) == []


def test_dollars_are_told_where_prices_are_set_and_a_limit_needs_them(
    run: Run, in_json: Run, by_model: list[str], server: FakeOpenAI, tmp_path: Path
) -> None:
    server.otherwise = Reply(ANSWER)
    refused = run("ask", QUESTION, *by_model, "--max-cost", "1")
    assert refused.exit_code == 2
    assert '[prices."openai:scripted"]' in refused.stderr
    file = tmp_path / "priced.toml"
    file.write_text('[prices."openai:scripted"]\ninput = 100\noutput = 200\n', "utf-8")
    priced = [*by_model, "--settings", str(file), "--max-cost", "1"]
    assert " · 11 tokens in, 7 out · $0.0025 · " in run("ask", QUESTION, *priced).stdout
    # 11 at 100 and 7 at 200 dollars a million
    assert in_json("ask", QUESTION, *priced)["usage"]["cost_usd"] == 0.0025
    stopped = in_json("ask", QUESTION, *priced[:-1], "0.0001", code=2)["error"]
    assert (stopped["type"], stopped["exit_code"]) == ("BudgetError", 2)


def test_a_memorandum_in_a_style(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "memo.md"
    given = ("--memo", "--to", "The Board", "--re", "Audits", "--style", "bluebook")
    assert run("ask", QUESTION, "--out", str(file), *given).exit_code == 0
    said = file.read_text("utf-8")
    assert said.startswith("# Memorandum\n\n- **To:** The Board\n- **From:** \n")
    assert "## Short answer" in said
    assert "§ 20-87" in said
