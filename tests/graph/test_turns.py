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
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver

from lexloop.core.errors import DataError, ThreadBusy
from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.compiled import ThreadTurn
from lexloop.graph.resources import Resources

CALLS = 64
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
def memory() -> InMemorySaver:
    return InMemorySaver()


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.fixture
def hasty(corpus: Path) -> Settings:
    """Settings with which a run hardly waits for its turn."""
    return Settings(corpus=str(corpus), deadline_s=0.05)


@pytest.fixture
def patient(corpus: Path) -> Settings:
    """Settings with which a run is answered, and fails a test that keeps it waiting."""
    return Settings(corpus=str(corpus), deadline_s=20.0)


def asking(text: str = ASKED[0]) -> Any:
    return {"question": text}


def check(messages: list[Any], asked: list[str]) -> None:
    """Every question is there, and after each its answer."""
    assert sorted(message.text for message in messages[::2]) == sorted(asked)
    assert [message.type for message in messages] == ["human", "ai"] * len(asked)
    assert [m.id for m in messages[1::2]] == [f"{m.id}-answer" for m in messages[::2]]


class TestInOneProcess:
    def test_synchronous_calls(self, embedded: Resources, sqlite: SqliteSaver) -> None:
        graph = build_graph(embedded, sqlite)
        with ThreadPoolExecutor(CALLS) as pool:
            list(pool.map(lambda text: graph.invoke(asking(text), THREAD), ASKED))
        check(graph.get_state(THREAD).values["messages"], ASKED)

    def test_asynchronous_calls_in_the_order_in_which_they_came(self, embedded: Resources) -> None:
        async def run() -> list[Any]:
            graph = build_graph(embedded, InMemorySaver())
            await asyncio.gather(*(graph.ainvoke(asking(text), THREAD) for text in ASKED))
            return (await graph.aget_state(THREAD)).values["messages"]

        messages = asyncio.run(run())
        check(messages, ASKED)
        assert [message.text for message in messages[::2]] == ASKED

    def test_two_connections_to_one_file(
        self, embedded: Resources, sqlite: SqliteSaver, file: Path
    ) -> None:
        with SqliteSaver.from_conn_string(str(file)) as other:
            graphs = [build_graph(embedded, one) for one in (sqlite, other)] * 4
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda g, t: g.invoke(asking(t), THREAD), graphs, ASKED))
            check(graphs[0].get_state(THREAD).values["messages"], ASKED[:8])

    def test_a_change_of_the_state_waits_for_the_run(
        self, embedded: Resources, memory: InMemorySaver
    ) -> None:
        graph = build_graph(embedded, memory)
        steps = graph.stream(asking(), THREAD)
        next(steps)
        said = [HumanMessage("By the way.", id="h"), AIMessage("Yes?", id="a")]
        with ThreadPoolExecutor(1) as pool:
            change = pool.submit(graph.update_state, THREAD, {"messages": said}, "evaluate")
            list(steps)
            change.result()
        messages = graph.get_state(THREAD).values["messages"]
        assert [message.type for message in messages] == ["human", "ai"] * 2


class TestWaiting:
    def test_it_ends_with_the_time_of_the_question(
        self, embedded: Resources, saver: Any, hasty: Settings
    ) -> None:
        graph = build_graph(embedded, saver)
        with closing(graph.stream(asking(), THREAD)) as held:
            next(held)
            with pytest.raises(ThreadBusy, match=r"'one' was busy .* 0.05 s") as refused:
                graph.invoke(asking(), THREAD, context=hasty)
            assert refused.value.exit_code == 8
            assert refused.value.__cause__ is not None
            with pytest.raises(ThreadBusy):
                graph.invoke(asking(), THREAD, context=hasty.model_dump(include={"deadline_s"}))
        graph.invoke(asking(), THREAD)
        messages = graph.get_state(THREAD).values["messages"]
        assert [message.type for message in messages].count("ai") == 1

    def test_another_thread_is_not_waited_for(
        self, embedded: Resources, saver: Any, patient: Settings
    ) -> None:
        graph = build_graph(embedded, saver)
        with closing(graph.stream(asking(), THREAD)) as held:
            next(held)
            other: Any = {"configurable": {"thread_id": "two"}}
            graph.invoke(asking(), other, context=patient)
            elsewhere = graph.copy(update={"checkpointer": InMemorySaver()})
            elsewhere.invoke(asking(), THREAD, context=patient)
            elsewhere.copy(update={"checkpointer": None}).invoke(asking(), context=patient)


