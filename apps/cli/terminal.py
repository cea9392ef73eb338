"""Output on the terminal: texts by others, which cannot control it, errors, and progress."""

import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from textwrap import indent
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Union

import typer

from lexloop.apps.shapes.text import UNSAFE, clean, one_line
from lexloop.core.errors import LexloopError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

Command = TypeVar("Command", bound=Callable[..., Any])
Part = Union[str, tuple[str, str], "Text"]
"""A part of a line: a text, a text with its style, or a rich text."""
INTERRUPTED = 130
FILES_SKIPPED = 3
ABSTAINED = 10
NOT_PASSED = 11
QUESTIONS_FAILED = 12
Report = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and the total."""
_DOING = {
    "classify": "Planning the retrieval",
    "rewrite": "Rewriting the question",
    "hybrid_retrieve": "Searching the documents",
    "kg_retrieve": "Walking the knowledge graph",
    "rerank": "Choosing the passages",
    "generate": "Writing the answer",
    "evaluate": "Judging the answer",
    "engineer_prompt": "Rewording the question",
}
_AFTER = dict(zip(_DOING, [*list(_DOING)[1:], "rewrite"], strict=True))
_CORPUS_STAGES = {
    "reading": "Reading the documents",
    "recognising": "Reading pictures",
    "embedding": "Embedding the documents",
    "indexing": "Indexing the documents",
}
_LINES_KEPT_FREE = 4
_BLANKS = re.compile(r"(?<=\S)\s+(?=\S)|[^\S ]")
_CRASHING = ("strict", "surrogateescape")
"""Error handlers of streams that raise; standard error's own never does."""


def plain(text: str, style: str = "") -> "Text":
    """Return text to print literally, without control characters, and with brackets as text."""
    from rich.text import Text

    return Text(clean(text), style)


def joined(*parts: Part) -> "Text":
    """Join parts on one line, each in its own style."""
    from rich.text import Text

    flat = [(part, "") if isinstance(part, str) else part for part in parts]
    shown = [
        part if isinstance(part, Text) else (_BLANKS.sub(" ", clean(part[0])), part[1])
        for part in flat
    ]
    return Text.assemble(*shown)


