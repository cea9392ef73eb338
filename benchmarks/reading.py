"""How well documents are read: the units of their trees beside those that are known to be there.

    python benchmarks/reading.py [--data DATA] [--sets us_cfr,gdpr] [--formats txt,pdf] [--show N]
    python benchmarks/reading.py --asked 80 [--show N]

DATA is the folder of the published sets (default ``LEXLOOP_DATA``). By set and format: the units
that are known, the share of them found (a unit of the tree begins with the same words), and of all
those known the share with the same label, the same last words and the same kind; then the doubts
that the trees note. In ``us_cfr`` and ``gdpr`` the known units are those of ``structure.json``, and
the recitals; in ``policies`` the headings, whose label is the heading above them; in ``contracts``
the numbered units of each text, which its PDF should have. Formats that a law is not given in are
made from its text; policies are converted by pandoc and LibreOffice, where these are installed.

``--asked`` asks of all policies together for so many sections by their headings, each in three
wordings, and prints the share of answers whose first citation lies in the section, and of those
with marks of the file in them.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _law_files import as_format
from _law_scoring import words_of

from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits
from lexloop.documents.structure.tree import ITEMS, Unit
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

Row = dict[str, Any]
_OPENING = 6
"""The words by which a unit is known again."""
_KINDS = {"section": "provision", "article": "provision", "heading": "part"}
_LABEL = re.compile(r"§+|\b(?:sections?|articles?|clauses?|rules?|regulations?)\b|[^a-z0-9()./\"]")
_MARKUP = re.compile(r"\]\([^()\s]*\)|<[^<>]*>|[*_`#]+")
_NUMBER = re.compile(r"(?:\d+[A-Z]?|[A-Z])(?:\.\d+)*\.?\s")
_RECITAL = re.compile(r"^\((\d+)\)\s.*$", re.MULTILINE)
_FORMS = (
    'What does the section "{}" say?',
    "What does the section on {} say?",
    "Show me the section {}.",
)
_SEED, _OWN_WORDS = 3, 0.95
_HEADED = ("part", "provision", "annex")
_FORMATS = {
    "us_cfr": ("txt", "pdf"),
    "gdpr": ("txt", "html", "docx", "pdf"),
    "policies": ("md", "html", "docx", "odt", "epub", "rtf", "pdf"),
    "contracts": ("pdf",),
}


@dataclass(frozen=True)
class Known:
    """A unit that is known to be there, or one of a tree.

    Args:
        words: All its words.
        kind: As a tree names it.
    """

    label: str
    kind: str
    words: tuple[str, ...]

    @property
    def opening(self) -> tuple[str, ...]:
        """The words that it begins with."""
        return self.words[:_OPENING]

    def ends_as(self, other: "Known") -> bool:
        """Whether the last words are the same."""
        return self.words[-_OPENING:] == other.words[-_OPENING:]


@dataclass
class Score:
    """What was known and found in the documents of one set in one format."""

    known: int = 0
    found: int = 0
    labels: int = 0
    spans: int = 0
    kinds: int = 0
    doubts: int = 0

    def add(self, known: Iterable[Known], read: Iterable[Known], show: int) -> None:
        """Compare the units of one document, and tell the first that differ."""
        begun: dict[tuple[str, ...], list[Known]] = defaultdict(list)
        for unit in read:
            begun[unit.opening].append(unit)
        for unit in known:
            alike = begun[unit.opening]
            equal = [one for one in alike if _same(one.label) == _same(unit.label)]
            best = next(iter(sorted(equal or alike, key=unit.ends_as, reverse=True)), None)
            self.known += 1
            if best is not None:
                self.found += 1
                self.labels += bool(equal)
                self.spans += unit.ends_as(best)
                self.kinds += unit.kind == best.kind or {unit.kind, best.kind} <= ITEMS
            if show > 0 and not equal:
                show -= 1
                told = best.label if best else "not found"
                print(f"  {unit.label!r} ({' '.join(unit.opening)}): {told!r}", file=sys.stderr)

    def with_(self, other: "Score") -> "Score":
        """This and that of other documents."""
        both = zip(vars(self).values(), vars(other).values(), strict=True)
        return Score(*(own + more for own, more in both))

    def row(self) -> str:
        """The cells of a table's row."""
        shares = (self.found, self.labels, self.spans, self.kinds)
        told = " | ".join(f"{share / max(1, self.known):.3f}" for share in shares)
        return f"{self.known:,} | {told} | {self.doubts:,}"


