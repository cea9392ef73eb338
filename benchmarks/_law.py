"""The text of a law as files of offices, and whether a citation quotes a provision of it.

Files are laid out as offices and printers lay them out; a citation is told by its words, whatever
file they were read from.
"""

import re
import shutil
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import _shared  # noqa: F401 - by which typeset is found
from typeset import Sheet, Style, typeset

Gram = tuple[str, ...]
Name = tuple[str, ...]
"""An article, perhaps a paragraph of it, perhaps a point of that; or a label."""
Span = tuple[int, int]

_WITHIN = 0.6
"""The share of a quote's word 3-grams that must be a provision's."""
_OWN = 0.25
"""The share that must be a point's own where its lead-in is quoted with it."""
_CLOSER = 0.05
_SAID, _POINT_WORDS = 0.8, 40
_ROW_SLACK = 40
_HYPHENS = re.compile("[-\u2010\u2011\u00ad]\\s*")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters; a word broken by a hyphen is one."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("'", "")
    return re.findall(r"[^\W_]+", _HYPHENS.sub("", plain))


def grams_of(text: str) -> list[Gram]:
    """The word 3-grams of a text; of a shorter one all its words together."""
    words = words_of(text)
    return list(zip(words, words[1:], words[2:], strict=False)) if len(words) > 2 else [(*words,)]


def follows(wanted: str, text: str) -> bool:
    """Whether words stand in a text one after the other."""
    return f" {' '.join(words_of(wanted))} " in f" {' '.join(words_of(text))} "


@dataclass(frozen=True)
class Provision:
    """One provision of the law.

    Args:
        text: Its words.
        lead: Those that lead into it, where it is a point.
        points: The words of its points.
    """

    text: str
    lead: str = ""
    points: tuple[str, ...] = ()

    @cached_property
    def grams(self) -> frozenset[Gram]:
        """Its 3-grams."""
        return frozenset(grams_of(self.text))

    @cached_property
    def with_lead(self) -> frozenset[Gram]:
        """Its 3-grams and those of what leads into it."""
        return self.grams.union(grams_of(self.lead))

    def holds(self, quote: str, others: Iterable["Provision"] = ()) -> bool:
        """Whether a quote is taken from here and from none of the others.

        Args:
            quote: The words of a citation.
            others: Provisions beside it, which may say nearly the same.
        """
        grams = grams_of(quote)
        own = _share(grams, self.grams)
        if own < _WITHIN and not (own >= _OWN and _share(grams, self.with_lead) >= _WITHIN):
            return False
        return all(_share(grams, other.grams) <= own + _CLOSER for other in others)

    def lies_in(self, quote: str) -> bool:
        """Whether a quote has most of it, whatever else it has."""
        return _share(list(self.grams), frozenset(grams_of(quote))) >= _WITHIN

    def points_said(self, answer: str) -> list[bool]:
        """Of each point, whether an answer says most of its words."""
        said = set(words_of(answer))
        wanted = (
            {word for word in words_of(point)[:_POINT_WORDS] if len(word) > 2}
            for point in self.points
        )
        return [len(words & said) >= _SAID * len(words) for words in wanted if words]


def _share(grams: Sequence[Gram], among: frozenset[Gram]) -> float:
    return sum(gram in among for gram in grams) / len(grams)


def quotes_row(quote: str, row: Sequence[str], cells: str) -> bool:
    """Whether a quote is a row of a table: its key, then the value, and little else.

    Args:
        quote: The words of a citation.
        row: The key and the value.
        cells: The whole row.
    """
    if len(words_of(quote)) > len(words_of(cells)) + _ROW_SLACK:
        return False
    said, key = f" {' '.join(words_of(quote))} ", f" {' '.join(words_of(row[0]))} "
    return key in said and f" {' '.join(words_of(row[1]))} " in said[said.index(key) :]


class Law:
    """The provisions of a law, cut from its text, each by the name that ``spans_of`` gives it.

    Args:
        text: The whole text.
        structure: Its articles with the spans of their paragraphs and points.
    """

    def __init__(self, text: str, structure: Iterable[Mapping[str, Any]]) -> None:
        spans = spans_of(structure)
        opening = text[: min((start for start, _ in spans.values()), default=0)]
        self._reasons = [Provision(line) for line in filter(str.strip, opening.splitlines())]
        within: dict[Name, list[Span]] = defaultdict(list)
        for name, span in spans.items():
            for above in (name[:1], name[:2]) if len(name) == 3 else ():
                within[above].append(span)
        self._found = {}
        for name, (start, end) in spans.items():
            points = tuple(text[slice(*span)] for span in within[name])
            paragraph = name[:2] if len(name) == 3 else ()
            lead = text[spans[paragraph][0] : within[paragraph][0][0]] if paragraph else ""
            self._found[name] = Provision(text[start:end], lead, points)

    def provision(self, name: Name) -> Provision:
        """What an article, a paragraph or a point says.

        Raises:
            KeyError: There is none such.
        """
        return self._found[name]

    def beside(self, name: Name) -> list[Provision]:
        """The provisions of the same depth but the one named, and the recitals."""
        same = [p for n, p in self._found.items() if len(n) == len(name) and n != name]
        return [*same, *self._reasons]