def result_console(error: bool = False) -> "Console":
    """Return a console on standard output, coloured on a terminal unless NO_COLOR is set."""
    from rich.console import Console

    for stream in (sys.stdout, sys.stderr):
        # a narrow locale must not turn a section sign into a crash
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _CRASHING:
            stream.reconfigure(errors="replace")
    console = Console(stderr=error, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        # pipes have no width to wrap at
        console.soft_wrap = True
    return console


def progress_console() -> "Console":
    """Return a console on standard error, for notes, progress and errors."""
    return result_console(error=True)


def note(*parts: Part, style: str = "dim") -> None:
    """Print a line on standard error."""
    progress_console().print(joined(*parts), style=style)


def say(*parts: Part, style: str = "") -> None:
    """Print a line on standard output."""
    result_console().print(joined(*parts), style=style)


def read_line(prompt: str) -> str:
    """Read the next line, stripped. Bytes that are not text are replaced.

    Raises:
        EOFError: The input has ended.
    """
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors in _CRASHING:
        sys.stdin.reconfigure(errors="replace")
    return input(prompt if sys.stdin.isatty() else "").strip()


def typed_so_far() -> str | None:
    """Return the line that ``read_line`` had when Ctrl-C came, or None if unknown.

    Without line editing, the terminal does not pass on the line until it ends.
    """
    editing = sys.modules.get("readline")
    if not sys.stdin.isatty():
        return ""
    return editing.get_line_buffer() if editing and sys.stdout.isatty() else None


def write_json(value: dict[str, Any]) -> None:
    """Write one JSON object to standard output, safe to look at on a terminal."""
    sys.stdout.write(_as_json(value) + "\n")
    sys.stdout.flush()


def write_json_list(name: str, values: Iterable[dict[str, Any]]) -> None:
    """Write an object that holds one list, whose items are written as they come."""
    sys.stdout.write(f"{{\n  {json.dumps(name)}: [")
    before = "\n"
    for value in values:
        sys.stdout.write(before + indent(_as_json(value), "    "))
        before = ",\n"
    sys.stdout.write("]\n}\n" if before == "\n" else "\n  ]\n}\n")
    sys.stdout.flush()


def _as_json(value: dict[str, Any]) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # outside strings, JSON has none of these; line feeds are not among them
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def debugging() -> bool:
    """Return whether ``LEXLOOP_DEBUG`` asks for tracebacks."""
    return os.environ.get("LEXLOOP_DEBUG", "") not in ("", "0")


def ctrl_c_is_ignored() -> bool:
    """Return whether Ctrl-C is ignored, as in a process that a script started in its background.

    It stays so, as the shell means it; ``reported`` says so on a terminal.
    """
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def reported(command: Command) -> Command:
    """Turn a command's errors into messages and exit codes. Print where Ctrl-C is ignored.

    An error becomes ``typer.Exit`` with its code, or 130 after Ctrl-C. With ``as_json`` it is also
    written to standard output as a JSON object.
    """

    @wraps(command)
    def run(**given: Any) -> Any:
        if ctrl_c_is_ignored() and progress_console().is_terminal:
            note("Ctrl-C is ignored here, as this was started so; SIGTERM ends it.")
        try:
            return command(**given)
        except LexloopError as error:
            if debugging():
                raise
            show_error(error.what, error.hint)
            if given.get("as_json"):
                write_error(type(error).__name__, error.what, error.hint, error.exit_code)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            note("Interrupted.")
            raise typer.Exit(INTERRUPTED) from None

    return run  # type: ignore[return-value]


def show_error(what: str, hint: str) -> None:
    """Print what happened and what to do about it on standard error."""
    note(("Error: ", "bold red"), f"{what} ", (hint, "cyan"), style="")


def unexpected(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Print an unexpected error instead of its traceback, as ``sys.excepthook``."""
    hint = "Set LEXLOOP_DEBUG=1 to see the traceback."
    what = one_line(f"Unexpected {kind.__name__}: {error}")
    show_error(what, hint)
    if "--json" in sys.argv:
        write_error(kind.__name__, what, hint, 1)


def write_error(kind: str, what: str, hint: str, code: int) -> None:
    """Write an error as a JSON object to standard output."""
    write_json({"error": {"type": kind, "what": what, "hint": hint, "exit_code": code}})


@contextmanager
def bar() -> Iterator[Report]:
    """Show a bar for each stage on standard error, if that is a terminal."""
    from rich import progress

    console = progress_console()
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    bars = progress.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    )
    stages: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in stages:
            stages[stage] = bars.add_task(stage.capitalize(), total=total)
        bars.update(stages[stage], completed=done, total=total)

    with bars:
        yield report


class Progress:
    """A spinner with the current step, and above it the answer written so far.

    It shows nothing if standard error is not a terminal. It is thread-safe.
    """

    def __init__(self) -> None:
        self._console: Console = progress_console()
        self._live: Live | None = None
        self._spinner: Spinner | None = None
        self._attempt = 1
        self.draft = ""
        """The part of the answer that was written."""

    def __enter__(self) -> Self:
        """Start to show."""
        if self._console.is_terminal:
            from rich.live import Live
            from rich.spinner import Spinner

            self.draft, self._attempt = "", 1
            self._spinner = Spinner("dots", plain("Starting", "dim"))
            self._live = Live(
                console=self._console,
                transient=True,
                redirect_stdout=False,
                get_renderable=self._shown,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave nothing behind."""
        if self._live is not None:
            self._live.stop()
            self._live = self._spinner = None

    def say(self, doing: str) -> None:
        """Show what is being done."""
        if self._spinner is not None:
            again = f" (attempt {self._attempt})" if self._attempt > 1 else ""
            self._spinner.update(text=plain(f"{doing}{again} …", "dim"))

    def corpus(self, stage: str, done: int, total: int) -> None:
        """Show how far the indexing of a corpus is, as ``Resources`` reports it."""
        self.say(f"{_CORPUS_STAGES.get(stage, stage)} {done}/{total}")

    def begin(self) -> None:
        """Show that a question is being planned."""
        self.say(_DOING["classify"])

    def node(self, name: str, update: Mapping[str, Any]) -> None:
        """Show what the next node does, now that this one has ended."""
        if not update or update.get("answer"):
            return  # there is an answer, and what comes after it has nothing to do
        if name == "engineer_prompt":
            self._attempt += 1
            self.draft = ""
        self.say(_DOING.get(_AFTER.get(name, ""), name))

    def token(self, event: Mapping[str, Any]) -> None:
        """Take a piece of the answer, as ``lexloop.graph.streaming`` sends it."""
        before = "" if event.get("restart") else self.draft
        self.draft = before + clean(str(event.get("token", "")))

    def _shown(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        spinner = self._spinner or ""
        if not self.draft:
            return spinner
        room = max(1, self._console.height - _LINES_KEPT_FREE)
        lines = Text(self.draft).wrap(self._console, self._console.width)
        return Group(Text("\n").join(lines[-room:]), spinner)
