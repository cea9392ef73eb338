"""Translation of texts for people into the language of a request.

Texts are written in English where their values are known, and many are stored in English, in
conversations, tables and indexes. They are translated on their way out. For each English template,
such as ``There is no document {name}.``, a catalogue has a template in another language. A text is
read as the sequence of templates that explains most of its letters. Anything that no template
explains, such as a name or a quote, stays as it is.

A catalogue is a JSON file of three tables: ``texts``; ``lines``, for whole lines of an answer that
code writes; and ``parts``, for placeholders only. The name of a placeholder, without digits at its
end, says how its value is translated:

- ``told``: a text that the catalogue must explain entirely, or the template does not fit;
- ``text``: a text whose known sentences are translated;
- ``part``: the same, and ``parts`` are used as well;
- ``line``: nothing, or one of ``lines``;
- ``number``: a number, written as in the language;
- ``label``: a text that can only be the label of a provision, such as ``Article 30(1)(b)``;
- any other: left unchanged.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from starlette.responses import JSONResponse

from lexloop.core.types import ABSTENTION

Table = Literal["texts", "lines", "parts"]
ENGLISH = "en"
CATALOGUES = Path(__file__).parent / "translations"
LANGUAGES = (ENGLISH, *sorted(file.stem for file in CATALOGUES.glob("*.json")))
"""The languages that people can be told things in."""
language: ContextVar[str] = ContextVar("language", default=ENGLISH)
"""The language that the request under way is answered in."""

TOLD = frozenset(
    (
        *("warning", "reason", "reasons", "guidance", "trouble", "unready", "left"),
        *("disagrees", "reads", "note"),
    )
)
"""JSON fields that contain texts for people, at any place."""
TOLD_WITHIN: Mapping[str, frozenset[str]] = {
    "error": frozenset(("what", "hint")),
    "verdict": frozenset(("head", "words", "checked")),
    "degraded": frozenset(("wanted", "used")),
    "schema": frozenset(("title", "description")),
}
"""JSON fields that contain texts for people only within another field."""
_MOST_ITEMS = 10
_MOST_CHARS, _MOST_PIECES = 4000, 60
_CACHED = 4096
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_BETWEEN = re.compile(r"(?<=[.!?:])(\s)|(; )")
_BETWEEN_PARTS = re.compile(r"(?<=[.!?:])(\s)|(; )|(, )")
_TABLES: Mapping[str, Table] = {"told": "parts", "part": "parts", "text": "texts"}
_ENTIRELY = ("told", "line", "label")
_LABEL = re.compile(r"(?:(?:[A-Z]\w+|§§?) )?\(?[\dIVXLCDM][\w.()\-]*|\([\w.]{1,5}\)")
_NEXT_SENTENCE = re.compile(r"[.!?] [A-Z]")
_SENTENCES_AROUND = re.compile(r"^\{text\d*\} |(?<=[.:]) \{text\d*\}$")
_MARKERS_REVERSED = re.compile(r"(?:\]\d+\[\s?)+")  # looked for at the end, in linear time
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")


def asked_in(header: str) -> str:
    """Return the language that an ``Accept-Language`` header likes best of those there are."""
    best, most = ENGLISH, 0.0
    for item in header.split(",")[:_MOST_ITEMS]:
        name, _, weight = item.partition(";")
        language = name.strip().lower().partition("-")[0]
        try:
            liked = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if language in LANGUAGES and liked > most:
            best, most = language, liked
    return best


class Translated(JSONResponse):
    """JSON whose texts for people are in the language of the request."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return super().render(in_language(content))


def in_language(content: Any) -> Any:
    """Return JSON with its texts for people in the language of the request under way."""
    if language.get() == ENGLISH:
        return content
    return _walked(content, _catalogue(language.get()))


