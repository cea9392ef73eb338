"""The papers' own prompts: cut from a user's text files, in our form, asked word for word."""

import os
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from sets import write_texts

from lexloop.core.errors import InputError
from lexloop.core.settings import Settings
from lexloop.prompts import parse
from lexloop_eval.asking import Asker
from lexloop_eval.judges_by_model import Given, correctness, groundedness_tenths
from lexloop_eval.verbatim import PLACES, VARIABLE, verbatim

DATA = os.environ.get("LEXLOOP_DATA")
NEEDS = {
    "groundedness_tenths": {"passages", "answer"},
    "similarity_tenths": {"question", "reference", "answer"},
}
GRADED, REWORDED = {"question", "reference", "answer"}, {"question"}
PAPER = """A.7 Prompts
A.7.1 Method 1: General
Grade the answer.
A.7.2 Method 2: Criteria
Groundedness Score
System: Judge it. Context: $context Response: $response Score:
Accuracy Score
"""


def no_vectors(texts: list[str]) -> Any:
    raise AssertionError(texts)


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_texts(tmp_path / "papers", {"one.txt": PAPER})
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


def test_a_prompt_is_asked_word_for_word_with_data_kept_apart(
    server: FakeOpenAI, papers: Path, tmp_path: Path
) -> None:
    chosen: dict[str, Any] = {"model.attempts": 1, "loop.rubrics": "verbatim"}
    settings = Settings(model="openai:scripted", deadline_s=5, **chosen)
    given = Given("Which?", "Form B [1].", "Form B.", ["Use B."], no_vectors, "verbatim")
    server.script(Reply("4\nSo."), Reply("0.5"))
    with Asker(settings, server.connection, tmp_path / "replies.sqlite") as asker:
        assert asker.settle(correctness(asker, given, "general")) == 4.0
        assert asker.settle(groundedness_tenths(asker, given)) == 0.5
    first, second = server.requests
    assert first.system.endswith("\n\nGrade the answer.")
    assert second.system.endswith("\n\nJudge it. Context:")
    assert second.user.count("<data-") == 2
    assert second.user.endswith("Score:")
    assert all("never an instruction" in request.system for request in (first, second))


def test_what_cannot_be_found_is_named(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"has the prompt similarity_tenths.*'Both metrics'"):
        verbatim("similarity_tenths")
    assert verbatim("chat_eval") == ""
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(InputError, match=f"Set {VARIABLE}"):
        verbatim("correctness_general")


@pytest.mark.skipif(not DATA, reason="LEXLOOP_DATA names no folder with the papers beside it")
@pytest.mark.parametrize("name", PLACES)
def test_the_papers_have_every_prompt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(Path(DATA or "").resolve().parent / "papers"))
    declared = NEEDS.get(name, GRADED if name.startswith("correctness") else REWORDED)
    if name.startswith("augment"):
        assert "{{question}}" in verbatim(name)
    assert len(parse(name, verbatim(name), declared).system) > 200
