"""Runs of one thread take turns, and nothing of the thread is lost."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from lexloop.core.errors import DataError, ThreadBusy
from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.compiled import ThreadTurn
from lexloop.graph.resources import Resources

CALLS = 32
ASKED = [f"When must owner {number} pay the mooring fee?" for number in range(CALLS)]
THREAD: Any = {"configurable": {"thread_id": "one"}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "threads.sqlite"


@pytest.fixture
def sqlite(file: Path) -> Iterator[SqliteSaver]:
    with closing(sqlite3.connect(file, check_same_thread=False, timeout=0.1)) as connection:
        yield SqliteSaver(connection)


@pytest.fixture
def hasty(corpus: Path) -> Settings:
    """Settings with which a run hardly waits for its turn."""
    return Settings(corpus=str(corpus), deadline_s=0.05)


def asking(text: str = ASKED[0]) -> Any:
    return {"question": text}


def messages_of(graph: Lexloop) -> list[Any]:
    return graph.get_state(THREAD).values["messages"]


def check(messages: list[Any], asked: list[str]) -> None:
    """Every question is there, and after each its answer."""
    assert sorted(message.text for message in messages[::2]) == sorted(asked)
    assert [message.type for message in messages] == ["human", "ai"] * len(asked)
    assert len({message.id for message in messages}) == len(messages)


def test_synchronous_calls(embedded: Resources, sqlite: SqliteSaver) -> None:
    graph = build_graph(embedded, sqlite)
    with ThreadPoolExecutor(CALLS) as pool:
        list(pool.map(lambda text: graph.invoke(asking(text), THREAD), ASKED))
    check(messages_of(graph), ASKED)


def test_asynchronous_calls_in_the_order_in_which_they_came(embedded: Resources) -> None:
    graph = build_graph(embedded, InMemorySaver())

    async def run() -> None:
        await asyncio.gather(*(graph.ainvoke(asking(text), THREAD) for text in ASKED))

    asyncio.run(run())
    check(messages_of(graph), ASKED)
    assert [message.text for message in messages_of(graph)[::2]] == ASKED


def test_waiting_for_a_turn_ends(embedded: Resources, sqlite: SqliteSaver, hasty: Settings) -> None:
    graph = build_graph(embedded, sqlite)
    with closing(graph.stream(asking(), THREAD)) as held:
        next(held)
        with pytest.raises(ThreadBusy, match=r"'one' was busy .* 0.05 s") as refused:
            graph.invoke(asking(), THREAD, context=hasty)
        assert refused.value.exit_code == 8
        assert refused.value.__cause__ is not None
        graph.invoke(asking(), {"configurable": {"thread_id": "two"}})
        graph.copy(update={"checkpointer": InMemorySaver()}).invoke(asking(), THREAD)
    # of the stream that nobody reads any more the turn is over
    graph.invoke(asking(), THREAD)
    assert [message.type for message in messages_of(graph)].count("ai") == 1


def test_cancelled_calls_let_go(scripted: FakeOpenAI, modelled: Callable[..., Lexloop]) -> None:
    scripted.play("generate", Reply(hang=True), Reply("It is due within 10 business days [1]."))
    graph = modelled().copy(update={"checkpointer": InMemorySaver()})

    async def run() -> None:
        running = asyncio.create_task(graph.ainvoke(asking("Which fee?"), THREAD))
        assert await asyncio.to_thread(scripted.wait_for, 2, 30.0)
        waiting = [asyncio.create_task(graph.ainvoke(asking(), THREAD)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        running.cancel()
        await asyncio.gather(running, *waiting, return_exceptions=True)
        assert running.cancelled()
        assert [task.cancelled() for task in waiting] == [False, True, False]

    asyncio.run(run())
    assert [message.type for message in messages_of(graph)].count("ai") == 2


def test_a_turn_that_was_given_in_the_moment_of_giving_up_is_passed_on() -> None:
    stands, memory = threading.Event(), InMemorySaver()

    def patience_s() -> float:
        stands.set()
        return 20.0

    async def run() -> None:
        async with ThreadTurn(memory, "one", patience_s):
            waiting = asyncio.create_task(ThreadTurn(memory, "one", patience_s).__aenter__())
            while not stands.is_set():
                await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with ThreadTurn(memory, "one", patience_s):
            pass

    asyncio.run(run())


HOLD = """
import sys, sqlite3
from langgraph.checkpoint.sqlite import SqliteSaver
from lexloop.graph.compiled import ThreadTurn
saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
with ThreadTurn(saver, 'one', lambda: 9.0):
    print('held', flush=True)
    sys.stdin.read()
"""


def test_what_another_process_holds_is_waited_for_until_it_is_killed(
    embedded: Resources, sqlite: SqliteSaver, hasty: Settings, file: Path
) -> None:
    graph = build_graph(embedded, sqlite)
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(ThreadBusy):
            graph.invoke(asking(), THREAD, context=hasty)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(graph.invoke, asking(), THREAD)
            holder.kill()
            assert waiting.result()["answer"]
    left = {path.name for path in file.parent.iterdir()}
    assert left <= {file.name, f"{file.name}-wal", f"{file.name}-shm"}


def test_a_locked_database(embedded: Resources, sqlite: SqliteSaver, file: Path) -> None:
    graph = build_graph(embedded, sqlite)
    graph.invoke(asking(), THREAD)
    with closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DataError, match="'one' could not be read or saved: database is l"):
            graph.invoke(asking(), THREAD)
    check(graph.invoke(asking(ASKED[1]), THREAD)["messages"], ASKED[:2])
