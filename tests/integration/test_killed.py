"""A process that is killed in a node, and another that goes on with its thread."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver

import lexloop

THREAD: Any = {"configurable": {"thread_id": "one"}}
DIES = """
import os, signal, sqlite3, sys
from langgraph.checkpoint.sqlite import SqliteSaver
import lexloop

saver = SqliteSaver(sqlite3.connect(sys.argv[1], check_same_thread=False))
die = lambda state: os.kill(os.getpid(), signal.SIGKILL)
graph = lexloop.build_graph(checkpointer=saver, nodes={"generate": die})
thread = {"configurable": {"thread_id": "one"}}
graph.invoke({"question": "What is a bias audit?"}, thread, durability=sys.argv[2])
"""


def killed(file: Path, durability: str) -> None:
    """Ask in a process that is killed as it begins to write the answer."""
    command = [sys.executable, "-c", DIES, str(file), durability]
    ended = subprocess.run(command, check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL


def test_another_process_goes_on_where_one_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    killed(file, "sync")
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        graph = lexloop.build_graph(checkpointer=SqliteSaver(connection))
        left = graph.get_state(THREAD)
        assert left.next == ("generate",)
        steps = graph.stream(None, THREAD, stream_mode="updates")
        assert [name for update in steps for name in update] == ["generate", "evaluate"]
        state = graph.get_state(THREAD).values
        found, before = (
            [passage["id"] for passage in values["passages"]] for values in (state, left.values)
        )
        assert found == before
        assert "independent auditor" in state["answer"]


def test_a_run_that_is_kept_at_its_end_alone_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "threads.sqlite"
    killed(file, "exit")
    with closing(sqlite3.connect(file, check_same_thread=False)) as connection:
        graph = lexloop.build_graph(checkpointer=SqliteSaver(connection))
        assert graph.get_state(THREAD).values == {}
        asked: Any = {"question": "What is a bias audit?"}
        assert "independent auditor" in graph.invoke(asked, THREAD, durability="exit")["answer"]
        assert len([*graph.get_state_history(THREAD)]) == 1
