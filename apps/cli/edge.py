"""Where errors leave the program: one clear line and an exit code, never a traceback."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import typer

from lexloop.apps.cli.terminal import joined, one_line, plain, progress_console, write_json
from lexloop.core.errors import LexloopError

INTERRUPTED = 130
FILES_SKIPPED = 3
ABSTAINED = 10
NOT_PASSED = 11
QUESTIONS_FAILED = 12


def debugging() -> bool:
    """Whether ``LEXLOOP_DEBUG`` asks for tracebacks."""
    return os.environ.get("LEXLOOP_DEBUG", "") not in ("", "0")


def ctrl_c_is_ignored() -> bool:
    """Whether Ctrl-C does nothing, as in what a script starts in its background.

    The shell means it so, and it stays so; who sits at a terminal is told.
    """
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@contextmanager
def reported(as_json: bool = False) -> Iterator[None]:
    """Turn the errors of a command into messages and exit codes; say where Ctrl-C is ignored.

    Args:
        as_json: Write the error as a JSON object to standard output, too.

    Raises:
        typer.Exit: With the code of the error, or 130 after Ctrl-C.
    """
    if ctrl_c_is_ignored() and (console := progress_console()).is_terminal:
        said = "Ctrl-C is ignored here, as this was started so; SIGTERM ends it."
        console.print(plain(said, "dim"))
    try:
        yield
    except LexloopError as error:
        if debugging():
            raise
        show_error(error)
        if as_json:
            _write_error(type(error).__name__, error.what, error.hint, error.exit_code)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        progress_console().print(plain("Interrupted.", "dim"))
        raise typer.Exit(INTERRUPTED) from None


def show_error(error: LexloopError) -> None:
    """Print what happened and what to do about it on standard error."""
    _show(one_line(error.what), one_line(error.hint))


def unexpected(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """What is shown, in place of a traceback, of an error that nobody foresaw."""
    hint = "Set LEXLOOP_DEBUG=1 to see the traceback."
    what = one_line(f"Unexpected {kind.__name__}: {error}")
    _show(what, hint)
    if "--json" in sys.argv:
        _write_error(kind.__name__, what, hint, 1)


def _show(what: str, hint: str) -> None:
    line = joined(plain("Error: ", "bold red"), plain(f"{what} "), plain(hint, "cyan"))
    progress_console().print(line)


def _write_error(kind: str, what: str, hint: str, code: int) -> None:
    write_json({"error": {"type": kind, "what": what, "hint": hint, "exit_code": code}})
