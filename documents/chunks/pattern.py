r"""Documents -> chunks that begin where a pattern matches (HyPA-RAG section 6).

RE2 matches in time linear in the text and knows no pattern that makes it backtrack. It has no
look-around and no back-references; its ``\d``, ``\w`` and ``\s`` are those of ASCII.
"""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lexloop.core.errors import SettingsError
from lexloop.core.types import Chunk
from lexloop.documents.chunks.spans import between, next_ink, to_chunks
from lexloop.documents.document import Document

_MAX_PROGRAM = 5000  # instructions; where RE2 simulates them, each character costs as many steps
_BASE_S, _S_PER_MB = 1.0, 4.0
"""Each match is found in linear time, but one that looks far ahead and then takes little may be
found again and again; such a pattern is refused when it has used that much of the processor."""
_CLOCK_EVERY = 64
_PROBES = ("", "a", "a 1\n\n§ 2.")
_HINT = (
    r"Give what opens a chunk in RE2 syntax, such as `\n§` or `^Article \d+$`: it must match at "
    "least one character, and knows no look-around and no back-reference."
)


def chunk_by_pattern(document: Document, pattern: str) -> list[Chunk]:
    r"""Cut one document before each match of a pattern.

    ``^`` and ``$`` match at every line. Blanks that a match begins with go to the chunk before,
    so that ``\n§`` and ``^§`` cut alike. Without a match the document is one chunk.

    Raises:
        SettingsError: The pattern is invalid or too large, matches nothing at all somewhere, or
            takes more than linear time on this text.
    """
    text = document.text
    starts = [next_ink(text, 0)]
    for offset in _matches(text, pattern):
        if offset > starts[-1] and (start := next_ink(text, offset)) > starts[-1]:
            starts.append(start)
    if starts[-1] == len(text):
        starts.pop()
    return to_chunks(document, between(text, starts))


@lru_cache(maxsize=8)
def compile_pattern(pattern: str) -> Any:
    """Compile a pattern in RE2's syntax.

    Raises:
        SettingsError: The pattern is invalid or too large, or matches nothing at all.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError) as error:
        raise SettingsError(f"chunking.pattern is {pattern!r}: {error}.", _HINT) from error
    size = max(compiled.programsize, compiled.reverseprogramsize)
    if size > _MAX_PROGRAM:
        raise SettingsError(
            f"chunking.pattern is {pattern!r}, which needs {size} steps a character, more than "
            f"{_MAX_PROGRAM}.",
            "Repeat or list less in it.",
        )
    if any(match.start() == match.end() for probe in _PROBES for match in compiled.finditer(probe)):
        raise _matches_nothing(pattern)
    return compiled


def _matches(text: str, pattern: str) -> Iterator[int]:
    """Yield the starts of matches, ascending."""
    began = time.thread_time()
    # a lone surrogate has no UTF-8; a question mark keeps its place
    encoded = text.encode("utf-8", "replace")
    allowed = _BASE_S + _S_PER_MB * len(encoded) / 1e6
    for number, match in enumerate(compile_pattern(pattern).finditer(encoded.decode())):
        if match.start() == match.end():
            raise _matches_nothing(pattern)
        if number % _CLOCK_EVERY == 0 and time.thread_time() - began > allowed:
            raise SettingsError(
                f"chunking.pattern is {pattern!r}, which takes more than {allowed:.0f} s on a "
                f"document of {len(encoded)} bytes.",
                "Keep it from looking far ahead, for instance with [^\\n]* in place of .*.",
            )
        yield match.start()


def _matches_nothing(pattern: str) -> SettingsError:
    return SettingsError(f"chunking.pattern is {pattern!r}, which matches no character.", _HINT)
