"""Every regular expression of the package takes a time that grows as its text does."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from _patterns import Use, every_use  # noqa: E402 - found through the line above
from _promise_patterns import slowest  # noqa: E402


@pytest.fixture(scope="module")
def found() -> tuple[list[Use], list[str]]:
    return every_use()


def test_no_pattern_takes_a_time_that_grows_faster_than_its_text(
    found: tuple[list[Use], list[str]],
) -> None:
    uses, made = found
    assert len({one.split(":")[0] for one in made}) <= 3, made  # those that look for a user's words
    assert [str(timed) for use in uses if (timed := slowest(use)).grows] == []


@pytest.mark.parametrize(
    ("place", "way", "begins"),
    [
        ("lexloop_workbench/table/checklist.py _PERIOD", "finditer", r"\b(?<!\d[.,])(?P<n>"),
        ("nodes/question/parts.py _KINDS", "search", r"\bhow long"),  # in a list
        (
            "nodes/question/followups.py _SUBJECTS",
            "match",
            "what (?:is",
        ),  # by the variable of a loop
        ("lexloop_workbench/clauses.py:", "finditer", r"\([^()]*\)"),  # inside a function
        ("documents/text/quantities.py:", "search", r"(?<!\w)x"),  # with a word known later
        ("documents/reading/html.py _CHARSET", "search", "<(?:meta"),  # of bytes
    ],
)
def test_patterns_are_found_wherever_they_are_written(
    found: tuple[list[Use], list[str]], place: str, way: str, begins: str
) -> None:
    there = [use.pattern.pattern for use in found[0] if place in use.place and use.way == way]
    assert any(one.startswith(begins if isinstance(one, str) else begins.encode()) for one in there)


@pytest.mark.parametrize(
    ("way", "pattern"),
    [
        ("search", r"\s+$"),
        ("finditer", r"[a-z]+(?:-[a-z]+)* must\b"),
        ("finditer", r"“[^”]*”"),
        ("fullmatch", r"(?:\s*,\s*|\s+,\s+|\d)+"),  # doubles with each comma
    ],
)
def test_a_pattern_that_reads_its_text_again_and_again_is_told(way: str, pattern: str) -> None:
    assert slowest(Use("", way, re.compile(pattern))).grows


@pytest.mark.parametrize(
    ("way", "pattern"),
    [
        ("search", r"(?<!\s)\s+$"),
        ("match", r"\s+$"),
        ("search", r"[a-z]{1,50} must\b"),
        ("fullmatch", r"(?:,\s*|\d)+"),
    ],
)
def test_a_linear_one_is_not(way: str, pattern: str) -> None:
    assert not slowest(Use("", way, re.compile(pattern))).grows