def scored(probe: Mapping[str, Any], answer: Mapping[str, Any], law: Law) -> dict[str, float]:
    """The figures of one answer: ``right``, and for lists ``items``, for others ``found``.

    Args:
        probe: ``kind``, ``article``, ``paragraph`` and perhaps ``point`` and ``also``.
        answer: ``answer``, ``abstained`` and ``citations`` with their quotes.
        law: What the probe asks about.
    """
    kind, silent = probe["kind"], answer["abstained"]
    if kind == "not_there":
        return {"right": float(silent)}
    extra = "items" if kind == "list" else "found"
    if silent:
        return {"right": 0.0, extra: 0.0}
    names = [(probe["article"],)] if kind == "article" else names_of(probe)
    gold = [(law.provision(name), law.beside(name)) for name in names]
    first, quotes = gold[0][0], [citation["quote"] for citation in answer["citations"]]
    held = [any(one.holds(quote, others) for one, others in gold) for quote in quotes]
    found = float(any(held))
    if kind == "article":
        return {"right": float(bool(held) and all(held)), "found": found}
    if kind in ("definition", "typo"):
        term = re.search(r"[‘“'\"]([^’”'\"]+)[’”'\"] means", first.text)
        quoted = term is not None and follows(f"{term[1]} means", answer["answer"])
        cited = bool(found) or any(map(first.lies_in, quotes))
        return {"right": float(cited and quoted), "found": float(cited)}
    if kind == "list":
        said = first.points_said(answer["answer"])
        return {"right": float(all(said)), "items": sum(said) / max(1, len(said))}
    return {"right": float(held[:1] == [True]), "found": found}


def spans_of(structure: Iterable[Mapping[str, Any]]) -> dict[Name, Span]:
    """The span of each provision: by article, paragraph and point, or by its label alone."""
    spans: dict[Name, Span] = {}

    def add(name: Name, unit: Mapping[str, Any]) -> None:
        spans.setdefault(name, (unit["start"], unit["end"]))

    for unit in structure:
        if "label" in unit:
            add((unit["label"],), unit)
            continue
        article = str(unit["article"])
        add((article,), unit)
        for paragraph in unit["paragraphs"]:
            add((article, paragraph["n"]), paragraph)
            for point in paragraph["points"]:
                add((article, paragraph["n"], point["p"]), point)
    return spans


def names_of(probe: Mapping[str, Any]) -> list[Name]:
    """The provisions that answer, as ``spans_of`` names them; none where none does."""
    if "gold" in probe:
        return [(label,) for label in probe["gold"]]
    if not probe["article"]:
        return []
    name = (probe["article"], probe["paragraph"], probe.get("point", ""))
    while not name[-1]:  # an article alone, or a paragraph of it
        name = name[:-1]
    return [name, *(tuple(filter(None, also)) for also in probe.get("also", []))]


_NUMBERED = re.compile(r"(?:CHAPTER|TITLE|PART|ANNEX|Article|Section) [\dIVXLC]{1,7}$")
_LONGEST_HEADING = 200
_HEAD, _FOOT = "Official text of the law", "Page {page}"


def paragraphs(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text, each with the level of the heading that it is; 0 for none.

    A heading is a line that holds a keyword and a number alone, or the line after it.
    """
    level = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if _NUMBERED.match(line):
            level = 3 if line.startswith("Article") else 2 if line.startswith("Section") else 1
            yield line, level
        else:
            yield line, level if len(line) < _LONGEST_HEADING else 0
            level = 0


def write_docx(text: str, path: Path) -> None:
    """A paragraph a line, headings by their styles, a running head and a foot."""
    from docx import Document

    made = Document()
    made.sections[0].header.paragraphs[0].text = _HEAD
    made.sections[0].footer.paragraphs[0].text = _FOOT.format(page=1)
    for line, level in paragraphs(text):
        made.add_paragraph(line, style=f"Heading {level}" if level else None)
    made.save(str(path))


def write_pdf(text: str, path: Path) -> None:
    """Justified, hyphenated lines between a running head and the number of the page."""
    # what a PDF's own fonts cannot show is a question mark
    plain = text.encode("windows-1252", "replace").decode("windows-1252")
    headings = {line for line, level in paragraphs(plain) if level}

    def style(line: str) -> Style:
        return Style(bold=True, align="C", space=2) if line in headings else Style(space=1)

    path.write_bytes(typeset(plain, style, Sheet(head=_HEAD, foot=_FOOT, hyphens=True)))


WRITERS: dict[str, Callable[[str, Path], None]] = {"docx": write_docx, "pdf": write_pdf}


def as_format(law: Path, kind: str, folder: Path) -> Path:
    """A corpus of the law in one format: given beside its text, or made from it.

    Args:
        law: Its text, UTF-8; a page lies beside it under the same name.
        kind: ``txt``, ``html``, ``docx`` or ``pdf``.
        folder: Where the corpus is put.
    """
    corpus = folder / kind
    corpus.mkdir(parents=True, exist_ok=True)
    path = corpus / f"{law.stem}.{kind}"
    if kind in WRITERS:
        WRITERS[kind](law.read_text(encoding="utf-8"), path)
    else:
        shutil.copy(law.with_suffix(f".{kind}"), path)
    return corpus
