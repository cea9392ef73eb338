"""Asking a model to judge, over real HTTP: what is kept, what is bounded, what stops a run."""

import sqlite3
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from fake_openai import KEY, FakeOpenAI, Reply, Request, refusal
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from lexloop.core.errors import ModelAuthError, ModelError
from lexloop.core.settings import Settings
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.prompts import parse
from lexloop_eval.asking import Asker, reply_key, side_by_side
from lexloop_eval.score import Unresolved

T = TypeVar("T")
Ask = Callable[..., Asker]
PROMPT = parse("p", "=== system ===\nIn {{fence}}.\n=== user ===\n{{question}}", {"question"})


class Verdict(BaseModel):
    score: int


async def scored(chat: Chat, question: str = "Is it so?") -> int:
    system, user = PROMPT.render(question=question)
    return parsed(await chat.ask(ChatRequest("judging", system, user, Verdict)), Verdict).score


async def talk(chat: Chat, question: str = "Is it so?") -> str:
    return (await chat.ask(ChatRequest("talking", *PROMPT.render(question=question)))).text


def settled(
    asker: Asker, work: Callable[..., Coroutine[Any, Any, T]], *asked: str
) -> T | Unresolved:
    return asker.settle(work(asker, *asked))


@pytest.fixture
def asker(server: FakeOpenAI, tmp_path: Path) -> Iterator[Ask]:
    made = ExitStack()

    def connected(
        model: str = "openai:scripted", deadline_s: float = 120, **asked: object
    ) -> Asker:
        chosen = Settings(deadline_s=deadline_s, model={"name": model, "attempts": 1, **asked})
        path = tmp_path / "kept" / "replies.sqlite"
        return made.enter_context(Asker(chosen, server.connection, path))

    with made:
        yield connected


def test_rerun_asks_nobody(server: FakeOpenAI, asker: Ask) -> None:
    server.otherwise = Reply('{"score": 4}')
    first = asker()
    assert [settled(first, scored), settled(first, scored)] == [4, 4]
    assert first.spent["model_calls"] == 1
    assert (first.spent["tokens_in"], first.spent["tokens_out"]) == (11, 7)
    assert first.spent["seconds"] > 0
    again = asker()
    assert settled(again, scored) == 4
    assert again.spent == {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
    assert len(server.requests) == 1


def test_garbage_always_is_unresolved_and_not_kept(server: FakeOpenAI, asker: Ask) -> None:
    server.otherwise = Reply("I'd say four.")
    score = settled(asker(), scored)
    assert isinstance(score, Unresolved)
    assert "did not reply to judging in the form asked for" in score.reason
    assert len(server.requests) == 2
    server.otherwise = Reply('{"score": 5}')
    assert settled(asker(), scored) == 5


def test_host_that_hangs_again_and_again_is_left_alone(server: FakeOpenAI, asker: Ask) -> None:
    server.script(Reply('{"score": 3}'), *[Reply(hang=True)] * 2, Reply('{"score": 4}'))
    server.otherwise = Reply(hang=True)
    made = asker(deadline_s=0.2)
    scores = [settled(made, scored, f"{n}") for n in range(9)]
    assert [score for score in scores if not isinstance(score, Unresolved)] == [3, 4]
    assert len(server.requests) == 7
    assert isinstance(scores[8], Unresolved)
    assert "whose last 3 calls all ran out" in scores[8].reason
    assert settled(made, scored, "0") == 3


@pytest.mark.parametrize(("status", "message"), [(404, "knows no model"), (401, "key")])
def test_what_cannot_be_asked_at_all_stops_the_run_whatever_the_work_makes_of_errors(
    server: FakeOpenAI, asker: Ask, status: int, message: str
) -> None:
    async def lenient(chat: Chat) -> int:
        try:
            return await scored(chat)
        except ModelError:
            return 0

    server.otherwise = refusal(status)
    with pytest.raises(ModelError, match=message):
        settled(asker(), lenient)
    server.otherwise = refusal(503)
    assert settled(asker(), lenient) == 0


def test_kept_reply_that_no_longer_parses_is_none(
    server: FakeOpenAI, asker: Ask, tmp_path: Path
) -> None:
    server.otherwise = Reply('{"score": 4}')
    settled(asker(), scored)
    with sqlite3.connect(tmp_path / "kept" / "replies.sqlite") as database:
        database.execute("UPDATE kept SET text = '{\"score\": '")
    database.close()
    assert settled(asker(), scored) == 4
    assert settled(asker(), scored) == 4
    assert len(server.requests) == 2


def test_threads_that_ask_the_same_ask_once(server: FakeOpenAI, asker: Ask) -> None:
    def counted(request: Request) -> Reply:
        return Reply(f'{{"score": {len(request.user.split())}}}')

    server.otherwise = counted
    made = asker()
    questions = [" ".join(["why"] * (1 + n % 4)) for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda question: settled(made, scored, question), questions))
    assert len(server.requests) == made.spent["model_calls"] == 4
    assert made.spent["tokens_in"] == 44
    assert scores == scores[:4] * 10
    assert [score - scores[0] for score in scores[:4]] == [0, 1, 2, 3]


def test_no_key_and_no_text_of_prompts_is_kept(
    server: FakeOpenAI, asker: Ask, tmp_path: Path
) -> None:
    server.otherwise = Reply('{"score": 1}')
    settled(asker(), scored, "Is Mr Holmgren liable?")
    held = (tmp_path / "kept" / "replies.sqlite").read_bytes()
    assert KEY.encode() not in held
    assert b"Holmgren" not in held


def test_results_come_in_order_whoever_is_first() -> None:
    first_may_end = threading.Event()
    seen: list[tuple[int, int]] = []

    def work(number: int) -> int:
        if number == 0:
            assert first_may_end.wait(10)
        else:
            first_may_end.set()
        return number * number

    made = side_by_side(work, range(5), lambda *done: seen.append(done), 2)
    assert list(made) == [i * i for i in range(5)]
    assert seen == [(i, 5) for i in range(6)]
    assert list(side_by_side(str, [], lambda *_: None, 4)) == []


def test_an_error_ends_it() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ModelAuthError("refused", "hint")

    with pytest.raises(ModelAuthError):
        list(side_by_side(work, range(1000), lambda *_: None, 1))
    assert len(begun) < 1000


FENCED = parse("p", "=== system ===\nIn <{{fence}} ...>.\n=== user ===\n{{question}}", {"question"})


class Wide(BaseModel):
    score: float


class Narrow(BaseModel):
    score: Literal[1, 2]


def key(question: str, schema: type[BaseModel] | None = None, **asked_with: object) -> str:
    system, user = FENCED.render(question=question)
    return reply_key("openai:m", asked_with, ChatRequest("asking", system, user, schema))


@given(st.text(), st.text())
def test_the_same_text_has_one_key_whatever_its_fence(first: str, other: str) -> None:
    assert key(first) == key(first)
    assert (key(first) == key(other)) == (first == other)


def test_form_and_parameters_are_part_of_the_key() -> None:
    keys = {
        key("a"),
        key("a", Wide),
        key("a", Narrow),
        key("a", Wide, temperature=0.5),
        key("a", Wide, seed=1),
        key("a", Wide, seed=2),
        key("a", Wide, seed=1, top_p=0.5),
    }
    assert len(keys) == 7
    assert key("a", Wide) == key("a", Wide, temperature=0) == key("a", Wide, temperature=0.0)
    assert key("a", seed=1, top_p=0.5) == key("a", top_p=0.5, seed=1)