def _walked(value: Any, catalogue: "Catalogue", inside: str = "") -> Any:
    if isinstance(value, Mapping):
        texts = TOLD | TOLD_WITHIN.get(inside, frozenset())
        walked = {
            key: _all_told(item, catalogue)
            if key in texts
            else _walked(item, catalogue, inside if inside == "schema" else key)
            for key, item in value.items()
        }
        if {"answer", "abstained", "citations"} <= value.keys():
            told = value.get("told", ())
            walked["answer"] = _answer(value["answer"], value["citations"], told, catalogue)
        return walked
    if isinstance(value, (list, tuple)):
        return [_walked(item, catalogue, inside) for item in value]
    return value


def _all_told(value: Any, catalogue: "Catalogue") -> Any:
    if isinstance(value, str):
        return catalogue.text(value)
    if isinstance(value, Mapping):
        return {key: _all_told(item, catalogue) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_all_told(item, catalogue) for item in value]
    return value


def _answer(
    answer: str,
    citations: Sequence[Mapping[str, Any]],
    told: Sequence[str],
    catalogue: "Catalogue",
) -> str:
    """Return an answer with the lines translated that code wrote, and no word of a quote.

    An attempt names its quotes by their place alone, and has the lines that code wrote in ``told``.
    """
    placed = any("quote" not in citation for citation in citations)
    quotes = " ".join(
        _flat(f"{citation.get('lead', '')} {citation.get('quote', '')}") for citation in citations
    )
    lines = []
    for line in answer.split("\n"):
        markers = _MARKERS_REVERSED.match(line[::-1])
        statement = line[: len(line) - markers.end()] if markers else line
        quoted = bool(citations) and _flat(statement) in quotes
        quoted = quoted or (placed and line not in told)
        translated = line if quoted else catalogue.line(line)
        if translated == line and not quoted:  # its markers follow the statement
            translated = f"{catalogue.line(statement)}{line[len(statement) :]}"
        lines.append(translated)
    return "\n".join(lines)


def _flat(text: str) -> str:
    return " ".join(text.replace("*", "").replace("\\", "").split())


@dataclass(frozen=True)
class Template:
    """An English text with placeholders, and the same in another language."""

    english: str
    translation: str

    @cached_property
    def literals(self) -> list[str]:
        """The English words around the placeholders; one more than there are placeholders."""
        return _PLACEHOLDER.split(self.english)[::2]

    @cached_property
    def names(self) -> list[str]:
        """The placeholders in their order."""
        return _PLACEHOLDER.findall(self.english)

    @property
    def letters(self) -> int:
        """How many letters of a text it explains by itself."""
        return sum(map(len, self.literals))

    def values(self, text: str) -> dict[str, str] | None:
        """Return the values of the placeholders in a text, or None if the template does not match.

        Each literal is matched at the first possible place, which takes linear time.
        """
        first, *rest = self.literals
        if not rest:
            return {} if text == first else None
        *between, last = rest
        if not text.startswith(first):
            return None
        start, values = len(first), []
        for literal in between:
            place = text.find(literal, start)
            if place < 0:
                return None
            values.append(text[start:place])
            start = place + len(literal)
        end = len(text) - len(last)
        if end < start or not text.endswith(last):
            return None
        return dict(zip(self.names, [*values, text[start:end]], strict=True))


class Read(NamedTuple):
    """A text as the catalogue reads it."""

    letters: int  # how many of its letters templates explain
    joints: int  # how many templates that takes, negative: the fewer the better
    whole: bool  # whether the templates explain all of the text
    translation: str


