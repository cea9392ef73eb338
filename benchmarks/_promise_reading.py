"""Files are read in a time that grows as they do, whatever they say.

``hostile.json`` has the fragments that files say again and again.
"""

import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.message import EmailMessage
from time import process_time
from typing import NamedTuple

from _promise_hostile import FRAGMENTS
from _shared import Line

from lexloop.core.errors import CorpusError
from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements_of_chunks
from lexloop.documents.document import Document
from lexloop.documents.reading.formats import FORMATS, IMAGES, read_bytes, reader
from lexloop.documents.reading.source import Limits

_SIZE, _TIMES, _LEAST_S, _MOST = 2000, 4, 0.005, 8.0
"""Four times the text takes four times as long, and sixteen times where the time is quadratic."""
_AGAIN = 3
_CELL = 40
_PAGES = 8
"""A page of a PDF says this often what another file says: a table is looked for in 200 rows."""


class _Case(NamedTuple):
    """A file that says a fragment again and again: ``made`` gives one of so many characters."""

    suffix: str
    fragment: str
    made: Callable[[str], bytes] = str.encode


def held() -> Iterator[Line]:
    """Read files of one fragment each, in every format, at one size and at four times that."""
    warnings.simplefilter("ignore")
    ratios = {f"{case.suffix} of {case.fragment!r}": _least_ratio(case) for case in _cases()}
    worst = max(ratios, key=ratios.__getitem__)
    grown = [name for name, ratio in ratios.items() if ratio > _MOST]
    read = {reader(case.suffix).__name__ for case in _cases()}
    yield Line(
        f"a file {_TIMES} times as long is read in less than {_MOST:g} times the time, "
        f"in {len(read)} formats",
        f"{len(ratios)} files of {_SIZE:,} and {_TIMES * _SIZE:,} characters, "
        f"worst x{ratios[worst]:.1f} ({worst}){'; grew: ' + ', '.join(grown) if grown else ''}",
        # LibreOffice makes a .docx of a .doc, and a picture's text is as long as it looks
        not grown
        and read >= {reader(one).__name__ for one in FORMATS if one not in (".doc", *IMAGES)},
    )


def _cases() -> Iterator[_Case]:
    spoken = (*FRAGMENTS["signs"], *FRAGMENTS["numbered"])
    for fragment in (*spoken, *FRAGMENTS["markdown"], *FRAGMENTS["markup"]):
        yield _Case(".md", fragment)
    for fragment in (*spoken, "<!---->"):
        yield _Case(".txt", fragment)
    for fragment in (*FRAGMENTS["markup"], *(f"<p>{one}" for one in FRAGMENTS["numbered"])):
        yield _Case(".html", fragment)
    for fragment in FRAGMENTS["markup"][::2]:
        yield _Case(".htm", f"<ol><li>{fragment}")
    for fragment in spoken[::4]:
        yield _Case(".jsonl", fragment, lambda text: json.dumps({"text": text}).encode())
        yield _Case(".zip", fragment, lambda text: _zipped({"x.txt": text, "metadata.csv": text}))
        yield _Case(".zip", f"file,title\n{fragment}", lambda text: _zipped({"metadata.csv": text}))
        yield _Case(".csv", f"{fragment},{fragment}\n")
        yield _Case(".xlsx", fragment, _workbook)
        yield _Case(".pptx", fragment, _slides)
        yield _Case(".eml", f"{fragment} ", lambda text: bytes(_message(text)))
        yield _Case(".msg", f"{fragment} ", _outlook)
    for fragment in ("> ", "(", "=?utf-8?q?a?= ", "a@b, ", "Content-Type: multipart/mixed\n"):
        yield _Case(".eml", fragment, lambda text: f"From: {text}\nTo: {text}\n\n{text}".encode())
    for suffix, kind, made in (
        (".docx", "word", _word),
        (".odt", "opendocument", _opendocument),
        (".xml", "law", lambda text: f"<ACT>{text}</ACT>".encode()),
        (".rtf", "rich", lambda text: f"{{\\rtf1 {text}}}".encode()),
        (".pdf", "drawn", lambda text: _pdf(text * _PAGES)),
    ):
        for fragment in FRAGMENTS[kind]:
            yield _Case(suffix, fragment, made)
    for fragment in FRAGMENTS["markup"][::4]:
        yield _Case(".epub", fragment, _book)


