"""What the documents tell a reader to type: it exists, it runs, and it prints what they say.

A block of ``sh`` or ``python`` is run in a folder with what the first steps of ``docs/index.md``
write, or in an empty one where the page has those steps itself, the blocks of a page one after the
other; a ``text`` block right behind one is what it prints. A block that
cannot be run here stands behind ``<!-- not run: WHY -->``, and is read all the same. Of the
commands and options that are named and that no block runs, ``options.txt`` runs each once, but for
what serves, labels, trains for long or needs an engine, which the tests in ``ELSEWHERE`` run.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from fake_openai import KEY, FakeOpenAI
from tiny_bert import build
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


OPTIONS = Path(__file__).with_name("options.txt").read_text("utf-8")
ELSEWHERE = {
    "doctor": "tests/apps/test_doctor.py",
    "audit": "packages/server/tests/test_audit_command.py",
    "eval": "packages/eval/tests/test_evaluate_command.py tests/integration/"
    "test_tenants_everywhere.py",
    "feedback": "packages/eval/tests/test_feedback_command.py",
    "finetune generator": "packages/train/tests/test_generator.py packages/train/tests/"
    "test_preferences.py",
    "finetune pairs": "packages/train/tests/test_commands.py",
    "forget": "packages/server/tests/test_forget.py",
    "index push": "packages/engines/tests/commands/test_index_engines.py",
    "index pull": "packages/engines/tests/commands/test_index_engines.py",
    "index verify": "packages/engines/tests/commands/test_index_engines.py",
    "judge": "packages/eval/tests/test_judge_command.py",
    "label": "packages/eval/tests/test_label_command.py",
    "mcp": "packages/server/tests/test_mcp_stdio.py",
    "serve": "packages/server/tests/test_serve_command.py",
}
"""Where commands are run whose documented options cannot all be run here."""
MODEL = "--model openai:scripted --base-url {}"
BY_MODEL = "tests/support/command_line.py"
"""What gives these tests the options of a model."""
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_OPTION = re.compile(r"`(-[\w-]+)")


class Named(NamedTuple):
    """A command by its words, and an option of it by its flag, or "" for the command itself."""

    command: str
    flag: str


@cache
def program() -> Any:
    return get_command(app)


@cache
def flags_of(command: str) -> dict[str, str]:
    """Every way to write an option of a command, with the first of them."""
    found = program()
    for word in command.split():
        found = found.commands[word]
    return {
        flag: option.opts[0]
        for option in found.params
        for flag in (*option.opts, *option.secondary_opts)
        if flag.startswith("-")
    }


def named(words: list[str]) -> Iterator[Named]:
    """The command of a command line without ``lexloop``, and its options."""
    command = program()
    path: list[str] = []
    while words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words[0]]
        path, words = [*path, words[0]], words[1:]
    name = " ".join(path)
    yield Named(name, "")
    flags = flags_of(name)
    for word in words:
        if (flag := word.strip("[]").partition("=")[0]) in flags:
            yield Named(name, flags[flag])


def of_lexloop(script: str) -> list[Named]:
    lines = (words[1:] for words in commands(script) if words[:1] == ["lexloop"])
    return [found for words in lines for found in named(words)]


def named_on(page: Path) -> set[Named]:
    """The commands and options on a page; a bare option is of the commands in the block above."""
    found: set[Named] = set()
    text = page.read_text(encoding="utf-8")
    for section in _HEADING.split(FENCE.sub(lambda one: one[0].replace("\n#", "\n #"), text)):
        above: set[str] = set()
        end = 0
        for one in (*FENCE.finditer(section), None):
            said = section[end : one.start() if one else None]
            lines = [shlex.split(line.replace("...", "")) for line in INLINE.findall(said)]
            found |= {each for words in lines if words[0] == "lexloop" for each in named(words[1:])}
            bare = _OPTION.findall(said)
            pairs = ((command, flags_of(command)) for command in above)
            found |= {Named(c, flags[flag]) for c, flags in pairs for flag in bare if flag in flags}
            if one and one["language"] == "sh":
                of_block = of_lexloop(one["body"])
                found |= {*of_block}
                above = {each.command for each in of_block}
            end = one.end() if one else end
    return found


def test_every_option_that_is_named_is_run_somewhere() -> None:
    run = {each for page in PAGES for block in runnable(page) for each in of_lexloop(block.body)}
    run |= {*of_lexloop(OPTIONS.replace("{model}", MODEL))}
    elsewhere = {
        command: "".join((ROOT / file).read_text("utf-8") for file in (BY_MODEL, *files.split()))
        for command, files in ELSEWHERE.items()
    }
    left = {each for page in PAGES for each in named_on(page)} - run
    missing = [each for each in left if each.flag not in elsewhere.get(each.command, "\0")]
    assert sorted(missing) == []


@pytest.fixture
def made(tmp_path: Path, server: FakeOpenAI) -> Path:
    """Small files for the options: pairs, questions and a tiny BERT."""
    folder = tmp_path / "made"
    folder.mkdir()
    kept = [(f"Who keeps the {x}?", f"The clerk keeps the {x}.") for x in "abcdef"]
    rows = [{"question": q, "text": text, "document": q} for q, text in kept]
    negative = {"query": "How is a cake baked?", "kind": "irrelevant"}
    labelled = ["question,label,question_clean"]
    labelled += [f"{q},{n % 3},{q}" for n, (q, _) in enumerate(kept * 4)]
    lines = {
        "pairs.jsonl": map(json.dumps, rows),
        "negative.jsonl": [json.dumps(negative)],
        "train.csv": labelled,
        "validation.csv": labelled,
    }
    for name, written in lines.items():
        (folder / name).write_text("\n".join(written) + "\n", "utf-8")
    build(folder / "bert", "who keeps the a b c d clerk", ["0"], head=False)
    return folder


@pytest.mark.usefixtures("place")
def test_what_no_block_runs_is_run_once(
    made: Path, server: FakeOpenAI, after_first_steps: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(after_first_steps, Path.cwd(), dirs_exist_ok=True)
    monkeypatch.setenv("LEXLOOP_API_KEY", KEY)
    model = MODEL.format(server.base_url)
    for line in OPTIONS.splitlines():
        if line.startswith("lexloop "):
            here(line.replace("{model}", model).replace("{made}", str(made)), "options.txt")
