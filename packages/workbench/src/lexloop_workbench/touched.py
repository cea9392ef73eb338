"""Which answers rest on words that another version of a document changed or moved."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, Self

from pydantic import BaseModel, Field

from lexloop.core.errors import InputError
from lexloop_workbench.diff import Comparison, Diff, Kind, Part, Place
from lexloop_workbench.versions import compared_words, differences

_CITES = {"document": str, "start": int, "end": int, "quote": str}
_NOT_SAID = frozenset({"attempts", "near", "passages", "triplets", "candidates", "reasoning"})
"""Parts of an answer's record besides the answer."""
_ORDER: tuple[Kind, ...] = ("gone", "changed", "moved", "renumbered", "follows")
_MOST_BYTES = 512 * 1024 * 1024
_HINT = "Give JSON as `lexloop ask --json` prints it, or a file with one such object a line."


class Cited(NamedTuple):
    """Words that an answer quotes from a document."""

    question: str
    document: str
    section: str
    start: int
    end: int
    quote: str


class Touched(BaseModel):
    """A quote of an answer whose provision has changed."""

    question: str
    was: Place = Field(description="Place in the old version. `quote` has its words.")
    kinds: list[Kind] = Field(description="Changes of its provision, or of those above it.")
    became: Literal["same", "changed", "gone", "unknown"] = Field(
        description="Fate of the quoted words. `unknown` if the old version lacks them."
    )
    now: Place | None = Field(description="Place in the new version.")
    parts: list[Part] = Field(description="The words of both versions, if they changed.")


class Report(Diff):
    """Two versions of a document, and the answers that are touched by what changed."""

    answers: list[Touched]

    @classmethod
    def of(cls, comparison: Comparison, cited: Iterable[Cited] = ()) -> Self:
        """Return what changed from one version to another, and which quotes that touches."""
        touched_quotes = touched(comparison, cited)
        return cls(**vars(comparison.record()), answers=touched_quotes)


def read_cited(file: Path) -> list[Cited]:
    """Return the quotes of the answers in a file of JSON or JSON Lines.

    Raises:
        InputError: The file cannot be read, or is not JSON.
    """
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise InputError(f"{file} has more than {_MOST_BYTES >> 20} MiB.", "Split it.")
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.", _HINT) from error
    try:
        return [*cited_in(json.loads(text))]
    except (ValueError, RecursionError):
        quotes: list[Cited] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            quotes += cited_in(json.loads(line)) if line.strip() else ()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file} is not JSON: line {number}.", _HINT) from error
    return quotes


def cited_in(record: object) -> Iterator[Cited]:
    """Yield the quotes of answers anywhere in a record, each once for its question.

    A quote is an object with ``document``, ``start``, ``end`` and ``quote``. Its question is that
    of the innermost object around it that has one.
    """
    waiting: list[tuple[object, str]] = [(record, "")]
    yielded: set[Cited] = set()
    while waiting:
        value, question = waiting.pop()
        if isinstance(value, list):
            waiting += ((item, question) for item in reversed(value))
        elif isinstance(value, dict):
            own_question = value.get("question")
            question = own_question if isinstance(own_question, str) else question
            if all(type(value.get(name)) is kind for name, kind in _CITES.items()):
                quote = _cited(value, question)
                if quote not in yielded:
                    yielded.add(quote)
                    yield quote
            else:
                inner = [item for name, item in value.items() if name not in _NOT_SAID]
                waiting += ((item, question) for item in reversed(inner))


def _cited(value: Mapping[str, Any], question: str) -> Cited:
    section = value.get("section")
    return Cited(
        question,
        value["document"],
        section if isinstance(section, str) else "",
        value["start"],
        value["end"],
        value["quote"],
    )


