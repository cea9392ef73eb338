"""The installed command as a process of its own: start, colours, streams and signals."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer
from fake_openai import FakeOpenAI, Reply
from pseudo_terminal import CTRL_C, Terminal
from typer.testing import CliRunner

from lexloop.apps.cli.main import PACKAGES, add_brought, main
from lexloop.apps.cli.terminal import unexpected
from lexloop.core.errors import CorpusError

LEXLOOP = [sys.executable, "-m", "lexloop.apps.cli"]
ROOT = Path(__file__).parents[2]
QUESTION = "What is a bias audit?"


def lexloop(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run it with its output piped."""
    environment = {**os.environ, **environ}
    command = [*LEXLOOP, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=240, check=False
    )


HEAVY = "langgraph langchain_core numpy torch onnxruntime sklearn"
LATE = "mcp openai langgraph numpy onnxruntime torch pypdfium2"
ASKED = "from lexloop.apps.cli.main import main\ntry: main(%r)\nexcept SystemExit: pass"
SERVER = "import uvicorn\nfrom lexloop_server.app import create_app\ncreate_app()"


@pytest.mark.parametrize(
    ("code", "unloaded"),
    [
        ("import lexloop", "lexloop.core lexloop.apps"),
        (ASKED % ["ask", "--help"], HEAVY),
        (ASKED % ["ask", QUESTION], "torch transformers sentence_transformers"),
        (SERVER, LATE),  # it listens soon
    ],
    ids=["import", "help", "ask", "serve"],
)
def test_what_is_not_needed_is_not_loaded(code: str, unloaded: str) -> None:
    told = f"\nimport sys\nprint('LOADED', sorted(set({unloaded.split()}) & set(sys.modules)))"
    command = [sys.executable, "-c", code + told]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("LOADED []\n")
    if "help" in code:
        assert "130 interrupted" in " ".join(done.stdout.split())


@pytest.mark.parametrize("module", ["lexloop.apps.cli.main", "lexloop.core.workers"])
def test_libraries_that_report_usage_are_told_not_to(module: str) -> None:
    quiet = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DISABLE_SAFETENSORS_CONVERSION")
    kept = {name: value for name, value in os.environ.items() if name not in quiet}
    code = f"import os, {module}; print(*(os.environ.get(n) for n in {quiet}))"
    for given, told in ({}, "1 1 1\n"), ({quiet[0]: "0"}, "0 1 1\n"):  # who has decided keeps it
        command = [sys.executable, "-c", code]
        assert subprocess.check_output(command, text=True, env={**kept, **given}) == told


def test_the_time_that_is_told_is_that_of_the_whole_command_in_a_narrow_locale_too() -> None:
    narrow = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    began = time.monotonic()
    done = lexloop("ask", QUESTION, **narrow)
    took = time.monotonic() - began
    assert "20-870" in done.stdout
    told = re.search(r" (\d+\.\d\d) s, and (\d+\.\d\d) s to start$", done.stdout.rstrip())
    assert told, done.stdout
    asked, start = map(float, told.groups())
    assert took / 2 < asked + start < took


def test_debug_shows_the_traceback(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_DEBUG", "1")
    with pytest.raises(CorpusError):
        run("ask", "Why?", "--corpus", "no-such-folder")


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_colours_unless_unwanted(on_terminal: Callable[..., Terminal], no_colour: str) -> None:
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


@pytest.mark.parametrize("wrong", [("--nosuch",), ("--deadline",), ("--precision", "fp3")])
def test_a_wrong_option_is_json(wrong: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["finetune", "generator", "rows.jsonl", "--json", *wrong])
    error = json.loads(capsys.readouterr().out)["error"]
    assert (left.value.code, error["exit_code"]) == (2, 2)
    assert error["what"]


NEEDED = ("needs the package lexloop-train: not installed.", 'pip install "lexloop[train]"')
BROKEN = ("nowhere.at:all", "No module named 'nowhere'", "the version of Lexloop, or remove it")


@pytest.mark.parametrize(
    ("brought", "says"),
    [
        ({}, (*NEEDED, "`lexloop finetune`", "pip install ./packages/train")),
        ({"finetune": "nowhere.at:all", "dumped": "json:dumps"}, BROKEN),
    ],
)
def test_a_command_whose_package_is_missing_or_broken_says_so_and_breaks_no_other(
    brought: dict[str, str], says: tuple[str, ...]
) -> None:
    app = typer.Typer()
    entries = {n: EntryPoint(n, where, "lexloop.commands") for n, where in brought.items()}
    add_brought(app, entries)
    result = CliRunner().invoke(app, ["finetune", "embedder", "pairs.jsonl", "--json"])
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert [one for one in says if one not in told] == []


def test_every_command_of_our_packages_is_known_by_its_package() -> None:
    brought = {
        name: path.parent.name
        for path in ROOT.glob("packages/*/pyproject.toml")
        for name in tomllib.loads(path.read_text("utf-8"))["project"]["entry-points"].get(
            "lexloop.commands", ()
        )
    }
    assert brought == PACKAGES


def test_what_nobody_foresaw_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lexloop", "ask", "Why?", "--json"])
    unexpected(ZeroDivisionError, ZeroDivisionError("division\x1b by zero"), None)
    said = capsys.readouterr()
    expected = "Error: Unexpected ZeroDivisionError: division by zero Set LEXLOOP_DEBUG=1"
    assert said.err.startswith(expected)
    assert json.loads(said.out)["error"]["exit_code"] == 1
