"""Text read off pictures of pages: drawn here, and recognised for real."""

import io
import shutil
import struct
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from fpdf import FPDF
from PIL import Image
from scans import SAID, drawn, in_pdf, saved

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource, boxes_of, confidence_of
from lexloop.documents.reading.folder import hash_sources, list_sources
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.workers import read_files
from lexloop_formats import image, recognising, scan
from lexloop_formats.recognising import Word, bulleted

ENGINES = [
    pytest.param(
        "tesseract",
        marks=pytest.mark.skipif(not shutil.which("tesseract"), reason="no Tesseract here"),
    ),
    pytest.param(
        "rapidocr",
        marks=pytest.mark.skipif(not find_spec("rapidocr"), reason="needs lexloop-formats[ocr]"),
    ),
]


@pytest.fixture(autouse=True)
def _something_recognises(request: pytest.FixtureRequest) -> None:
    if not recognising.is_available():
        pytest.skip("needs lexloop-formats[ocr] or Tesseract")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one engine that is there."""
    if request.param == "tesseract":
        monkeypatch.setattr(recognising, "find_spec", lambda name: None)
    else:
        monkeypatch.setenv("PATH", "")
    return str(request.param)


def read(data: bytes, name: str) -> tuple[list[Document], list[str]]:
    found = list(read_bytes(data, name, Limits()))
    documents = [one for one in found if isinstance(one, Document)]
    return documents, [one.reason for one in found if isinstance(one, SkippedSource)]


def test_each_engine_reads_a_picture_with_the_places_of_its_words(engine: str) -> None:
    (document,), skipped = read(saved(drawn()), "harbour.png")
    assert (document.text, document.title, skipped) == (SAID, "Section 5. Dogs", [])
    assert document.tree.units[0].label == "Section 5"
    start = document.text.index("collar")
    (box,) = boxes_of(document, start, start + len("collar"))
    inked = boxed(drawn(), box[1:])
    assert box.page == 1
    # the word's ink, and not that of the words or the lines around it
    assert inked.getbbox() is not None
    assert abs(box.x1 - box.x0 - 80) < 20
    sure = confidence_of(document, start, start + 6)
    assert sure is not None
    assert 0.8 < sure <= 1


def boxed(page: Image.Image, box: tuple[float, ...]) -> Image.Image:
    """The part of a page in a box of points, white on black."""
    scale = max(page.size) / 842
    x0, y0, x1, y1 = (edge * scale for edge in box)
    return page.crop((int(x0), int(page.height - y1), int(x1), int(page.height - y0))).point(
        lambda shade: 255 * (shade < 128)
    )


@pytest.mark.parametrize("angle", [-3, 90])
def test_a_page_that_lies_askew_is_read_and_its_words_are_found_on_it(angle: float) -> None:
    page = drawn(angle=angle)
    (document,), _ = read(saved(page), "harbour.png")
    assert document.text == SAID
    start = document.text.index("euros")
    (box,) = boxes_of(document, start, start + 5)
    ink = boxed(page, box[1:]).histogram()[255]
    straight = boxed(
        drawn(), boxes_of(read(saved(drawn()), "a.png")[0][0], start, start + 5)[0][1:]
    )
    assert ink == pytest.approx(straight.histogram()[255], rel=0.25)


def test_pages_of_text_and_scanned_pages_of_a_pdf_are_one_document() -> None:
    data = in_pdf("Article 1 Cats are free.", drawn(), "Article 2 So are birds.")
    (document,), skipped = read(data, "law.pdf")
    assert document.text == f"Article 1 Cats are free.\n{SAID}Article 2 So are birds.\n"
    assert (document.pages, skipped) == ((0, 25, 25 + len(SAID)), [])
    assert confidence_of(document, 0, 24) is None
    assert confidence_of(document, 0, 40) == confidence_of(document, 25, 40) != None  # noqa: E711 - a chain
    (box,) = boxes_of(document, 25, 40)
    assert (box.page, round(box.x0 / 10)) == (2, 8)


def test_a_stamp_on_a_scan_does_not_hide_the_scan_and_a_text_layer_is_kept() -> None:
    made = FPDF(unit="pt", format=(550, 350))
    for stamp in ("FILED 7", "The court said this in the text of its file, at length. " * 5):
        made.add_page()
        made.image(drawn(), 0, 0, 550, 350)
        made.set_font("times", size=10)
        made.set_xy(20, 20)
        made.multi_cell(500, 12, stamp)
    (document,), _ = read(bytes(made.output()), "law.pdf")
    first, second = document.text[: document.pages[1]], document.text[document.pages[1] :]
    assert "Every dog must wear a collar" in first
    assert second.startswith("The court said this in the text of its file")
    assert "collar" not in second


def test_a_scan_of_many_pages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (image, scan):
        monkeypatch.setattr(module, "MOST_SCANS", 2)
    page = drawn(["Birds are free."]).resize((550, 350))
    data = saved(page, "TIFF", save_all=True, append_images=[page] * 30)
    (document,), skipped = read(data, "fax.tif")
    assert document.text == "Birds are free.\n" * 2
    assert skipped == ["It has 31 pages, of which the first 2 were read."]
    (document,), skipped = read(in_pdf(page, page, page, page), "fax.pdf")
    assert document.text == "Birds are free.\n" * 2
    assert skipped == ["Pages 3-4 of fax.pdf contain no text (images?). Only 2 are recognised."]


def test_a_scan_without_text_is_given_up_and_one_with_some_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages that show much and say nothing would take hours."""
    monkeypatch.setattr(scan, "_MOST_VAIN", 2)
    text, blank = drawn(), Image.new("L", (1100, 700), 255)
    made = io.BytesIO()
    text.save(made, "TIFF", save_all=True, append_images=[blank, text, blank, blank, text, text])
    (document,), skipped = read(made.getvalue(), "a.tif")
    assert document.text.split() == (SAID * 2).split()
    assert skipped == ["2 pages of a.tif were not tried: the 2 before them contain no text."]
    made = io.BytesIO()
    blank.save(made, "TIFF", save_all=True, append_images=[blank])
    with pytest.raises(CorpusError, match="None of its 2 pages holds text"):
        read(made.getvalue(), "a.tif")


