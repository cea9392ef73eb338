"""How well documents are read: the units of their trees beside those that are known to be there.

    python benchmarks/reading.py [--data DATA] [--sets us_cfr,gdpr]
    python benchmarks/reading.py [--data DATA] --asked 80

DATA is the folder of the published sets (default ``LEXLOOP_DATA``). By set and format: the units
that are known, the share of them found (a unit of the tree begins with the same words), and of all
those known the share with the same label, the same last words and the same kind; then the doubts
that the trees note. In ``us_cfr`` and ``gdpr`` the known units are those of ``structure.json``, and
the recitals; in ``policies`` the headings, whose label is the heading above them, and which may be
read as numbered paragraphs that have one; in ``contracts`` the numbered units of each text, which
its PDF should have; in ``tables`` the rows of a standard that is made up here, its captions above
or below and counted in five ways. Formats that a law is not given in are made from its text;
policies and the standard are converted by pandoc and LibreOffice, where these are installed.

``--asked`` asks of all policies together for so many sections by their headings, each in three
wordings, and prints the share of answers whose first citation lies in the section, and of those
with marks of the file in them.
"""

import json
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

from _law import as_format, words_of
from _shared import DATA, Row, options, read_rows, table

from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits
from lexloop.documents.structure.tree import ITEMS, Unit
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

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
_SHARES = ("found", "label", "span", "kind")
_HEADED = ("part", "provision", "annex")
_FORMATS = {
    "us_cfr": ("txt", "pdf"),
    "gdpr": ("txt", "html", "docx", "pdf"),
    "policies": ("md", "html", "docx", "odt", "epub", "rtf", "pdf"),
    "contracts": ("pdf",),
    "tables": ("md", "txt", "html", "docx", "odt", "epub", "rtf", "pdf"),
}
_COUNTED = (
    "Table {0} — {1}",
    "Table 4.{0}: {1}",
    "TABLE {0}. {1}",
    "Table A{0} {1}",
    "Table B.{0}-1. {1}",
)
_TABLES, _ROWS = 20, (2, 7)


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


def scored(known: Iterable[Known], read: Iterable[Known]) -> Counter[str]:
    """Of one document how many units are known and found, and of these what is the same."""
    begun: dict[tuple[str, ...], list[Known]] = defaultdict(list)
    for unit in read:
        begun[unit.opening].append(unit)
    score = Counter[str]()
    for unit in known:
        alike = begun[unit.opening]
        equal = [one for one in alike if _same(one.label) == _same(unit.label)]
        best = max(equal or alike, key=unit.ends_as, default=None)
        score["known"] += 1
        if best is not None:
            kind = unit.kind == best.kind or {unit.kind, best.kind} <= ITEMS
            score.update(found=1, label=bool(equal), span=unit.ends_as(best), kind=kind)
    return score


