"""As much at once as a server may do: streams, places in line, readers that are slow or leave."""

import asyncio
from typing import Any

import httpx
import pytest
from fake_openai import FakeOpenAI, Reply
from http_questions import ANSWER, QUESTION, SSE, client_of, model_settings
from loopback_server import served
from waiting import eventually

from lexloop.apps.serve.choices import EMBEDDED_ALONE
from lexloop.apps.serve.limits import Queue, Streams, ahead
from lexloop.apps.serve.settings import ServerSettings
from lexloop.core.errors import Overloaded


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_the_work_ends_where_the_client_leaves(server: FakeOpenAI, accept: str) -> None:
    server.otherwise = Reply(hang=True)
    limits = {"questions_at_once": 1, "streams": 1}
    settings = ServerSettings.of({"limits": limits})
    with (
        served(settings, model_settings(), server.connection) as address,
        client_of(address) as client,
    ):
        once = {**QUESTION, "settings": EMBEDDED_ALONE}  # so that all is loaded
        assert client.post("/ask", json=once).status_code == 200
        headers = {"Accept": accept}
        leaving = httpx.Timeout(60, read=1.0)
        with pytest.raises(httpx.ReadTimeout):
            client.post("/ask", json=QUESTION, headers=headers, timeout=leaving)
        assert server.requests[0].abandoned.wait(20)
        server.otherwise = Reply(ANSWER)
        # its place is free, as soon as the server has seen it leave
        eventually(lambda: client.post("/ask", json=QUESTION).status_code == 200)
        assert len(client.get("/threads").json()["threads"]) == 2


def test_as_many_streams_as_may_be(server: FakeOpenAI) -> None:
    server.otherwise = Reply(hang=True)
    settings = ServerSettings.of({"limits": {"streams": 3}})
    with served(settings, model_settings(), server.connection) as address:

        async def crowd() -> list[httpx.Response]:
            async with httpx.AsyncClient(base_url=f"{address}/api", timeout=60) as client:
                async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
                    waiting = [tasks.create_task(held(client)) for _ in range(3)]
                    begun.clear()
                    await begun.wait()
                    refused = [await client.post("/ask", json=QUESTION) for _ in range(5)]
                    server.released.set()
                    for one in waiting:
                        one.cancel()
                return refused

        begun, count = asyncio.Event(), 0

        async def held(client: httpx.AsyncClient) -> None:
            nonlocal count
            async with client.stream("POST", "/ask", json=QUESTION, headers=SSE) as found:
                async for line in found.aiter_lines():
                    if line == "event: begin":
                        count += 1
                        if count == 3:
                            begun.set()

        refused = asyncio.run(crowd())
    assert {one.status_code for one in refused} == {503}
    assert {one.json()["error"]["kind"] for one in refused} == {"Overloaded"}
    assert {one.headers["retry-after"] for one in refused} == {"5"}


def test_who_waits_too_long_in_line_is_told() -> None:
    async def second() -> None:
        queue = Queue(1, 0.01)
        async with queue.turn("ann"):
            with pytest.raises(Overloaded, match="behind others"):
                async with queue.turn("bob"):
                    pass
        async with queue.turn("bob"):
            pass

    asyncio.run(second())


def test_a_place_is_given_back_whatever_happens() -> None:
    streams = Streams(1)
    with pytest.raises(ZeroDivisionError), streams.one():
        raise ZeroDivisionError
    with streams.one(), pytest.raises(Overloaded), streams.one():
        pass
    assert streams.open == 0


def test_work_does_not_wait_for_a_slow_reader() -> None:
    async def source() -> Any:
        nonlocal ended
        try:
            for number in range(3):
                made.append(number)
                yield number
            raise ValueError("at the end")
        finally:
            ended = True

    async def read_slowly() -> list[int]:
        got = []
        stream = ahead(source())
        got.append(await anext(stream))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert made == [0, 1, 2]
        got += [await anext(stream), await anext(stream)]
        with pytest.raises(ValueError, match="at the end"):
            await anext(stream)
        return got

    made: list[int] = []
    ended = False
    assert asyncio.run(read_slowly()) == [0, 1, 2]
    assert ended
