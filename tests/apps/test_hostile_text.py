"""Documents, models and file names cannot steer the terminal."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from hypothesis import given
from hypothesis import strategies as st

from lexloop.apps.cli.terminal import plain
from lexloop.apps.shapes.text import clean, one_line
from lexloop.core.folding import legible

Run = Callable[..., Any]
ATTACK = "\x1b]0;owned\x07\x1b[31m\u202egnp.\u202c\x9b2J[bold red]fee[/] :skull: [link=http://x]"
UNSAFE = set("\x1b\x07\x9b\u202e\u202c\r\x08")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "fees\x1b[31m[bold].txt").write_text(
        f"§ 1 {ATTACK} rules\n\nThe licence fee {ATTACK} for a dog is 40 euros a year.\n", "utf-8"
    )
    return folder


@pytest.mark.parametrize("extra", [[], ["--trace"], ["--json"]])
def test_documents(run: Run, hostile: Path, extra: list[str]) -> None:
    result = run("ask", "How much is the licence fee for a dog?", "--corpus", str(hostile), *extra)
    assert result.exit_code == 0
    assert not UNSAFE & set(result.stdout + result.stderr)
    assert "40 euros" in result.stdout
    assert "[bold red]fee[/] :skull: [link=http://x]" in result.stdout
    if "--json" in extra:  # which gives back what was read
        passages = json.loads(result.stdout)["passages"]
        assert legible(ATTACK) in "".join(passage["text"] for passage in passages)


def test_documents_that_other_commands_show(run: Run, hostile: Path, tmp_path: Path) -> None:
    review = tmp_path / "review.jsonl"
    review.write_text(json.dumps({"id": "a", "question": f"What {ATTACK}?"}), "utf-8")
    asked = ["--corpus", str(hostile)]
    for words, stdin in (
        (["show", "[bold].txt", "--depth", "9", *asked], ""),
        (["show", "[bold].txt", "§ 1", *asked], ""),
        (["show", "[bold].txt", ATTACK, *asked], ""),
        (["graph", "show", "§ 1", "--depth", "2", *asked], ""),
        (["testset", "review", str(review)], "q\n"),
    ):
        result = run(*words, stdin=stdin)
        told = result.stdout + result.stderr
        assert "[bold" in told, words
        assert not UNSAFE & set(told), words


def test_model_replies_and_their_errors(run: Run, server: FakeOpenAI, by_model: list[str]) -> None:
    server.play("generate", Reply(f"A bias audit is impartial {ATTACK}. [1]"))
    result = run("ask", "What is a bias audit?", *by_model, "--set", "answer.generator=model")
    assert "[bold red]fee[/]" in result.stdout
    assert not UNSAFE & set(result.stdout + result.stderr)


def test_errors_quote_input_without_its_control_characters(run: Run, documents: Path) -> None:
    result = run("ask", "Why?", "--corpus", "no\x1b[2Jwhere")
    assert "\x1b" not in result.stderr
    assert result.exit_code == 4
    missing = run("graph", "show", "\u202e", "--corpus", str(documents))
    assert (missing.exit_code, "\u202e" in missing.stderr) == (2, False)


@given(st.text())
def test_clean_text_holds_no_controls(text: str) -> None:
    shown = clean(text)
    assert not [c for c in shown if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]
    assert clean(shown) == shown
    assert "\n" not in one_line(text)
    assert plain(text).plain == shown
    every_script = "§ 5 – «Größe» 規則 قانون\tעם\n"
    assert clean(every_script) == every_script