def main() -> None:
    """Read every set in every format, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, required=DATA is None)
    parser.add_argument("--sets", default=",".join(_FORMATS))
    parser.add_argument("--asked", type=int, default=0, help="sections asked for by heading")
    given = parser.parse_args()
    if given.asked:
        rows = _asked(given.data / "policies", given.asked)
        print(table(["asked", "first citation in the section", "marks in the answer"], rows))
        return
    rows = (
        [name, kind, *cells]
        for name in given.sets.split(",")
        for kind in _FORMATS[name]
        if (cells := _cells(name, kind, given.data / name))
    )
    print(table(["set", "format", "known", *_SHARES, "doubts"], rows))


def _cells(name: str, kind: str, folder: Path) -> list[str]:
    """A row of the table; none where the set, or what makes its files, is not here."""
    score = Counter[str]()
    with tempfile.TemporaryDirectory() as made:
        for known, path in (
            _PAIRS[name](folder, kind, Path(made)) if folder.is_dir() or name == "tables" else ()
        ):
            if path is None:
                break
            document = read(path)
            score += scored(known, units_of(document, headed=name == "policies"))
            score["doubts"] += len(document.tree.problems)
        else:
            if score:
                shares = (f"{score[share] / score['known']:.3f}" for share in _SHARES)
                return [f"{score['known']:,}", *shares, f"{score['doubts']:,}"]
    print(f"left out {name} as {kind}: nothing here has or makes it", file=sys.stderr)
    return []


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
        elif unit.kind in _HEADED or (unit.number and unit.heading):
            above = next((units[p].heading for p in _above(units, unit.parent)), "")
            yield Known(_path(above), "part" if unit.kind in _HEADED else unit.kind, words)


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
    for row in read_rows(folder / "structure.jsonl"):
        path = folder / row["file"]
        text = path.read_text(encoding="utf-8")
        above: list[tuple[int, str]] = []
        known = []
        for unit in row["units"]:
            above = [held for held in above if held[0] < unit["level"]]
            words = words_of(_MARKUP.sub(" ", text[unit["start"] : unit["end"]]))
            known.append(Known(_path(above[-1][1]) if above else "", "part", tuple(words)))
            above.append((unit["level"], unit["heading"]))
        yield known, path if kind == "md" else converted(path, kind, made)


def converted(path: Path, kind: str, made: Path) -> Path | None:
    """A Markdown file in another format; None where no program here makes it."""
    target = made / f"{path.stem}.{kind}"
    if shutil.which("pandoc") is None or (kind == "pdf" and shutil.which("soffice") is None):
        return None
    first = target.with_suffix(".docx") if kind == "pdf" else target
    plain = ["--to", "plain"] if kind == "txt" else []
    convert = ["pandoc", "--standalone", "--quiet", *plain, str(path), "-o", str(first)]
    subprocess.run(convert, check=True)
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


def _tables(folder: Path, kind: str, made: Path) -> Iterator[tuple[list[Known], Path | None]]:
    """A standard of tables, and their rows."""
    drawn, known, written = random.Random(_SEED), [], ["# Standard for lamps"]
    for number in range(1, _TABLES + 1):
        title = f"Limits of class {number}"
        counted = _COUNTED[number % len(_COUNTED)].format(number, title)
        label = counted.removesuffix(title).rstrip(" :.—").capitalize()
        rows = [
            [f"Lamp {number}-{row}", f"{drawn.random():.3f}"]
            for row in range(drawn.randint(*_ROWS))
        ]
        table = ["| Part | Lux |", "|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
        parts = [[counted], table] if number % 3 else [table, [counted]]
        lead = [f"## {number} Class {number}", f"The limits of class {number} apply to lamps."]
        written += [*lead, *("\n".join(part) for part in parts)]
        for key, value in rows:
            known.append(Known(f"{label}, row {key}", "row", tuple(words_of(f"{key} {value}"))))
    path = made / "standard.md"
    path.write_text("\n\n".join(written), encoding="utf-8")
    yield known, path if kind == "md" else converted(path, kind, made)


def _asked(folder: Path, count: int) -> Iterator[Sequence[str]]:
    """Ask for sections by their headings; the share of them that is found, by wording."""
    rows = read_rows(folder / "structure.jsonl")
    gold = [(row["file"], unit) for row in rows for unit in row["units"]]
    alike = Counter(_path(unit["heading"]) for _, unit in gold)
    alone = [(f, u) for f, u in gold if u["level"] > 1 and alike[_path(u["heading"])] == 1]
    graph = build_graph(Resources(defaults=Settings(corpus=str(folder))))
    for form in _FORMS:
        found = marks = 0
        for file, unit in random.Random(_SEED).sample(alone, count):
            question = form.format(_bare(unit["heading"]))
            answer = graph.invoke({"messages": [("user", question)]})
            held = _section(folder / file, unit)
            for cited in answer["citations"][:1]:
                words = words_of(cited["quote"])
                own = sum(word in held for word in words) >= _OWN_WORDS * len(words)
                found += own and cited["document"] == file
            marks += _MARKUP.search(answer["answer"]) is not None
        yield form.format("X"), f"{found / count:.3f}", f"{marks / count:.3f}"


def _bare(heading: str) -> str:
    plain = re.sub(r"[*_`]+", "", heading)
    found = _NUMBER.match(plain)
    return plain[found.end() :] if found else plain


def _section(path: Path, unit: Row) -> set[str]:
    text = path.read_text(encoding="utf-8")[unit["start"] : unit["end"]]
    return set(words_of(_MARKUP.sub(" ", text))) | set(words_of(text))


_PAIRS = {
    "us_cfr": _laws,
    "gdpr": _laws,
    "policies": _policies,
    "contracts": _contracts,
    "tables": _tables,
}

if __name__ == "__main__":
    main()
