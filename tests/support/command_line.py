"""The command line in this process, and on a terminal in one of its own."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI
from indexes import read_here
from pseudo_terminal import Terminal
from sets import write_texts
from typer.testing import CliRunner

from lexloop.apps.cli.main import app
from lexloop.store import scan

Run = Callable[..., Any]


@pytest.fixture
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def reading_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in this process; what the workers are for, documents/reading tests."""
    monkeypatch.setattr(scan, "read_files", read_here([]))


@pytest.fixture
def run() -> Run:
    """``run("ask", "Why?")`` -> exit_code, stdout and stderr."""

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Any:
        result = CliRunner().invoke(app, arguments, input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def in_json(run: Run) -> Run:
    """``in_json("ask", "Why?")`` -> what the command prints with ``--json``."""

    def read(*arguments: str | Path, code: int = 0) -> Any:
        result = run(*map(str, arguments), "--json")
        assert result.exit_code == code, result.stdout + result.stderr
        return json.loads(result.stdout)

    return read


@pytest.fixture
def by_model(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options with which the scripted server writes the answers and does nothing else."""
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    steps = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")
    own = [part for step in steps for part in ("--set", f"{step}=embedded")]
    return ["--model", "openai:scripted", "--base-url", server.base_url, *own]


@pytest.fixture
def on_terminal() -> Iterator[Callable[..., Terminal]]:
    """``on_terminal("chat", ...)`` on a pseudo-terminal, perhaps with Ctrl-C ``ignored``."""
    with contextlib.ExitStack() as opened:

        def start(*arguments: str, ignored: bool = False, **environ: str) -> Terminal:
            terminal = Terminal(list(arguments), environ, ignored)
            return opened.enter_context(contextlib.closing(terminal))

        yield start


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder of two small documents."""
    return write_texts(
        tmp_path / "documents",
        {
            "dogs.txt": "# Dog ordinance\n\n§ 1 Licence. A dog licence costs 40 euros a year. "
            "The owner must pay the fee of the dog licence by 31 March.\n\n"
            "§ 2 Leash. Every dog must be kept on a leash in the town park.\n",
            "cats.md": "# Cat notice\n\nA cat needs no licence. Cats may enter the town park.\n",
        },
    )


@pytest.fixture
def index(run: Run, documents: Path, tmp_path: Path) -> Path:
    """An index of the two small documents."""
    made = tmp_path / "dogs.index"
    assert run("index", str(documents), "--out", str(made)).exit_code == 0
    return made
