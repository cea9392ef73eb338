"""Where recitals begin: by their opening words, or by their run of numbers."""

import re
from collections.abc import Container, Mapping, Sequence

from lexloop.documents.structure.lines import SAYS, LogicalLine
from lexloop.documents.structure.markers import list_markers

_OPENING = re.compile(r"(?:whereas|recitals?|background|preamble)\b[:,]?", re.IGNORECASE)
_ENDING = re.compile(r"(?:^|\W)[Ww](?:hereas|HEREAS)\s*+(?:[:,]\s*+)?(?=$|\(1\)\s|1\.\s)")
_STYLES = ("(1)", "(A)", "A.", "1.")
_FEWEST, _MOST = 2, 0.8


def opens_recitals(text: str) -> bool:
    """Return whether a line begins with a word for recitals, or ends with "Whereas:"."""
    return _OPENING.match(text) is not None or _ENDING.search(text) is not None


def first_within(text: str) -> int:
    """Return where the first recital begins in an opening line; 0 if none does."""
    match = _ENDING.search(text) or _OPENING.match(text)
    at = len(text) - len(text[match.end() :].lstrip()) if match else 0
    return at if any(marker.value == 1 for marker in list_markers(text, at)) else 0


def run_of_recitals(lines: Sequence[LogicalLine], first: int, passed: Container[int]) -> int:
    """Return the line of the first recital of a numbered run; -1 if there is none.

    The numbers run from one before the first provision, on line ``first``, and each opens a full
    sentence. In a numbered list of parties only the last item does.
    """
    values = {
        number: {marker.style: marker.value for marker in list_markers(line.text)}
        for number, line in enumerate(lines[:first])
        if number not in passed and not line.row
    }
    runs = (_run(values, style) for style in _STYLES)
    return max((run[0] for run in runs if _recites([lines[n].text for n in run])), default=-1)


def _run(numbers_at: Mapping[int, Mapping[str, float]], style: str) -> list[int]:
    """Return the lines of the last run in a style; empty if numbered provisions come before it."""
    run: list[int] = []
    for number, values in numbers_at.items():
        if values.get(style) == len(run) + 1:
            run.append(number)
        elif values.get(style) == 1:
            run = [number]
    counted = any(
        {"1.", "1.1"} & numbers_at[n].keys() - {style} for n in numbers_at if run and n < run[0]
    )
    return [] if counted else run


def _recites(texts: Sequence[str]) -> bool:
    """Return whether texts are full sentences that state something."""
    ended = sum(text.endswith(".") for text in texts)
    saying = sum(SAYS.search(text) is not None for text in texts)
    return len(texts) >= _FEWEST and ended >= _MOST * len(texts) and 2 * saying >= len(texts)