class Catalogue:
    """The texts of one language.

    Args:
        tables: For each table its translations by their English templates.
    """

    def __init__(self, tables: Mapping[str, Mapping[str, str]]) -> None:
        with_texts = {**tables, "parts": {**tables["texts"], **tables["parts"]}}
        self._tables: dict[str, list[Template]] = {
            name: [Template(*map(_core, pair)) for pair in table.items()]
            for name, table in with_texts.items()
        }
        self._read = lru_cache(_CACHED)(self._read_uncached)

    def text(self, text: str) -> str:
        """Return a text with the sentences translated that are known."""
        return self._read(text, "texts").translation

    def line(self, line: str) -> str:
        """Return a line of an answer translated, if it is one that code writes."""
        return max(
            self._by(self._tables["lines"], line), default=Read(0, 0, False, line)
        ).translation

    def _may_fit(self, template: Template, text: str) -> bool:
        return all(literal in text for literal in template.literals)

    def _read_uncached(self, text: str, table: Table) -> Read:
        if len(text) > _MOST_CHARS:
            return Read(0, 0, False, text)
        templates = [template for template in self._tables[table] if self._may_fit(template, text)]
        if not templates:
            return Read(0, 0, False, text)
        between = _BETWEEN if table == "texts" else _BETWEEN_PARTS
        breaks = [gap_found.span() for gap_found in between.finditer(text)]
        if len(breaks) > _MOST_PIECES:
            breaks = []
        starts = [0, *(end for _, end in breaks)]
        ends = [*(start for start, _ in breaks), len(text)]
        best = Read(0, 0, True, "")
        behind = [best]  # the best reading from each piece on, last piece first
        for first in reversed(range(len(starts))):
            best = Read(-1, 0, False, "")
            for last in range(first, len(starts)):
                piece, rest = text[starts[first] : ends[last]], behind[-1 - (last - first)]
                gap = text[ends[last] : starts[last + 1]] if last + 1 < len(starts) else ""
                reading = max(self._by(templates, piece), default=None)
                if reading is None and last == first:
                    reading = Read(0, 0, False, piece)
                if reading is not None:
                    complete = reading.whole and rest.whole
                    translation = f"{reading.translation}{gap}{rest.translation}"
                    letters, joints = reading.letters + rest.letters, reading.joints + rest.joints
                    best = max(best, Read(letters, joints, complete, translation))
            behind.append(best)
        return best

    def _by(self, templates: Iterable[Template], text: str) -> Iterator[Read]:
        """Yield the text as each template reads it that fits."""
        for template in templates:
            if (values := template.values(text)) is None:
                continue
            readings: dict[str, Read] = {
                name: self._value(name, value) for name, value in values.items()
            }
            if all(readings[name].whole for name in readings if _kind(name) in _ENTIRELY):
                letters = template.letters + sum(reading.letters for reading in readings.values())
                joints = sum(reading.joints for reading in readings.values()) - 1
                filled = _PLACEHOLDER.sub(
                    lambda match, readings=readings: readings[match[1]].translation,  # type: ignore[misc]
                    template.translation,
                )
                yield Read(letters, joints, True, filled)

    def _value(self, name: str, value: str) -> Read:
        kind, table = _kind(name), _TABLES.get(_kind(name))
        if kind == "line" and value:
            matches = self._by(self._tables["lines"], value)
            return max(matches, default=Read(0, 0, False, value))
        if table == "parts" and _NEXT_SENTENCE.search(value):  # it is part of one sentence
            return Read(0, 0, False, value)
        if table and value:
            return self._read(value, table)
        fits = kind != "label" or _LABEL.fullmatch(value) is not None
        return Read(0, 0, fits, _DECIMAL.sub(",", value) if kind == "number" else value)


def _core(template: str) -> str:
    """Return a template without the sentences before and after it, which are read apart."""
    return _SENTENCES_AROUND.sub("", template)


def _kind(name: str) -> str:
    return name.rstrip("0123456789")


@cache
def _catalogue(language: str) -> Catalogue:
    return Catalogue(tables_of(language))


def tables_of(of: str) -> dict[str, dict[str, str]]:
    """Return the tables of the catalogue of a language other than English."""
    tables: dict[str, dict[str, str]] = json.loads((CATALOGUES / f"{of}.json").read_text("utf-8"))
    tables["lines"][ABSTENTION] = tables["lines"].pop("abstention")  # its wording is named once
    return tables
