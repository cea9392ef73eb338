"""Which answers rest on words that another version of a document has otherwise, or elsewhere."""

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
"""What a record of an answer holds besides the answer."""
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
    """A quote of an answer whose provision is not as it was."""

    question: str
    was: Place = Field(description="Where it stands in the old version; `quote` are its words.")
    kinds: list[Kind] = Field(description="What became of its provision, or of those above it.")
    became: Literal["same", "changed", "gone", "unknown"] = Field(
        description="What became of the quoted words; `unknown` where the old version lacks them."
    )
    now: Place | None = Field(description="Where they stand in the new version.")
    parts: list[Part] = Field(description="The words of both versions, where they changed.")


class Report(Diff):
    """Two versions of a document, and the answers that are touched by what changed."""

    answers: list[Touched]

    @classmethod
    def of(cls, comparison: Comparison, cited: Iterable[Cited] = ()) -> Self:
        """Return what changed from one version to another, and which quotes that touches."""
        found = touched(comparison, cited)
        return cls(**vars(comparison.record()), answers=found)


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
        found: list[Cited] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found += cited_in(json.loads(line)) if line.strip() else ()
        except (ValueError, RecursionError) as error:
            raise InputError(f"{file} is no JSON: line {number}.", _HINT) from error
    return found


def cited_in(record: object) -> Iterator[Cited]:
    """Yield what answers quote, wherever in a record they stand; each once for its question.

    A quote is an object with ``document``, ``start``, ``end`` and ``quote``; its question is that
    of the innermost object around it that has one.
    """
    left: list[tuple[object, str]] = [(record, "")]
    seen: set[Cited] = set()
    while left:
        value, question = left.pop()
        if isinstance(value, list):
            left += ((one, question) for one in reversed(value))
        elif isinstance(value, dict):
            said = value.get("question")
            question = said if isinstance(said, str) else question
            if all(type(value.get(name)) is kind for name, kind in _CITES.items()):
                found = _cited(value, question)
                if found not in seen:
                    seen.add(found)
                    yield found
            else:
                inner = [one for name, one in value.items() if name not in _NOT_SAID]
                left += ((one, question) for one in reversed(inner))


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
    own = (one for one in cited if PurePosixPath(one.document).name == name)
    found = (_touched(comparison, one) for one in own if one.quote.strip())
    return [one for one in found if one is not None]


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
    """Return the lines that some stand below in the tree: lead-ins and headings."""
    found: set[int] = set()
    for i in lines:
        above = comparison.olds[i].above
        while above >= 0 and above not in found:
            found.add(above)
            above = comparison.olds[above].above
    return found


def _carried(comparison: Comparison, i: int, start: int, end: int) -> tuple[int, int] | None:
    """Return the span in the new version of the part of a span that is in an old line."""
    pair = comparison.pairs.get(i)
    if pair is None:
        return None
    at, there = comparison.olds[i].start, comparison.news[pair.new].start
    found: list[int] = []
    for old, new, same in compared_words(*comparison.words(pair)):
        first, last = max(start, at), min(end, at + len(old))
        if first < last or start < at == last < end:
            reach = (_same(old, new, first - at), _same(old, new, last - at))
            found += [there + one for one in (reach if same else (0, len(new)))]
        at, there = at + len(old), there + len(new)
    return (found[0], found[-1]) if found else None


def _same(old: str, new: str, offset: int) -> int:
    """Return the new offset of an old offset, for texts that differ only in whitespace."""
    wanted = len(re.sub(r"\s", "", old[:offset]))
    counted = accumulate((not char.isspace() for char in new), initial=0)
    return next((at for at, count in enumerate(counted) if count >= wanted), len(new))


def _now(
    comparison: Comparison, lines: Iterable[int], spans: list[tuple[int, int]]
) -> Place | None:
    text = comparison.new.source.text
    trimmed = []
    for start, end in spans:
        said = text[start:end].lstrip()
        if said:
            trimmed.append((end - len(said), end - len(said) + len(said.rstrip())))
    if not trimmed:
        return None
    unit = comparison.new.tree.around(trimmed[0][0], trimmed[0][1])
    return comparison.new.place(unit, trimmed)