def touched(comparison: Comparison, cited: Iterable[Cited]) -> list[Touched]:
    """Return the quotes of the old version whose provisions have changed.

    Documents are matched by the last part of their names.
    """
    name = PurePosixPath(comparison.old.source.name).name
    own = (quote for quote in cited if PurePosixPath(quote.document).name == name)
    results = (_touched(comparison, quote) for quote in own if quote.quote.strip())
    return [result for result in results if result is not None]


def _touched(comparison: Comparison, cited: Cited) -> Touched | None:
    text, start = comparison.old.source.text, cited.start
    if text[start : cited.end] != cited.quote:
        start = text.find(cited.quote)
        if start < 0 or text.find(cited.quote, start + 1) >= 0:
            return _unknown(comparison, cited)
    end = start + len(cited.quote)
    lines = _lines(comparison, start, end)
    kinds = {kind for i in (*lines, *_above(comparison, lines)) for kind in comparison.kinds[i]}
    if not kinds:
        return None
    spans = [span for i in lines if (span := _carried(comparison, i, start, end))]
    now = _now(comparison, lines, spans)
    was = comparison.old.place(comparison.old.tree.around(start, end), [(start, end)])
    same = now is not None and now.quote.split() == cited.quote.split()
    parts = [] if now is None or same else differences(cited.quote, now.quote)
    return Touched(
        question=cited.question,
        was=was,
        kinds=[kind for kind in _ORDER if kind in kinds],
        became="gone" if now is None else "same" if same else "changed",
        now=now,
        parts=[Part.model_validate(part) for part in parts],
    )


def _unknown(comparison: Comparison, cited: Cited) -> Touched:
    was = Place(
        document=cited.document,
        title=comparison.old.title,
        section=cited.section,
        heading="",
        kind="text",
        page=None,
        start=cited.start,
        end=cited.end,
        quote=cited.quote,
    )
    return Touched(question=cited.question, was=was, kinds=[], became="unknown", now=None, parts=[])


def _lines(comparison: Comparison, start: int, end: int) -> list[int]:
    ends = comparison.ends
    first = bisect_left(ends, start + 1)
    return [i for i in range(first, len(ends)) if comparison.olds[i].start < end]


def _above(comparison: Comparison, lines: Iterable[int]) -> set[int]:
    """Return the lines above some lines in the tree: lead-ins and headings."""
    above_all: set[int] = set()
    for i in lines:
        above = comparison.olds[i].above
        while above >= 0 and above not in above_all:
            above_all.add(above)
            above = comparison.olds[above].above
    return above_all


def _carried(comparison: Comparison, i: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the span in the new version of the part of a span that is in an old line."""
    pair = comparison.pairs.get(i)
    if pair is None:
        return None
    at, there = comparison.olds[i].start, comparison.news[pair.new].start
    reached: list[int] = []
    for old, new, same in compared_words(*comparison.words(pair)):
        first, last = max(start, at), min(end, at + len(old))
        if first < last or start < at == last < end:
            reach = (_same(old, new, first - at), _same(old, new, last - at))
            reached += [there + offset for offset in (reach if same else (0, len(new)))]
        at, there = at + len(old), there + len(new)
    return (reached[0], reached[-1]) if reached else None


def _same(old: str, new: str, offset: int) -> int:
    """Return the new offset of an old offset, for texts that differ only in whitespace."""
    letters = len(re.sub(r"\s", "", old[:offset]))
    counted = accumulate((not char.isspace() for char in new), initial=0)
    return next((at for at, count in enumerate(counted) if count >= letters), len(new))


def _now(
    comparison: Comparison, lines: Iterable[int], spans: list[tuple[int, int]]
) -> Place | None:
    text = comparison.new.source.text
    trimmed = []
    for start, end in spans:
        kept = text[start:end].lstrip()
        if kept:
            trimmed.append((end - len(kept), end - len(kept) + len(kept.rstrip())))
    if not trimmed:
        return None
    unit = comparison.new.tree.around(trimmed[0][0], trimmed[0][1])
    return comparison.new.place(unit, trimmed)
