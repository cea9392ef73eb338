"""Many ask on one thread at once, and no turn is lost: calls, graphs and chats in two processes."""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from _promise import Line
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from lexloop.apps.threads import ThreadStore
from lexloop.core.errors import LexloopError
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

_CALLS, _PROCESSES, _TURNS = 32, 2, 8
_LIMIT_S = 300.0
_QUESTION = "What is a bias audit?"
_THREAD: Any = {"configurable": {"thread_id": "promise"}}
_GRAPH = """
import sys
from langgraph.checkpoint.sqlite import SqliteSaver
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = build_graph(Resources(), saver)
    for question in sys.stdin:
        graph.invoke({"question": question}, {"configurable": {"thread_id": "promise"}})
"""


def held() -> Iterator[Line]:
    """Calls in this process, then processes on one file."""
    resources = Resources()
    resources(None)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        yield _calls(resources, InMemorySaver())
        with SqliteSaver.from_conn_string(str(folder / "calls.sqlite")) as saver:
            yield _calls(resources, saver)
        yield asyncio.run(_acalls(resources, None))
        yield asyncio.run(_acalls(resources, folder / "acalls.sqlite"))
        graph = [sys.executable, "-c", _GRAPH, str(folder / "graphs.sqlite")]
        yield _processes("graphs", graph, folder / "graphs.sqlite", _in_graphs)
        file = folder / "chats.sqlite"
        chat = [sys.executable, "-m", "lexloop.apps.cli", "chat", "--thread", "promise"]
        yield _processes("chats", [*chat, "--threads-file", str(file)], file, _in_chats)


def _calls(resources: Resources, saver: BaseCheckpointSaver[Any]) -> Line:
    graph = build_graph(resources, saver)

    def ask(number: int) -> bool:
        try:
            graph.invoke({"question": f"{_QUESTION} ({number})"}, _THREAD)
        except LexloopError:
            return False
        return True

    with ThreadPoolExecutor(_CALLS) as pool:
        answered = sum(pool.map(ask, range(_CALLS)))
    messages = graph.get_state(_THREAD).values["messages"]
    return _line(
        f"{_CALLS} invoke at once, {type(saver).__name__}", _spoken(messages), answered, _CALLS
    )


async def _acalls(resources: Resources, file: Path | None) -> Line:
    if file is None:
        return await _asked_at_once(resources, InMemorySaver())
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        return await _asked_at_once(resources, saver)


async def _asked_at_once(resources: Resources, saver: BaseCheckpointSaver[Any]) -> Line:
    graph = build_graph(resources, saver)
    calls = (
        graph.ainvoke({"question": f"{_QUESTION} ({number})"}, _THREAD) for number in range(_CALLS)
    )
    done = await asyncio.gather(*calls, return_exceptions=True)
    if strange := [e for e in done if isinstance(e, Exception) and not isinstance(e, LexloopError)]:
        raise strange[0]
    answered = sum(isinstance(result, dict) for result in done)
    messages = (await graph.aget_state(_THREAD)).values["messages"]
    return _line(
        f"{_CALLS} ainvoke at once, {type(saver).__name__}", _spoken(messages), answered, _CALLS
    )


def _in_graphs(file: Path) -> list[str]:
    """Return who speaks, message by message, in the checkpoints of a file."""
    with SqliteSaver.from_conn_string(str(file)) as saver:
        kept = saver.get_tuple(_THREAD)
    return [one.type for one in kept.checkpoint["channel_values"]["messages"]] if kept else []


def _in_chats(file: Path) -> list[str]:
    """Return who speaks, message by message, in a conversation of a file."""
    with closing(ThreadStore(file)) as store:
        return ["human", "ai"] * store.count("promise")


def _processes(
    name: str, command: list[str], file: Path, spoken: Callable[[Path], list[str]]
) -> Line:
    """Processes that ask the questions of their standard input, all on one thread of one file."""
    questions = f"{_QUESTION}\n" * _TURNS

    def run(_: int) -> int:
        done = subprocess.run(
            command, input=questions, capture_output=True, text=True, timeout=_LIMIT_S, check=True
        )
        return _TURNS - done.stderr.count("Error:")

    with ThreadPoolExecutor(_PROCESSES) as pool:
        answered = sum(pool.map(run, range(_PROCESSES)))
    promise = f"{_PROCESSES} {name} on one file, {_TURNS} turns each"
    return _line(promise, spoken(file), answered, _PROCESSES * _TURNS)


def _spoken(messages: list[Any]) -> list[str]:
    return [message.type for message in messages]


def _line(promise: str, spoken: list[str], answered: int, asked: int) -> Line:
    pairs = spoken == ["human", "ai"] * answered
    refused = asked - answered
    measured = f"{answered} answered, {refused} refused, {len(spoken)} messages in the thread"
    return Line(promise, measured, pairs and answered > 0)