def test_a_page_is_drawn_with_the_memory_that_reading_it_gets(tmp_path: Path) -> None:
    page = Image.new("RGBA", (7000, 7000), "white")
    page.paste(drawn().convert("RGBA").resize((7000, 4455)))
    (tmp_path / "law.png").write_bytes(saved(page, compress_level=1))
    files = hash_sources(tmp_path, list_sources(tmp_path)[0])[0]
    (loaded,) = read_files(files, Sidecars())
    assert ([one.text for one in loaded.documents], loaded.skipped) == ([SAID], ())
    few = Limits(recognising=Limits().memory)  # what it had before it was a scan is too little
    (loaded,) = read_files(files, Sidecars(), limits=few)
    assert (loaded.documents, len(loaded.skipped)) == ((), 1)


def test_without_an_engine_it_is_said_what_would_read_a_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recognising, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    needed = r"Reading pictures takes lexloop-formats\[ocr\], or Tesseract\."
    with pytest.raises(CorpusError, match=f"It is a picture. {needed}"):
        read(saved(drawn()), "harbour.png")
    with pytest.raises(
        CorpusError, match=rf"None of its 1 pages holds text \(images\?\). {needed}"
    ):
        read(in_pdf(drawn()), "law.pdf")
    _, (skipped,) = read(in_pdf("Cats.", drawn()), "law.pdf")
    assert skipped.startswith("Page 2 of law.pdf contains no text (an image?). Reading pictures")


