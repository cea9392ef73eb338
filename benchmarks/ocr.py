"""How well scans are read, and what is answered from them as from the text that they show.

    python benchmarks/ocr.py [--data DATA] [--pages N] [--asked N]

DATA is the folder of the published sets (default ``LEXLOOP_DATA``). The shortest of its policies,
of so many pages together, become PDFs by pandoc and LibreOffice, and these become scans: pictures
at 200 dots an inch, clean, turned by 2 degrees, or blurred, pale and noisy. By scan and by what
recognises: the letters that are wrong beside the PDF's own text (with its layout), the pages a
minute on two cores, and of so many sections and paragraphs asked for by their headings and first
words the share answered as from the text: by words of the same document, nine tenths alike.
"""

import io
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2
from _shared import DATA, options, table, timed
from PIL import Image, ImageFilter
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein
from reading import converted

from lexloop.core.folding import folded
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.reading.pdf import read
from lexloop.documents.reading.source import Limits, Loaded
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.store import scan
from lexloop_formats import recognising

_DPI, _SEED, _AS_FROM_TEXT, _OPENING, _WORDS = 200, 5, 90, 8, range(120, 700)
"""So many words of a policy make a page or two; by ``_OPENING`` words a paragraph is asked for."""
_HEADED, _OPENED = 'What does the section "{}" say?', 'What is said after "{}"?'
_QUOTES = str.maketrans("‘’“”", "''\"\"")


def _noisy(page: Image.Image) -> Image.Image:
    shades = np.asarray(page.filter(ImageFilter.GaussianBlur(1)), np.float64)
    noise = np.random.default_rng(_SEED).normal(0, 20, shades.shape)
    return Image.fromarray(np.clip(0.75 * shades + 45 + noise, 0, 255).astype(np.uint8))


_SCANS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "clean": lambda page: page,
    "turned": lambda page: page.rotate(2, Image.Resampling.BICUBIC, fillcolor=255),
    "noisy": _noisy,
}


def main() -> None:
    """Read every scan with everything that is here, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, required=DATA is None)
    parser.add_argument("--pages", type=int, default=16)
    parser.add_argument("--asked", type=int, default=80)
    given = parser.parse_args()
    if not recognising.is_available() or not (shutil.which("pandoc") and shutil.which("soffice")):
        sys.exit("This needs lexloop-formats[ocr] or Tesseract, and pandoc and LibreOffice.")
    with tempfile.TemporaryDirectory() as made:
        texts = _texts(given.data / "policies", given.pages, Path(made))
    pages = {name: _pictures(data) for name, (data, _) in texts.items()}
    count = sum(map(len, pages.values()))
    written = [document for _, document in texts.values()]
    questions = _questions(written, given.asked)
    wanted = _answered(written, questions)
    print(f"{len(texts)} policies, {count} pages, {len(questions)} questions\n")
    rows = []
    for kind, spoilt in _SCANS.items():
        files = {name: _pdf(list(map(spoilt, own))) for name, own in pages.items()}
        for name, engines in _engines().items():
            recognising._engines = lambda engines=engines: engines  # type: ignore[misc]
            with ThreadPoolExecutor(2) as pool:
                took, found = timed(lambda p=pool, f=files: list(p.map(_read, f, f.values())))
            wrong = _wrong(found, written)
            alike = _alike(_answered(found, questions), wanted)
            rate = f"{60 * count / took:.1f}"
            rows.append([kind, name, f"{wrong:.2%}", rate, f"{alike:.0%}"])
    head = ("scan", "recognised by", "wrong letters", "pages a minute", "answered as from the text")
    print(table(head, rows))


def _engines() -> dict[str, list[recognising.Engine]]:
    """What is here, alone and as it is used; RapidOCR is loaded before time is taken."""
    found: dict[str, list[recognising.Engine]] = {}
    if shutil.which("tesseract"):
        found["Tesseract"] = [recognising._tesseract]
    if find_spec("rapidocr"):
        recognising._reader()
        found["RapidOCR"] = [recognising._rapid]
    both = [engine for engines in found.values() for engine in engines]
    return found | ({"both": both} if len(both) > 1 else {})


def _texts(folder: Path, most: int, made: Path) -> dict[str, tuple[bytes, Document]]:
    """PDFs of the shortest policies, and what they say."""
    found: dict[str, tuple[bytes, Document]] = {}
    sizes = {path: len(path.read_text(encoding="utf-8").split()) for path in folder.glob("*.md")}
    for path in sorted((p for p, words in sizes.items() if words in _WORDS), key=sizes.__getitem__):
        pdf = converted(path, "pdf", made)
        assert pdf is not None
        data = pdf.read_bytes()
        document = _read(pdf.name, data)
        most -= len(document.pages)
        if most < 0:
            break
        found[document.name] = data, document
    return found


def _read(name: str, data: bytes) -> Document:
    found = read(data, name, Limits())
    documents = [one for one in found if isinstance(one, Document)]
    return documents[0] if documents else Document(name, name, "Nothing.")


def _pictures(data: bytes) -> list[Image.Image]:
    with pypdfium2.PdfDocument(data) as pdf:
        return [page.render(scale=_DPI / 72).to_pil().convert("L") for page in pdf]


def _pdf(pages: list[Image.Image]) -> bytes:
    made = io.BytesIO()
    pages[0].save(made, "PDF", resolution=_DPI, save_all=True, append_images=pages[1:])
    return made.getvalue()


def _wrong(found: Sequence[Document], written: Sequence[Document]) -> float:
    """The share of letters that differ, whatever the blanks and the forms of quotation marks."""
    pairs = [
        [" ".join(folded(one.text).translate(_QUOTES).split()) for one in both]
        for both in zip(found, written, strict=True)
    ]
    return sum(Levenshtein.distance(*pair) for pair in pairs) / sum(len(b) for _, b in pairs)


def _questions(documents: Sequence[Document], count: int) -> list[str]:
    """Questions for sections by their headings, and for paragraphs by their first words."""
    asked: set[str] = set()
    for document in documents:
        for unit in document.tree.units:
            words = document.text[unit.start : unit.end].split()
            if unit.heading and unit.parent >= 0:
                asked.add(_HEADED.format(unit.heading))
            elif not unit.heading and len(words) > 2 * _OPENING:
                asked.add(_OPENED.format(" ".join(words[:_OPENING])))
    return random.Random(_SEED).sample(sorted(asked), min(count, len(asked)))


def _answered(documents: Sequence[Document], questions: Sequence[str]) -> list[Any]:
    """The first citation of each answer from these documents; None where there is none."""
    held = {document.name: document for document in documents}

    def given(files: Sequence[Any], *_: object, **__: object) -> Any:
        yield from (Loaded(file, (held[file.name],), ()) for file in files)

    scan.read_files = given  # they were read already
    with tempfile.TemporaryDirectory() as folder:
        for document in documents:  # another content is another index
            (Path(folder) / document.name).write_text(document.text)
        graph = build_graph(Resources(defaults=Settings(corpus=folder)))
        answers = [graph.invoke({"messages": [("user", question)]}) for question in questions]
    return [next(iter(answer["citations"]), None) for answer in answers]


def _alike(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    pairs = [(one, other) for one, other in zip(found, wanted, strict=True) if other]
    good = sum(
        one is not None
        and one["document"] == other["document"]
        and fuzz.ratio(folded(one["quote"]), folded(other["quote"])) >= _AS_FROM_TEXT
        for one, other in pairs
    )
    return float(good / max(1, len(pairs)))


if __name__ == "__main__":
    main()
