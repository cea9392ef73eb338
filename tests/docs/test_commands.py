"""What the documents tell a reader to type: it exists, it runs, and it prints what they say.

A block of ``sh`` or ``python`` is run in a folder with what the first steps of ``docs/index.md``
write, or in an empty one where the page has those steps itself, the blocks of a page one after the
other; a ``text`` block right behind one is what it prints. A block that
cannot be run here stands behind ``<!-- not run: WHY -->``, and is read all the same.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lexloop.apps.cli.main import app
from lexloop.core.configuration import read_value
from lexloop.core.settings import Settings

ROOT = Path(__file__).parents[2]
FIRST_STEPS = ROOT / "docs" / "index.md"
EXAMPLE = re.compile(r"^lexloop (example .*)$", re.MULTILINE)
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "packages").glob("*/README.md")),
]
LANGUAGES = {"sh", "python", "text", "toml", "json", "yaml", "csv"}
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<why>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
INLINE = re.compile(r"`((?:lexloop|python) [^`]+)`")
MEASURED = re.compile(r"\b\d+(?:\.\d\d|%)(?!\d)")
"""Seconds, and scores, whose last digit differs between processors."""
OPERATORS = {"&&", "||", "|", ";", "&"}
ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=")
OF_TESTS = {"LEXLOOP_CI_CACHE", "LEXLOOP_DATA", "LEXLOOP_ENGINES", "LEXLOOP_ENGINE_FILE"}
"""Variables that the tests and CI read themselves."""
LIMIT_S = 300


class Block(NamedTuple):
    """Code in a page; ``printed`` is what stands behind it as its output."""

    line: int
    language: str
    body: str
    why: str | None
    printed: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    made = []
    for place, one in enumerate(found):
        after = found[place + 1] if place + 1 < len(found) else None
        shown = (
            after and after["language"] == "text" and not text[one.end() : after.start()].strip()
        )
        line = text.count("\n", 0, one.start("body"))
        made.append(
            Block(line, one["language"], one["body"], one["why"], after["body"] if shown else None)
        )
    return made


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(script: str) -> Iterator[list[str]]:
    """The words of every command of a script, without what is set before it and redirections."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        for ends, group in groupby(words, OPERATORS.__contains__):
            if not ends:
                parts = list(group)
                while parts and ASSIGNMENT.match(parts[0]):
                    parts.pop(0)
                cut = next((n for n, part in enumerate(parts) if part in {">", "<", ">>"}), None)
                yield parts[:cut]


def parsed(words: list[str]) -> dict[str, Any]:
    """The parameters of a command line of ``lexloop``, as the program itself reads them."""
    command: Any = get_command(app)
    context = command.make_context("lexloop", words)
    given = dict(context.params)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        context = command.make_context(name, rest, parent=context)
        given |= context.params
    return given


def checked(words: list[str]) -> None:
    given = parsed(words)
    for assigned in given.get("assignments") or []:
        name, _, value = assigned.partition("=")
        Settings().changed(**{name: read_value(name, value)})


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_and_option_exists(page: Path) -> None:
    wrong = []
    for block in blocks(page):
        if block.language not in LANGUAGES:
            wrong.append(f"line {block.line}: a block in {block.language or 'no language'}")
        for words in commands(block.body) if block.language == "sh" else ():
            wrong += [f"line {block.line}: {' '.join(words)}: {said}" for said in faults(words)]
    assert wrong == []


def faults(words: list[str]) -> Iterator[str]:
    """What is wrong with a command, as far as it is one of the repository's own."""
    if words[:1] == ["lexloop"]:
        try:
            checked(words[1:])
        except SystemExit as left:
            if left.code:
                yield f"exits with {left.code}"
        except Exception as error:  # noqa: BLE001 - whichever parser refuses it
            if type(error).__name__ != "Exit":
                yield str(getattr(error, "message", error))
    elif words[:1] == ["python"] and len(words) > 1 and words[1].endswith(".py"):
        yield from script_faults(words)


