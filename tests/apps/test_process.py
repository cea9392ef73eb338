"""The installed command as a process of its own: start, colours, streams and signals."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply
from pseudo_terminal import CTRL_C, Terminal

from lexloop.apps.cli.terminal import unexpected
from lexloop.core.errors import CorpusError

LEXLOOP = [sys.executable, "-m", "lexloop.apps.cli"]
QUESTION = "What is a bias audit?"


def lexloop(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run it with its output piped."""
    environment = {**os.environ, **environ}
    command = [*LEXLOOP, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=240, check=False
    )


def test_help_loads_nothing_heavy_and_documents_the_exit_codes() -> None:
    code = (
        "import sys\nfrom lexloop.apps.cli.main import main\n"
        "try: main(['ask', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'langgraph', 'langchain_core', 'numpy', 'torch', 'onnxruntime', 'sklearn'}\n"
        "print('LOADED', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "LOADED []" in done.stdout
    assert "130 interrupted" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("told", "threads"), [(None, 1), ("2", min(2, os.cpu_count() or 1))])
def test_small_products_take_one_thread_unless_told_otherwise(
    told: str | None, threads: int
) -> None:
    code = (
        "from lexloop.apps.cli.main import main\n"
        "try: main(['--version'])\n"
        "except SystemExit: pass\n"
        "import numpy\n"
        "from threadpoolctl import threadpool_info\n"
        "print({lib['num_threads'] for lib in threadpool_info() if lib['user_api'] == 'blas'})"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    environment |= {"OPENBLAS_NUM_THREADS": told} if told else {}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == f"{{{threads}}}"


def test_the_time_that_is_told_is_that_of_the_whole_command() -> None:
    began = time.monotonic()
    done = lexloop("ask", QUESTION)
    took = time.monotonic() - began
    told = re.search(r"· (\d+\.\d\d) s, and (\d+\.\d\d) s to start$", done.stdout.rstrip())
    assert told, done.stdout
    asked, start = map(float, told.groups())
    assert took / 2 < asked + start < took


def test_ask_in_a_narrow_locale() -> None:
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = lexloop("ask", QUESTION, **narrow)
    assert done.returncode == 0
    assert "20-870" in done.stdout


def test_an_error_after_torch_was_loaded_leaves_without_a_word_of_its_own(documents: Path) -> None:
    model = "sentence-transformers:/no/such/model"
    failed = lexloop("ask", "Why?", "--corpus", str(documents), "--embedder", model)
    assert failed.returncode == 5
    assert "nanobind" not in failed.stderr
    assert failed.stderr.count("\n") <= 3


def test_debugging_shows_the_traceback(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_DEBUG", "1")
    with pytest.raises(CorpusError):
        run("ask", "Why?", "--corpus", "no-such-folder")


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_colours_on_a_terminal_unless_they_are_unwanted(
    on_terminal: Callable[..., Terminal], no_colour: str
) -> None:
    shown = on_terminal("ask", QUESTION, NO_COLOR=no_colour)
    assert shown.wait() == 0
    assert "Loading" in shown.screen
    assert ("\x1b[1;32mPassed" in shown.screen) == (no_colour == "")


def test_ctrl_c_ends_ask_with_130(
    on_terminal: Callable[..., Terminal], server: FakeOpenAI, by_model: list[str]
) -> None:
    server.otherwise = Reply(hang=True)
    shown = on_terminal("ask", QUESTION, *by_model)
    shown.expect("Writing the answer")
    assert server.wait_for(1)
    shown.type(CTRL_C)
    shown.expect("Interrupted.")
    assert shown.wait() == 130
    assert server.requests[0].abandoned.wait(5)


def test_what_nobody_foresaw_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lexloop", "ask", "Why?", "--json"])
    unexpected(ZeroDivisionError, ZeroDivisionError("division\x1b by zero"), None)
    said = capsys.readouterr()
    expected = "Error: Unexpected ZeroDivisionError: division by zero Set LEXLOOP_DEBUG=1"
    assert said.err.startswith(expected)
    assert json.loads(said.out)["error"]["exit_code"] == 1
