"""A page whose server asks a model, which fails, hangs, and answers."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from chromium import Page
from fake_openai import KEY, FakeOpenAI, Reply, refusal
from selenium.webdriver.common.keys import Keys
from serving import Serving

QUESTION = "What is a bias audit?"
EMBEDDED = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture(scope="module")
def server(folder: Path, model: FakeOpenAI) -> Iterator[Serving]:
    steps = [part for step in EMBEDDED for part in ("--set", f"{step}=embedded")]
    steps += ["--set", "answer.generator=model"]
    options = ["--model", "openai:scripted", "--base-url", model.base_url, *steps]
    with Serving(
        folder, *options, "--set", "model.attempts=1", environ={"LEXLOOP_API_KEY": KEY}
    ) as serving:
        yield serving


@pytest.fixture
def page(page: Page, server: Serving) -> Iterator[Page]:
    yield page
    assert KEY not in server.log


def test_a_model_that_is_down_is_said_the_question_kept_and_answered_either_way(
    page: Page, model: FakeOpenAI
) -> None:
    assert "127.0.0.1" in page.find("#terms").text  # where text goes
    model.gate = lambda request: refusal(503)
    page.type("#question", QUESTION + Keys.ENTER)
    said = page.find("[data-testid=failure]")
    assert "503" in said.text
    assert page.violations() == []
    assert said.get_attribute("data-kind") == "ModelUnavailable"
    assert page.find("#question").get_attribute("value") == QUESTION
    asked = len(model.requests)
    page.click("[data-testid=failure] button", "without the model")
    page.find("[data-testid=verdict]")
    assert "independent auditor" in page.find("[data-testid=answer]").text
    assert len(model.requests) == asked
    assert page.find("#question").get_attribute("value") == ""
    page.type("#question", QUESTION + Keys.ENTER)
    page.find("[data-testid=failure]")
    model.gate = lambda request: None  # it is back
    model.otherwise = Reply("A bias audit is an impartial evaluation by an auditor [1].")
    page.click("[data-testid=failure] button", "Ask again")
    page.find("[data-testid=verdict]", count=2)
    assert "an impartial evaluation by an auditor" in page.find("[data-testid=answer]").text


def test_the_text_streams_sentence_by_sentence(page: Page, model: FakeOpenAI) -> None:
    said = "A bias audit is an impartial evaluation by an auditor [1]."
    model.gate = lambda request: Reply(" ".join([said] * 3), pieces=9)
    page.note("[data-testid=draft]")
    with page.slow(downloadThroughput=20_000):
        page.ask(QUESTION)
    drafts = page.noted()
    assert drafts
    assert drafts[0].startswith("A bias audit is an impartial")
    assert all(len(before) < len(after) for before, after in pairwise(drafts))


def test_stopping_ends_the_work_and_keeps_the_question(page: Page, model: FakeOpenAI) -> None:
    model.gate = lambda request: Reply(hang=True)
    before = len(model.requests)
    page.type("#question", QUESTION + Keys.ENTER)
    assert model.wait_for(before + 1, 20)
    assert "Writing" in page.find("[data-testid=steps] .now").text
    page.click("#stop")
    page.find("[data-testid=failure]", "Stopped")
    assert page.find("#question").get_attribute("value") == QUESTION
    assert model.requests[before].abandoned.wait(20)
    model.gate = lambda request: None


def test_what_a_model_writes_is_text(page: Page, model: FakeOpenAI) -> None:
    model.gate = lambda request: None
    model.otherwise = Reply(
        '<img src=http://evil.example/x.png onerror="window.hacked=1"> '
        "<script>window.hacked=1</script> [click](javascript:window.hacked=1) "
        "![i](http://evil.example/y.png) A bias audit is an impartial evaluation [1]."
    )
    page.ask(QUESTION)
    said = page.find("[data-testid=answer]").text
    assert "<script>window.hacked=1</script>" in said
    assert page.script("return window.hacked") is None
    assert not page.all("[data-testid=answer] img, [data-testid=answer] a")