def _least_ratio(case: _Case) -> float:
    """How many times longer the longer file takes; the least of some, for what else there is.

    It is 0 where both take next to no time.
    """
    least = _MOST + 1
    for _ in range(1 + _AGAIN):
        short, long = (_seconds(case, size) for size in (_SIZE, _TIMES * _SIZE))
        least = min(least, long / max(short, _LEAST_S / _TIMES) if long > _LEAST_S else 0.0)
        if least <= _MOST:
            break
    return least


def _seconds(case: _Case, size: int) -> float:
    """What it takes to read a file up to the statements of its chunks; a refusal is right too."""
    data = case.made(f"x {case.fragment * (size // len(case.fragment))} x")
    begun = process_time()
    with suppress(CorpusError):
        for one in read_bytes(data, f"x{case.suffix}", Limits()):
            if isinstance(one, Document):
                statements_of_chunks(one, chunk_document(one))
    return process_time() - begun


def _zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def _workbook(text: str) -> bytes:
    """Return a workbook whose rows say a text, as many words in each cell as columns in a row."""
    import xlsxwriter

    file = io.BytesIO()
    book = xlsxwriter.Workbook(file)
    sheet = book.add_worksheet()
    for number in range(0, len(text), _CELL):
        sheet.write_row(number // _CELL, 0, [text[number : number + _CELL], "of it"])
    book.close()
    return file.getvalue()


def _slides(text: str) -> bytes:
    """Return a presentation of one slide, whose paragraphs say a text."""
    from pptx import Presentation

    file, show = io.BytesIO(), Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.placeholders[1].text = "\n".join(
        text[at : at + _CELL] for at in range(0, len(text), _CELL)
    )
    show.save(file)
    return file.getvalue()


def _message(text: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", "A"
    message.set_content(text)
    return message


def _outlook(text: str) -> bytes:
    from aspose.email_foss.msg.mapi_message import MapiMessage

    return bytes(MapiMessage.from_email_message(_message(text)).to_bytes())


def _book(page: str) -> bytes:
    """Return a book of one page."""
    kind = 'media-type="application/xhtml+xml"'
    package = f'<package><item id="x" href="x.xhtml" {kind}/><itemref idref="x"/></package>'
    container = '<container><rootfile full-path="x.opf"/></container>'
    return _zipped({"META-INF/container.xml": container, "x.opf": package, "x.xhtml": page})


def _word(body: str) -> bytes:
    """Return a Word file whose body is a text of elements, those that were opened closed again."""
    from docx import Document as new_document
    from lxml import etree

    parser = etree.XMLParser(recover=True, huge_tree=True)
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    root = etree.fromstring(f'<w:body xmlns:w="{name}">{body}</w:body>', parser)
    file, document = io.BytesIO(), new_document()
    for element in root:
        document.element.body.insert(0, element)
    document.save(file)
    return file.getvalue()


def _opendocument(body: str) -> bytes:
    """Return an OpenDocument text of such elements, those that were opened closed again."""
    from lxml import etree

    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table")
    )
    content = f"<office:document-content{names}><office:body><office:text>{body}"
    root = etree.fromstring(content, etree.XMLParser(recover=True, huge_tree=True))
    kind = "application/vnd.oasis.opendocument.text"
    return _zipped({"mimetype": kind, "content.xml": etree.tostring(root, encoding="unicode")})


def _pdf(drawn: str) -> bytes:
    """Return a PDF, whose table is left out, of one page with such operators in its text."""
    content = f"BT /F1 11 Tf 14 TL 72 720 Td {drawn.removeprefix('x ').removesuffix(' x')} ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources"
        " << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
    )
    made = "".join(f"{number} 0 obj\n{one}\nendobj\n" for number, one in enumerate(objects, 1))
    return f"%PDF-1.4\n{made}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n%%EOF\n".encode()
