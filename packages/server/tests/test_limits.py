"""As much at once as a server may do: streams, places in line, readers that are slow or leave."""

import asyncio
import threading
import time
from collections import Counter
from functools import partial
from typing import Any

import httpx
import hypothesis
import pytest
from fake_openai import FakeOpenAI, Reply
from hypothesis import given
from hypothesis import strategies as st
from servers import QUESTION, as_, client_of, eventually, model_settings, person, served

from lexloop.apps.offered import EMBEDDED_ALONE
from lexloop.core.errors import Overloaded, RateExceeded
from lexloop.core.running import Abandoned, give_way
from lexloop_server.limits import Lines, Queue, Rates, ahead
from lexloop_server.settings import ServerSettings


def test_each_person_has_a_share_of_as_many_streams_as_may_be(server: FakeOpenAI) -> None:
    server.otherwise = Reply(hang=True)
    limits = {"requests_at_once": 2, "questions_at_once": 3, "streams": 3}
    settings = ServerSettings.of({"people": [person("ann"), person("bob")], "limits": limits})
    once = {"settings": EMBEDDED_ALONE}

    async def crowd(address: str) -> list[httpx.Response]:
        async with (
            httpx.AsyncClient(base_url=f"{address}/api", timeout=60) as client,
            asyncio.timeout(60),
            asyncio.TaskGroup() as tasks,
        ):

            async def ask(who: str, **more: Any) -> httpx.Response:
                return await client.post("/ask", json={**QUESTION, **more}, headers=as_(who))

            waiting = [tasks.create_task(ask("ann")) for _ in range(2)]
            await asyncio.to_thread(server.wait_for, 2)
            told = [await ask("ann", **once), await ask("bob", **once)]
            waiting.append(tasks.create_task(ask("bob")))
            await asyncio.to_thread(server.wait_for, 3)
            told.append(await ask("bob", **once))
            for one in waiting:
                one.cancel()
        return told

    with served(settings, model_settings(), server.connection) as address:
        hers, answered, all_taken = asyncio.run(crowd(address))
        assert (hers.status_code, hers.json()["error"]["kind"]) == (429, "RateExceeded")
        assert answered.status_code == 200
        assert (all_taken.status_code, all_taken.json()["error"]["kind"]) == (503, "Overloaded")
        assert hers.headers["retry-after"] == all_taken.headers["retry-after"] == "5"
        with client_of(address, "ann") as client:  # once the server has heard of the leaving
            assert eventually(lambda: client.get("/me").status_code == 200)


@pytest.mark.anyio
async def test_who_waits_too_long_in_line_is_told() -> None:
    queue = Queue(1, 0.01)
    async with queue.turn("ann"):
        with pytest.raises(Overloaded, match="behind others"):
            async with queue.turn("bob"):
                pass
    async with queue.turn("bob"):
        pass


@given(st.lists(st.sampled_from("abc"), max_size=12))
@hypothesis.settings(deadline=None)
def test_nobody_waits_behind_all_that_another_asked(asked: list[str]) -> None:
    served: list[tuple[str, int]] = []

    async def main() -> None:
        queue = Queue(1, 30.0)

        async def ask(who: str, number: int) -> None:
            async with queue.turn(who):
                served.append((who, number))

        async with asyncio.TaskGroup() as tasks, queue.turn("d"):
            for number, who in enumerate(asked):
                tasks.create_task(ask(who, number))
            await asyncio.sleep(0)  # all stand in line

    asyncio.run(main())
    assert sorted(number for _, number in served) == [*range(len(asked))]
    for who in "abc":
        own = [number for one, number in served if one == who]
        assert own == sorted(own)
    for end in range(len(served)):
        done = Counter(who for who, _ in served[:end])
        waiting = {who for who, _ in served[end:]}
        counts = [done[who] for who in waiting]
        assert max(counts) - min(counts) <= 1


@pytest.mark.anyio
async def test_who_leaves_the_line_gives_the_place_to_the_next() -> None:
    queue, served = Queue(1, 30.0), list[str]()

    async def ask(who: str) -> None:
        async with queue.turn(who):
            served.append(who)

    async with queue.turn("ann"):
        leaving, called, last = [asyncio.create_task(ask(who)) for who in ("bob", "eve", "ann")]
        await asyncio.sleep(0)
        leaving.cancel()
    called.cancel()  # it has its turn, and leaves before it begins
    await asyncio.wait([leaving, called, last], timeout=10)
    async with queue.turn("bob"):
        assert served == ["ann"]