def script_faults(words: list[str]) -> Iterator[str]:
    """Scripts and options that are not there; an option is one where its script names it."""
    script = ROOT / words[1]
    if not script.is_file():
        yield "there is no such script"
        return
    source = script.read_text(encoding="utf-8")
    beside = [path.read_text(encoding="utf-8") for path in script.parent.glob("_*.py")]
    for word in words[2:]:
        option = word.strip("[]").partition("=")[0]
        if option.startswith("--") and not any(f'"{option}"' in text for text in (source, *beside)):
            yield f"{option} is no option of it"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_named_in_passing_exists(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    wrong = []
    for said in INLINE.findall(text):
        words = shlex.split(said.replace("\n", " ").replace("...", ""))
        if words[0] == "python":
            wrong += [f"{said}: {fault}" for fault in faults(words)]
            continue
        root = command = get_command(app)
        words.pop(0)
        while words and words[0] in getattr(command, "commands", ()):
            command = command.commands[words.pop(0)]
        if command is root and words and words[0][0] != "-":
            wrong.append(f"{said}: there is no such command")
        meant = [command, *getattr(command, "commands", {}).values()]
        known = {name for one in meant for option in one.params for name in option.opts}
        options = [word.strip("[]").partition("=")[0] for word in words if word[:2] == "--"]
        wrong += [f"{said}: {option}" for option in options if option not in {*known, "--help"}]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_setting_and_variable_named_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    fields = {f"{group}.{field}" for group in Settings.model_fields for field in fields_of(group)}
    named = re.findall(r"`(?:--set )?([a-z]+\.(?!py|onnx)\w+)(?:=[^`]*)?`", text)
    settings = [name for name in named if name.partition(".")[0] in Settings.model_fields]
    assert [name for name in settings if name not in fields] == []
    rooms = (
        path
        for room in ("core", "documents", "store", "models", "graph", "apps", "packages")
        for path in (ROOT / room).rglob("*.py")
    )
    source = "".join(path.read_text(encoding="utf-8") for path in rooms)
    variables = re.findall(r"\bLEXLOOP_[A-Z_]+[A-Z]\b", text)
    given = {f"LEXLOOP_{name.upper()}" for name in Settings.model_fields}
    read = [name for name in variables if name.partition("__")[0] not in given]
    assert [name for name in read if name not in source and name not in OF_TESTS] == []


def fields_of(group: str) -> set[str]:
    annotation = Settings.model_fields[group].annotation
    return {
        field
        for kind in (annotation, *get_args(annotation))
        for field in getattr(kind, "model_fields", ())
    }


def runnable(page: Path) -> list[Block]:
    return [one for one in blocks(page) if one.language in ("sh", "python") and not one.why]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with documents, and an environment in which ``lexloop`` is found."""
    programs, home, work = (tmp_path / name for name in ("bin", "home", "work"))
    for folder in (programs, home, work):
        folder.mkdir()
    starts = {"lexloop": '-c "from lexloop.apps.cli.main import main; main()"', "python": ""}
    for name, arguments in starts.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
        program.chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "LEXLOOP_DATA_DIR": str(home / "data"),
        "LEXLOOP_CONFIG": str(home / "lexloop.toml"),
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)


@pytest.fixture(scope="module")
def after_first_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the first steps write; in one place it is indexed once for all pages."""
    folder = tmp_path_factory.mktemp("work")
    steps = EXAMPLE.findall(FIRST_STEPS.read_text(encoding="utf-8"))
    assert len(steps) == 3
    with contextlib.chdir(folder):
        for step in steps:
            here(f"lexloop {step}", name_of(FIRST_STEPS))
    return folder


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=name_of)
def test_every_block_runs_and_prints_what_the_page_says(
    page: Path, after_first_steps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not EXAMPLE.search(page.read_text(encoding="utf-8")):
        monkeypatch.chdir(after_first_steps)
    before = set(Path.cwd().iterdir())
    run_blocks(page)
    for made in set(Path.cwd().iterdir()) - before:
        shutil.rmtree(made) if made.is_dir() else made.unlink()


def run_blocks(page: Path) -> None:
    """Run the blocks of a page one after the other."""
    for block in runnable(page):
        at = f"{name_of(page)}:{block.line}\n{block.body}"
        if block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                exec(compile(block.body, at, "exec"), {"__name__": "__main__"})
            printed = shown.getvalue()
        else:
            lines = block.body.replace("\\\n", " ").splitlines()
            groups = groupby(lines, is_plain)
            printed = "".join(
                "".join(here(line, at) for line in group) if alone else by_shell([*group], at)
                for alone, group in groups
            )
        if block.printed is not None:
            assert re.fullmatch(expected(block.printed), plain(printed)), (
                f"{at}\nprinted:\n{printed}"
            )


def is_plain(line: str) -> bool:
    """Whether a line of a script is a command of ``lexloop`` and nothing that a shell must do."""
    return line.startswith("lexloop ") and not set("|&;<>$`*~#(").intersection(line)


def here(line: str, at: str) -> str:
    """What a command prints, run in this process: a new one takes a second to begin."""
    done = CliRunner().invoke(app, shlex.split(line)[1:])
    assert done.exit_code == 0, f"{at}\n{done.output[-2000:]}\n{done.exception!r}"
    return done.stdout


def by_shell(lines: list[str], at: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, f"{at}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def plain(printed: str) -> str:
    return MEASURED.sub("0", " ".join(printed.split()))


def expected(printed: str) -> str:
    """A pattern for what is shown; ``[...]`` stands for anything."""
    return ".*".join(re.escape(plain(part)) for part in printed.split("[...]"))
