"""What someone meets who has just come: tools, chats, examples, a home that cannot be written."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from _promise import Line
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

import lexloop

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))
from pseudo_terminal import Terminal

_ROOT = Path(__file__).parents[1]

_AS_NOBODY = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
)
"""Another user, who may read what root's own Python needs."""
_OF_THE_EXAMPLE = "Who must repair the roof?"
_QUESTION = "What is a bias audit?"
_RECORD = {"answer", "citations", "finding", "warning", "degraded", "verdict"}


class _Scripted(GenericFakeChatModel):
    """Says what it was given, whatever tools there are."""

    def bind_tools(self, *_: Any, **__: Any) -> "_Scripted":
        """Leave the tools aside."""
        return self


def held() -> Iterator[Line]:
    """Try each as a newcomer would."""
    yield _agent()
    yield _ctrl_c()
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        yield _example(Path(place))
        yield _unprivileged(Path(place))
    yield _two_commands()


def _agent() -> Line:
    """An agent whose model asks nothing, and then something."""
    wanted = ["", "x" * 5000, _QUESTION]
    said = [
        AIMessage("", tool_calls=[{"name": "law", "args": {"question": text}, "id": str(number)}])
        for number, text in enumerate(wanted)
    ]
    model = _Scripted(messages=iter([*said, AIMessage("Done.")]))
    state: Any = {"messages": [HumanMessage("Ask.")]}
    try:
        done = create_agent(model, [lexloop.as_tool("law", "The law.")]).invoke(state)["messages"]
    except Exception as error:  # noqa: BLE001 - whatever ends the agent is what is measured
        return Line(
            "an agent goes on after bad questions", f"{type(error).__name__} ended it", False
        )
    told = [message for message in done if isinstance(message, ToolMessage)]
    statuses = [message.status for message in told]
    record = told[-1].artifact if isinstance(told[-1].artifact, dict) else {}
    kept = _RECORD & set(json.loads(json.dumps(record)))
    return Line(
        "an agent goes on after bad questions, and the artifact is the record",
        f"{statuses}, {len(kept)} of {len(_RECORD)} parts of the record",
        statuses == ["error", "error", "success"] and kept == _RECORD,
    )


def _ctrl_c() -> Line:
    """A chat on a terminal: a question, a line half typed, Ctrl-C twice, and the thread resumed."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {"LEXLOOP_DATA_DIR": folder}
        with closing(Terminal(["chat"], environ)) as shown:
            shown.ask(_QUESTION)
            shown.expect("Passed")
            shown.expect("> ")
            shown.type("half a quest")
            shown.expect("half a quest")
            pressed = []
            for _ in range(2):
                shown.interrupt_prompt()
                try:
                    shown.expect("> ")
                    pressed.append("stayed")
                except AssertionError:
                    pressed.append("left")
                    break
            left = re.search(r"lexloop chat --thread (\S+)", shown.screen)
        resumed = False
        if left:
            with closing(Terminal(["chat", "--thread", left[1]], environ)) as again:
                again.expect("> ")
                resumed = "goes on after 1 question" in again.screen
    return Line(
        "Ctrl-C clears a half-typed line, then leaves, and the chat can be gone on with",
        f"{', '.join(pressed)}; {'resumed' if resumed else 'lost'}",
        pressed == ["stayed", "left"] and resumed,
    )


def _lexloop(*words: str, at: Path, before: Sequence[str] = (), stdin: str = "") -> Any:
    """A command in a folder that is its home, with nothing set by whoever tries this."""
    unset = {name: v for name, v in os.environ.items() if not name.startswith(("LEXLOOP_", "XDG_"))}
    command = [*before, sys.executable, "-m", "lexloop.apps.cli", *words]
    environ = {**unset, "HOME": str(at)}
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, cwd=at, env=environ, check=False
    )


def _example(place: Path) -> Line:
    """The example's documents, asked; and what of the time that a question took is told."""
    written = _lexloop("example", "contracts/", at=place)
    began = time.monotonic()
    answer = _lexloop("ask", _OF_THE_EXAMPLE, "--corpus", "contracts/", at=place)
    took = time.monotonic() - began
    told = re.search(r"(\d+\.\d\d) s, and (\d+\.\d\d) s to start", answer.stdout)
    said = sum(map(float, told.groups())) if told else 0.0
    kinds = {path.suffix for path in (place / "contracts").glob("*")}
    again = _lexloop("example", "contracts/", at=place)
    return Line(
        "`lexloop example` writes documents of several formats, once; ask tells what it took",
        f"{len(kinds)} formats, {'answered' if 'Passed' in answer.stdout else 'not answered'}, "
        f"a second time exit code {again.returncode}, {said:.1f} s told of {took:.1f} s",
        (written.returncode, again.returncode) == (0, 2)
        and len(kinds) >= 3
        and "Passed" in answer.stdout
        and took / 2 < said <= took,
    )


def _unprivileged(place: Path) -> Line:
    """A chat of somebody who is not root, in a home that cannot be written."""
    home = place / "home"
    shutil.copytree(place / "contracts", home / "contracts")
    for path in (home / "contracts", home):
        path.chmod(0o555)
    before = () if os.geteuid() else _AS_NOBODY
    asked = f"{_OF_THE_EXAMPLE}\nAnd small repairs?\n"
    chat = _lexloop("chat", "--corpus", "contracts", at=home, before=before, stdin=asked)
    home.chmod(0o755)
    said = chat.stdout + chat.stderr
    once = [said.count(lost) for lost in ("memory only instead", "conversation is not kept")]
    left = sorted(path.name for path in home.iterdir())
    return Line(
        "in a home that cannot be written all is answered, and what is not kept is said once",
        f"exit code {chat.returncode}, {said.count('Passed')} of 2 answered, "
        f"cache and conversation said {once[0]} and {once[1]} times, "
        f"{said.count('Traceback')} tracebacks, left {left}",
        (chat.returncode, said.count("Passed"), once, said.count("Traceback"), left)
        == (0, 2, [1, 1], 0, ["contracts"]),
    )


def _two_commands() -> Line:
    """The README's two lines; installing takes minutes, so that what follows it is run alone."""
    readme = (_ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Two commands\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^pip install .+$", section, re.MULTILINE)
    asked = [shlex.split(line.partition(" && ")[2]) for line in lines]
    with tempfile.TemporaryDirectory() as place:
        answer = _lexloop(*asked[0][1:], at=Path(place)) if asked else None
    tests = lines[-1].partition(" && ")[2] if lines else ""
    called = tests in (_ROOT / ".ci" / "parts").read_text(encoding="utf-8")
    answered = answer is not None and "Passed" in answer.stdout
    return Line(
        "the README's two lines install it and answer, and install it and pass its tests",
        f"{len(lines)} lines, {'answered' if answered else 'not answered'}, "
        f"the tests' command {'is' if called else 'is not'} what .ci/parts calls",
        len(lines) == 2 and answered and called and "pytest" in tests,
    )
