"""The deadline and interruption: a request ends when its caller stops waiting."""

import asyncio
import email.utils
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from asked import PLAIN, STREAMED, Ask, Connect
from fake_openai import FakeOpenAI, Reply, refusal
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.graph import END, START, StateGraph
from running import complete

from lexloop.core.errors import DeadlineExceeded, ModelUnavailable
from lexloop.core.types import Usage
from lexloop.models.request import ChatRequest

PLENTY_S = 3.0


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        (PLAIN, Reply("late", hang=True)),
        (STREAMED, Reply("late", hang=True)),
        (STREAMED, Reply("drip", drip=True)),
    ],
    ids=["silent", "silent stream", "dripping stream"],
)
def test_deadline_holds_and_closes_the_request(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, request_: ChatRequest, reply: Reply
) -> None:
    server.otherwise = reply
    model = chat_model(deadline_s=0.4)
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded, match=r"deadline of 0\.4 s .*deadline_s"):
        complete(model, request_, deadline=began + 0.4, meter=meter)
    assert time.monotonic() - began < PLENTY_S
    assert meter["model_calls"] == 1
    assert server.requests[0].abandoned.wait(PLENTY_S)


def test_retry_after_the_deadline_fails(
    server: FakeOpenAI, chat_model: Connect, meter: Usage
) -> None:
    server.otherwise = refusal(429, "slow down", retry_after="90")
    model = chat_model(deadline_s=20)
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"slow down.*wait 90\.0 s.*deadline_s"):
        complete(model, PLAIN, deadline=began + 20, meter=meter)
    assert time.monotonic() - began < PLENTY_S
    assert len(server.requests) == 1


def test_retry_after_as_a_date_is_told_by_the_clock_of_the_host(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, monkeypatch: pytest.MonkeyPatch
) -> None:
    shifted = time.time() + 1 * 86_400
    ours = SimpleNamespace(time=lambda: shifted, monotonic=time.monotonic)
    monkeypatch.setattr("lexloop.models.provider.time", ours)
    in_an_hour = email.utils.formatdate(time.time() + 3600, usegmt=True)
    server.otherwise = refusal(503, retry_after=in_an_hour)
    with pytest.raises(ModelUnavailable, match=r"would have to wait 3(600|59\d)\.0 s"):
        complete(chat_model(), PLAIN, deadline=time.monotonic() + 20, meter=meter)


def test_retry_after_that_fits_is_honoured(server: FakeOpenAI, ask: Ask) -> None:
    server.script(refusal(429, retry_after="0.3"), Reply("Yes."))
    began = time.monotonic()
    assert ask(PLAIN).text == "Yes."
    assert time.monotonic() - began >= 0.3


def test_cancelled_task_interrupts_the_request(
    server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float
) -> None:
    server.otherwise = Reply(hang=True)

    async def ask_then_cancel() -> None:
        task = asyncio.create_task(chat_model().acomplete(PLAIN, deadline=soon, meter=meter))
        assert await asyncio.to_thread(server.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask_then_cancel())
    assert server.requests[0].abandoned.wait(PLENTY_S)


def test_ctrl_c_interrupts_the_request(server: FakeOpenAI, ask: Ask) -> None:
    server.otherwise = Reply("drip", drip=True)
    main = threading.main_thread().ident
    assert main is not None
    # in the background of a script the suite ignores it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press() -> None:
        if server.wait_for(1):
            signal.pthread_kill(main, signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        ask(STREAMED)
    signal.signal(signal.SIGINT, before)
    presser.join()
    assert server.requests[0].abandoned.wait(PLENTY_S)


class _Starts(BaseCallbackHandler):
    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    def on_chat_model_start(self, *_: Any, **details: Any) -> None:
        self.told.append((details["name"], details["metadata"]["langgraph_node"]))


@pytest.mark.parametrize("request_", [PLAIN, STREAMED])
def test_a_callback_hears_of_the_call_in_its_node_and_a_message_stream_does_not(
    *, server: FakeOpenAI, chat_model: Connect, meter: Usage, soon: float, request_: ChatRequest
) -> None:
    server.otherwise = Reply("The employer.", pieces=3)
    model = chat_model()

    async def node(state: dict[str, str]) -> dict[str, str]:
        return {"answer": (await model.acomplete(request_, deadline=soon, meter=meter)).text}

    builder = StateGraph(dict)
    builder.add_node("generate", node)
    builder.add_edge(START, "generate")
    builder.add_edge("generate", END)
    starts = _Starts()
    config: Any = {"callbacks": [starts]}
    graph = builder.compile()

    async def stream() -> list[Any]:
        return [part async for part in graph.astream({}, config, stream_mode="messages")]

    assert asyncio.run(stream()) == []
    assert starts.told == [("generate", "generate")]
