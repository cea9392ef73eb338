"""``lexloop ask`` with a model on loopback."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, refusal, unsupported

from lexloop.apps.cli.session import say_where_text_goes
from lexloop.apps.hosts import text_hosts
from lexloop.core.settings import Connection, Settings

Run = Callable[..., Any]
QUESTION = "What is a bias audit?"
ANSWER = "A bias audit is an evaluation of an AEDT, made impartially by an independent auditor. [1]"


def test_the_host_is_named_and_the_cost_told(
    run: Run, server: FakeOpenAI, by_model: list[str]
) -> None:
    server.play("generate", Reply(ANSWER))
    result = run("ask", QUESTION, *by_model)
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    assert f"go to {host}, nowhere else." in result.stderr
    assert f"openai:scripted at {host} · 1 calls · 11 tokens in, 7 out" in result.stdout
    assert ANSWER in result.stdout


def test_notes_stay_out_of_json(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.play("generate", Reply(ANSWER))
    report = json.loads(run("ask", QUESTION, "--json", *by_model).stdout)
    assert report["usage"]["model_calls"] == 1
    assert [f"http://{host}/v1" for host in report["hosts"]] == [server.base_url]


def test_a_refused_key_is_an_error_that_hides_it(
    run: Run, server: FakeOpenAI, by_model: list[str]
) -> None:
    server.key = "another"
    result = run("ask", QUESTION, "--json", *by_model)
    assert result.exit_code == 6
    assert json.loads(result.stdout)["error"]["type"] == "ModelAuthError"
    assert KEY not in result.stdout + result.stderr


def test_fallback_is_listed(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.otherwise = refusal(500)
    result = run("ask", QUESTION, "--fallback", "--set", "model.attempts=1", *by_model)
    assert result.exit_code == 0
    assert "Degraded: generate: embedded instead of openai:scripted." in result.stdout


def test_reasoning_is_in_the_trace_alone(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.play("generate", Reply(f"<think>It may be an audit.</think>{ANSWER}"))
    traced = run("ask", QUESTION, "--trace", *by_model).stdout
    assert "reasoning of generate: It may be an audit." in traced
    assert "may be an audit" not in run("ask", QUESTION, *by_model).stdout
    assert "reasoning" not in json.loads(run("ask", QUESTION, "--json", *by_model).stdout)
    report = json.loads(run("ask", QUESTION, "--json", "--trace", *by_model).stdout)
    [told] = report["reasoning"]
    assert told == {"attempt": 1, "node": "generate", "text": "It may be an audit."}


def test_a_refused_setting_is_listed(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    words = "Unsupported parameter: 'seed' is not supported with this model."
    refused = unsupported(words, "seed", "unsupported_parameter")
    server.gate = lambda request: refused if "seed" in request.body else None
    server.play("generate", Reply(ANSWER))
    model = ["--model", "openai:seedless"]
    result = run("ask", QUESTION, *by_model, *model, "--set", "model.seed=3")
    assert f"Degraded: generate: the provider's own instead of seed=3. {words}" in result.stdout
    assert ANSWER in result.stdout


def test_deadline(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.otherwise = Reply(hang=True)
    result = run("ask", QUESTION, "--deadline", "0.5", *by_model)
    assert result.exit_code == 7
    assert "The deadline of 0.5 s" in result.stderr


def test_tracing_elsewhere_is_mentioned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say_where_text_goes([])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    say_where_text_goes([])
    assert "LangSmith tracing is on" in capsys.readouterr().err


def test_with_tracing_no_answer_says_that_nothing_left(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing left this machine" in run("ask", QUESTION).stdout
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