@pytest.mark.anyio
async def test_work_that_has_begun_gives_way_to_others_and_not_to_the_same_person() -> None:
    queue, done = Queue(1, 30.0), list[str]()
    begun, all_wait = threading.Event(), threading.Event()

    def long() -> None:
        done.append("ann 1")
        begun.set()
        assert all_wait.wait(10)
        for piece in ("ann 2", "ann 3"):
            give_way()
            done.append(piece)

    working = asyncio.create_task(queue.run("ann", long))
    await asyncio.to_thread(begun.wait, 10)
    waiting = [
        asyncio.create_task(queue.run(who, partial(done.append, f"{who} next")))
        for who in ("ann", "bob", "eve")
    ]
    while len(queue._waiting) < 3:
        await asyncio.sleep(0)
    all_wait.set()
    await asyncio.wait_for(asyncio.gather(working, *waiting), 10)
    queue.close()
    assert done == ["ann 1", "bob next", "eve next", "ann 2", "ann 3", "ann next"]


@pytest.mark.anyio
async def test_work_whose_caller_leaves_ends_at_its_next_piece_and_gives_its_turn_back() -> None:
    queue, done = Queue(1, 10.0), list[int]()
    begun, has_left = threading.Event(), threading.Event()

    def long() -> None:
        for piece in range(100):
            give_way()
            done.append(piece)
            begun.set()
            assert has_left.wait(10)

    working = asyncio.create_task(queue.run("ann", long))
    await asyncio.to_thread(begun.wait, 10)
    working.cancel()
    await asyncio.sleep(0)
    has_left.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await queue.run("ann", lambda: len(done)) == 1


def test_a_thread_that_waits_for_its_turn_ends_where_it_was_left() -> None:
    queue, left = Queue(1, 10.0), threading.Event()
    with queue.held("ann", left):
        give_way()
        left.set()
        with pytest.raises(Abandoned):
            give_way()
    with queue.held("bob"):
        give_way()


@given(st.lists(st.sampled_from("abc"), max_size=12), st.integers(1, 3))
@hypothesis.settings(deadline=None)
def test_a_persons_background_work_is_done_in_order_one_at_a_time(
    added: list[str], most: int
) -> None:
    lines, done, under_way = Lines("test", most), list[tuple[str, int]](), Counter[str]()
    lock = threading.Lock()

    def work(who: str, number: int) -> None:
        with lock:
            under_way[who] += 1
            assert under_way[who] == 1
            assert under_way.total() <= most
        done.append((who, number))
        with lock:
            under_way[who] -= 1

    for number, who in enumerate(added):
        lines.add(who, partial(work, who, number))
    lines.idle()
    lines.close()
    assert sorted(number for _, number in done) == [*range(len(added))]
    for who in "abc":
        own = [number for one, number in done if one == who]
        assert own == sorted(own)


def test_nobodys_background_work_waits_for_anothers() -> None:
    lines, other = Lines("test", 2), threading.Event()
    waited = list[bool]()
    lines.add("ann", lambda: waited.append(other.wait(10)))
    lines.add("bob", other.set)
    lines.idle()
    lines.close()
    assert waited == [True]


@pytest.mark.anyio
async def test_work_does_not_wait_for_a_slow_reader() -> None:
    made: list[int] = []
    ended = False

    async def source() -> Any:
        nonlocal ended
        try:
            for number in range(3):
                made.append(number)
                yield number
            raise ValueError("at the end")
        finally:
            ended = True

    stream = ahead(source())
    got = [await anext(stream)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert made == [0, 1, 2]
    got += [await anext(stream), await anext(stream)]
    with pytest.raises(ValueError, match="at the end"):
        await anext(stream)
    assert (got, ended) == ([0, 1, 2], True)


def test_rates_are_counted_by_a_clock_that_nobody_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    now, ahead = [1000.0], [10.0**9]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: now[0] + ahead[0])
    rates = Rates(questions=2, requests=1)
    rates.count("questions", "ann")
    now[0] += 30
    rates.count("questions", "ann")
    rates.count("questions", "bob")
    rates.count("requests", "ann")
    with pytest.raises(RateExceeded, match="More than 2 questions came from you within a minute"):
        rates.count("questions", "ann")
    ahead[0] = 0.0  # the wall clock is set right, thirty years back
    now[0] += 29.5
    with pytest.raises(RateExceeded):
        rates.count("questions", "ann")
    now[0] += 0.5  # a minute after the first
    rates.count("questions", "ann")
    with pytest.raises(RateExceeded):
        rates.count("questions", "ann")
    now[0] += 120
    for _ in range(2):
        rates.count("questions", "ann")