class TestLettingGo:
    def test_of_a_stream_that_nobody_reads(
        self, embedded: Resources, saver: Any, patient: Settings
    ) -> None:
        graph = build_graph(embedded, saver)
        for _ in graph.stream(asking(), THREAD):
            break
        graph.invoke(asking(), THREAD, context=patient)

    def test_of_calls_that_are_cancelled(
        self, scripted: FakeOpenAI, modelled: Callable[..., Lexloop]
    ) -> None:
        scripted.play("generate", Reply(hang=True), Reply("It is due within 10 business days [1]."))
        graph = modelled().copy(update={"checkpointer": InMemorySaver()})

        async def run() -> list[Any]:
            running = asyncio.create_task(graph.ainvoke(asking("Which fee?"), THREAD))
            assert await asyncio.to_thread(scripted.wait_for, 2, 30.0)
            waiting = [asyncio.create_task(graph.ainvoke(asking(), THREAD)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[1].cancel()
            running.cancel()
            await asyncio.gather(running, *waiting, return_exceptions=True)
            assert running.cancelled()
            assert [task.cancelled() for task in waiting] == [False, True, False]
            return (await graph.aget_state(THREAD)).values["messages"]

        messages = asyncio.run(run())
        assert [message.type for message in messages].count("ai") == 2

    def test_a_turn_that_was_given_in_the_moment_of_giving_up_is_passed_on(
        self, memory: InMemorySaver
    ) -> None:
        stands = threading.Event()

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


class TestAcrossProcesses:
    HOLD = (
        "import sys, sqlite3\n"
        "from langgraph.checkpoint.sqlite import SqliteSaver\n"
        "from lexloop.graph.compiled import ThreadTurn\n"
        "saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))\n"
        "with ThreadTurn(saver, 'one', lambda: 9.0):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )

    @pytest.fixture
    def holder(self, file: Path) -> Iterator["subprocess.Popen[bytes]"]:
        """A process that has the thread to itself until it is killed or its input ends."""
        command = [sys.executable, "-c", self.HOLD, str(file)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield process
            process.kill()

    def test_a_thread_in_use_is_waited_for_and_refused_in_the_end(
        self,
        embedded: Resources,
        sqlite: SqliteSaver,
        hasty: Settings,
        holder: "subprocess.Popen[bytes]",
    ) -> None:
        graph = build_graph(embedded, sqlite)
        with pytest.raises(ThreadBusy):
            graph.invoke(asking(), THREAD, context=hasty)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(graph.invoke, asking(), THREAD)
            assert holder.stdin is not None
            holder.stdin.close()
            assert waiting.result()["answer"]

    def test_a_killed_process_leaves_nothing_locked(
        self,
        embedded: Resources,
        sqlite: SqliteSaver,
        patient: Settings,
        file: Path,
        holder: "subprocess.Popen[bytes]",
    ) -> None:
        holder.kill()
        holder.wait()
        build_graph(embedded, sqlite).invoke(asking(), THREAD, context=patient)
        assert {path.name for path in file.parent.iterdir()} <= {
            file.name,
            f"{file.name}-wal",
            f"{file.name}-shm",
        }


class TestAFileThatCannotBeUsed:
    def test_a_locked_database(self, embedded: Resources, sqlite: SqliteSaver, file: Path) -> None:
        graph = build_graph(embedded, sqlite)
        graph.invoke(asking(), THREAD)
        with closing(sqlite3.connect(file)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(DataError, match="'one' could not be read or saved: database is l"):
                graph.invoke(asking(), THREAD)
        check(graph.invoke(asking(ASKED[1]), THREAD)["messages"], ASKED[:2])


def test_turns_are_taken_one_at_a_time(memory: InMemorySaver) -> None:
    inside, most = 0, 0
    guard = threading.Lock()

    def take(_: int) -> None:
        nonlocal inside, most
        with ThreadTurn(memory, "one", lambda: 30.0):
            with guard:
                inside += 1
                most = max(most, inside)
            with guard:
                inside -= 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(take, range(300)))
    assert (inside, most) == (0, 1)
