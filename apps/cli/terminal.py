"""Writing to the terminal, and keeping the text of others from steering it."""

import io
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# C0 without tab and line feed, DEL, C1; line and paragraph separators; bidirectional embeddings,
# overrides and isolates; lone surrogates, which cannot be written at all
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

_CRASHING = ("strict", "surrogateescape")
"""How a stream may treat what it cannot write or read; standard error's own way never fails."""


def clean(text: str) -> str:
    """``text`` without what could move a cursor, change colours or reverse the reading order."""
    return _UNSAFE.sub("", text)


def plain(text: str, style: str = "") -> "Text":
    """Text to print as it is: its brackets are no markup and its control characters are gone."""
    from rich.text import Text

    return Text(clean(text), style)


def joined(*parts: "Text") -> "Text":
    """The parts one after the other, each in its own style."""
    from rich.text import Text

    return Text.assemble(*parts)


def one_line(text: str) -> str:
    """``text`` with every run of blanks as one space."""
    return " ".join(clean(text).split())


def first_of(said: Sequence[str], most: int) -> list[str]:
    """The first of several things to say, and how many more there are."""
    more = len(said) - most
    return [*said[:most], *([f"{more} more."] if more > 0 else [])]


def result_console() -> "Console":
    """Where answers go: standard output, coloured on a terminal unless NO_COLOR is set."""
    return _console(error=False)


def progress_console() -> "Console":
    """Where notes, progress and errors go: standard error."""
    return _console(error=True)


def _console(error: bool) -> "Console":
    from rich.console import Console

    for stream in (sys.stdout, sys.stderr):
        # a narrow locale must not turn a section sign into a crash
        if isinstance(stream, io.TextIOWrapper) and stream.errors in _CRASHING:
            stream.reconfigure(errors="replace")
    console = Console(stderr=error, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        # a pipe has no width to wrap at
        console.soft_wrap = True
    return console


def read_line(prompt: str) -> str:
    """The next line that is typed or piped in, without blanks around it; what is no text is marked.

    Raises:
        EOFError: There is none.
    """
    if isinstance(sys.stdin, io.TextIOWrapper) and sys.stdin.errors in _CRASHING:
        sys.stdin.reconfigure(errors="replace")
    return input(prompt if sys.stdin.isatty() else "").strip()


def write_json(value: dict[str, Any]) -> None:
    """Write one JSON object to standard output, safe to look at on a terminal."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    # outside its strings JSON holds none of these but line feeds, which are not among them
    sys.stdout.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()