def main() -> None:
    """Read every set in every format, and print the table."""
    options = _options()
    if options.asked:
        _ask(options.data / "policies", options.asked, options.show)
        return
    print("| set | format | known | found | label | span | kind | doubts |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.sets.split(","):
        folder = options.data / name
        if not folder.is_dir():
            print(f"left out {name}: there is no {folder}", file=sys.stderr)
            continue
        for kind in _FORMATS[name]:
            if options.formats and kind not in options.formats.split(","):
                continue
            with tempfile.TemporaryDirectory() as made:
                score = _scored(name, kind, folder, Path(made), options.show)
            if score is not None:
                print(f"| {name} | {kind} | {score.row()} |", flush=True)


def _options() -> argparse.Namespace:
    data = os.environ.get("LEXLOOP_DATA")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--data", type=Path, default=Path(data) if data else None)
    parser.add_argument("--sets", default=",".join(_FORMATS))
    parser.add_argument("--formats", help="with commas; all of each set if left out")
    parser.add_argument("--asked", type=int, default=0, help="sections asked for by heading")
    parser.add_argument("--show", type=int, default=0, help="units told of each document")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data DATA or set LEXLOOP_DATA")
    return options


def _scored(name: str, kind: str, folder: Path, made: Path, show: int) -> Score | None:
    score = Score()
    for known, path in _PAIRS[name](folder, kind, made):
        if path is None:
            print(f"left out {name} as {kind}: nothing here makes it", file=sys.stderr)
            return None
        document = read(path)
        one = Score(doubts=len(document.tree.problems))
        one.add(known, units_of(document, headed=name == "policies"), show)
        score = score.with_(one)
        if show:
            print(f"| {one.row()} | {path.name}", file=sys.stderr)
    return score


def read(path: Path) -> Document:
    """The document of one file."""
    found = read_bytes(path.read_bytes(), path.name, Limits())
    return next(one for one in found if isinstance(one, Document))


def units_of(document: Document, headed: bool = False) -> Iterator[Known]:
    """The units of a document's tree; those under headings alone, with the heading above them."""
    units = document.tree.units
    for unit in units:
        words = tuple(words_of(document.text[unit.start : unit.end]))
        if not headed:
            yield Known(unit.label, unit.kind, words)
        elif unit.kind in _HEADED:
            above = next((units[p].heading for p in _above(units, unit.parent)), "")
            yield Known(_path(above), "part", words)


def _above(units: Sequence[Unit], place: int) -> Iterator[int]:
    while place >= 0:
        if units[place].kind in _HEADED:
            yield place
        place = units[place].parent


def _path(heading: str) -> str:
    return " ".join(
        words_of(heading[found.end() :] if (found := _NUMBER.match(heading)) else heading)
    )


def _same(label: str) -> str:
    """A label with its keyword and its blanks left out, in which writers differ."""
    return _LABEL.sub("", unicodedata.normalize("NFKC", label).lower())


def _laws(folder: Path, kind: str, made: Path) -> Iterator[tuple[list[Known], Path]]:
    """A law, and the units of its ``structure.json``."""
    text_file = next(iter(sorted(folder.glob("*.txt"))))
    text = text_file.read_text(encoding="utf-8")
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    known = list(_articles(structure, text) if "article" in structure[0] else _labelled(structure))
    given = text_file.with_suffix(f".{kind}")
    if not given.is_file():
        given = next(as_format(text_file, kind, made).iterdir())
    yield known, given


def _labelled(structure: list[Row]) -> Iterator[Known]:
    for unit in structure:
        kind = _KINDS.get(unit["kind"], unit["kind"])
        yield Known(unit["label"], kind, tuple(words_of(unit["text"])))


def _articles(structure: list[Row], text: str) -> Iterator[Known]:
    def known(label: str, kind: str, span: Row) -> Known:
        return Known(label, kind, tuple(words_of(text[span["start"] : span["end"]])))

    for found in _RECITAL.finditer(text, 0, structure[0]["start"]):
        yield Known(f"Recital {found[1]}", "recital", tuple(words_of(found[0])))
    for article in structure:
        label = f"Article {article['article']}"
        yield known(label, "provision", article)
        for paragraph in article["paragraphs"]:
            own = f"{label}({paragraph['n']})" if paragraph["n"] else label
            if paragraph["n"]:
                yield known(own, "paragraph", paragraph)
            for point in paragraph["points"]:
                kind = "point" if paragraph["n"] else "paragraph"
                yield known(f"{own}({point['p']})", kind, point)


def _policies(folder: Path, kind: str, made: Path) -> Iterator[tuple[list[Known], Path | None]]:
    """Each policy, and its headings."""
    rows = (folder / "structure.jsonl").read_text(encoding="utf-8").splitlines()
    for row in map(json.loads, rows):
        path = folder / row["file"]
        text = path.read_text(encoding="utf-8")
        above: list[tuple[int, str]] = []
        known = []
        for unit in row["units"]:
            above = [held for held in above if held[0] < unit["level"]]
            words = words_of(_MARKUP.sub(" ", text[unit["start"] : unit["end"]]))
            known.append(Known(_path(above[-1][1]) if above else "", "part", tuple(words)))
            above.append((unit["level"], unit["heading"]))
        yield known, path if kind == "md" else _converted(path, kind, made)


def _converted(path: Path, kind: str, made: Path) -> Path | None:
    """A Markdown file in another format; None where no program here makes it."""
    target = made / f"{path.stem}.{kind}"
    if shutil.which("pandoc") is None or (kind == "pdf" and shutil.which("soffice") is None):
        return None
    first = target.with_suffix(".docx") if kind == "pdf" else target
    subprocess.run(["pandoc", "--standalone", "--quiet", str(path), "-o", str(first)], check=True)
    if kind == "pdf":
        convert = ["soffice", "--headless", "--convert-to", "pdf", "--outdir", str(made)]
        subprocess.run([*convert, str(first)], check=True, stdout=subprocess.DEVNULL)
    return target


def _contracts(folder: Path, kind: str, made: Path) -> Iterator[tuple[list[Known], Path]]:
    """Each contract that is there as a PDF, and the numbered units of its text."""
    for path in sorted((folder / "pdf").glob("*.pdf")):
        document = read(folder / "documents" / f"{path.stem}.txt")
        numbers = Counter(unit.label for unit in document.tree.units if unit.number)
        own = [unit for unit in units_of(document) if numbers[unit.label]]
        yield [unit for unit in own if unit.kind in ("provision", "paragraph", "point")], path


def _ask(folder: Path, count: int, show: int) -> None:
    """Ask for sections by their headings, and print how many are found."""
    rows = (folder / "structure.jsonl").read_text(encoding="utf-8").splitlines()
    gold = [(row["file"], unit) for row in map(json.loads, rows) for unit in row["units"]]
    alike = Counter(_path(unit["heading"]) for _, unit in gold)
    alone = [(f, u) for f, u in gold if u["level"] > 1 and alike[_path(u["heading"])] == 1]
    graph = build_graph(Resources(defaults=Settings(corpus=str(folder))))
    print("| asked | first citation in the section | marks in the answer |")
    print("|---|---|---|")
    for form in _FORMS:
        found = marks = 0
        for file, unit in random.Random(_SEED).sample(alone, count):
            bare = _bare(unit["heading"])
            answer = graph.invoke({"messages": [("user", form.format(bare))]})
            cited = answer["citations"][:1]
            held = _section(folder / file, unit)
            good = bool(cited) and cited[0]["document"] == file
            words = words_of(cited[0]["quote"]) if good else []
            good = good and sum(word in held for word in words) >= _OWN_WORDS * len(words)
            found += good
            marks += _MARKUP.search(answer["answer"]) is not None
            if show > 0 and not good:
                show -= 1
                told = [(one["document"], one["section"]) for one in cited]
                print(f"  {form.format(bare)} ({file}): {told}", file=sys.stderr)
        print(f"| {form.format('X')} | {found / count:.3f} | {marks / count:.3f} |", flush=True)


def _bare(heading: str) -> str:
    plain = re.sub(r"[*_`]+", "", heading)
    found = _NUMBER.match(plain)
    return plain[found.end() :] if found else plain


def _section(path: Path, unit: Row) -> set[str]:
    text = path.read_text(encoding="utf-8")[unit["start"] : unit["end"]]
    return set(words_of(_MARKUP.sub(" ", text))) | set(words_of(text))


_PAIRS = {"us_cfr": _laws, "gdpr": _laws, "policies": _policies, "contracts": _contracts}

if __name__ == "__main__":
    main()