def bomb(width: int, height: int) -> bytes:
    """A PNG that says how large it is, and no more."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(b"\x00" * 100)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(said)) + kind + said + struct.pack(">I", zlib.crc32(kind + said))
        for kind, said in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("name", "made", "why"),
    [
        ("a.png", lambda: bomb(10_000, 9_000), "10000 by 9000 pixels, more than 75000000"),
        ("a.png", lambda: saved(drawn())[:5000], "damaged image"),
        ("a.tif", lambda: b"II*\x00" + b"\xff" * 200, "damaged image"),
        ("a.png", lambda: saved(drawn(), "JPEG"), "By its content it is a JPEG image"),
        ("a.png", lambda: saved(Image.new("L", (300, 300), 255)), "holds text"),
        ("a.pdf", lambda: in_pdf(drawn(), size=(1_000_000, 14_000)), "holds text"),
    ],
)
def test_what_is_damaged_too_large_or_blank_is_refused(
    name: str, made: Callable[[], bytes], why: str
) -> None:
    with pytest.raises(CorpusError, match=why):
        read(made(), name)


def test_kinds_of_images_are_read_as_they_show() -> None:
    page = drawn()
    clear = Image.new("RGBA", page.size, (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), mask=page.point(lambda shade: 255 - shade))
    turned = page.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    for name, data in (
        ("clear.png", saved(clear)),
        ("deep.png", saved(page.convert("I").point(lambda shade: shade * 256).convert("I;16"))),
        ("photo.jpg", saved(turned, "JPEG", exif=exif)),
    ):
        text = read(data, name)[0][0].text  # blanks are not what is at stake here
        assert "".join(text.split()) == "".join(SAID.split()), name


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "law.pdf").write_bytes(in_pdf(drawn(), "Cats.", drawn(["Birds are free."])))
    return tmp_path


def test_workers_read_scans_page_by_page_and_tell_how_far_they_are(
    engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexloop.documents.reading.workers._PATIENCE", 0.01)
    told: list[tuple[str, int, int]] = []
    files = hash_sources(folder, list_sources(folder)[0])[0]
    (loaded,) = read_files(files, Sidecars(), lambda *step: told.append(step))
    assert loaded.skipped == ()
    assert loaded.documents[0].text == f"{SAID}Cats.\nBirds are free.\n"
    assert ("recognising", 1, 2) in told
    assert told[-1] == ("reading", 1, 1)


def test_a_page_that_takes_too_long_ends_its_file_alone(engine: str, folder: Path) -> None:
    files = hash_sources(folder, list_sources(folder)[0])[0]
    (loaded,) = read_files(files, Sidecars(), limits=Limits(page_seconds=0.01))
    assert [one.reason for one in loaded.skipped] == ["It took longer than 0.01 s."]


def test_signs_that_begin_lines_at_one_place_are_bullets() -> None:
    said = [(50, "e Rafts"), (53, "¢ Ships"), (200, "e alone"), (50, "e"), (50, "a boat")]
    said += [(80, "c Oars"), (80, "1 Sail")]
    lines = [
        [Word(word, x + 30 * n, 20 * row, x + 30 * n + 20, 20 * row + 12, 0.9) for n, word in words]
        for row, (x, line) in enumerate(said)
        for words in [list(enumerate(line.split()))]
    ]
    begun = [line[0].text for line in bulleted(lines)]
    assert begun == ["•", "•", "e", "e", "a", "c", "1"]


def test_words_without_a_blank_between_them_are_parted_where_the_ink_leaves_one() -> None:
    shades = np.full((40, 200), 255.0)
    for x in (*range(10, 50, 10), *range(62, 102, 10)):  # "nose" and "gone", a letter every 10
        shades[10:30, x : x + 8] = 0.0
    one = Word("nosegone", 10, 8, 102, 32, 0.9)
    nose, gone = recognising._parted(one, shades)
    assert (nose.text, nose.left, nose.right) == ("nose", 10, 47)
    assert (gone.text, gone.left, gone.right) == ("gone", 62, 102)
    whole = Word("nose", 10, 8, 50, 32, 0.9)
    assert recognising._parted(whole, shades) == [whole]
