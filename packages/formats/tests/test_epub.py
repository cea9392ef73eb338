from collections.abc import Iterator

import pytest
from made_files import zipped

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits

CONTAINER = """<?xml version="1.0"?><container version="1.0"
 xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
 <rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/>
 </rootfiles></container>"""
OPF = """<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>House  rules</dc:title>
 <dc:identifier>urn:isbn:9780000000002</dc:identifier><dc:language>en</dc:language></metadata>
 <manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
 <item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
 <item id="one" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>
 <item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>{items}</manifest>
 <spine><itemref idref="cover"/><itemref idref="nav"/><itemref idref="two"/><itemref idref="one"/>
 <itemref idref="one"/>{refs}</spine></package>"""
PAGE = """<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{}</body></html>"""
PAGES = {
    "OPS/cover.xhtml": PAGE.format('<img src="cover.png" alt=""/>'),
    "OPS/nav.xhtml": PAGE.format("<nav><ol><li>Fees</li></ol></nav><p>Table of places</p>"),
    "OPS/text/one a.xhtml": PAGE.format("<h1>2. Fees</h1><p>Pay €3.</p><ol><li>Cash</li></ol>"),
    "OPS/text/two.xhtml": PAGE.format("<h1>1. Scope</h1><p>For all.</p><h2>Guests</h2><p>Too.</p>"),
}


def book(
    items: str = "", refs: str = "", more: dict[str, str] | None = None, without: str = ""
) -> bytes:
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": OPF.format(items=items, refs=refs),
        **PAGES,
        **(more or {}),
    }
    return zipped({name: text for name, text in parts.items() if name != without})


def read(data: bytes, limits: Limits | None = None) -> list[Document | SkippedSource]:
    found = read_bytes(data, "house.epub", limits or Limits())
    return [one for one in found if isinstance(one, Document | SkippedSource)]


def document_of(data: bytes) -> Document:
    return next(one for one in read(data) if isinstance(one, Document))


def told(data: bytes) -> list[str]:
    found = [one for one in read(data) if isinstance(one, SkippedSource)]
    assert all(one.indexed and one.name == "house.epub" for one in found)
    return [one.reason for one in found]


def refused(data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(CorpusError) as caught:
        read(data, limits)
    assert caught.value.hint
    return caught.value.what


def test_pages_are_read_in_the_order_of_the_spine() -> None:
    (document,) = read(book())
    assert isinstance(document, Document)
    assert document.text == "1. Scope\nFor all.\nGuests\nToo.\n2. Fees\nPay €3.\n1. Cash\n"
    assert document.title == "House rules"
    assert document.metadata.identifier == "urn:isbn:9780000000002"
    lines = [(document.text[at:].split("\n")[0], level) for at, level in document.headings]
    assert lines == [("1. Scope", 1), ("Guests", 2), ("2. Fees", 1)]


def test_what_is_missing_elsewhere_or_no_text_is_told() -> None:
    item = '<item id="{0}" href="{1}" media-type="{2}"/>'
    page = "application/xhtml+xml"
    items = [
        ("far", "https://example.org/far.xhtml", page),
        ("out", "../../etc/passwd", page),
        ("gone", "gone.xhtml", page),
        ("drawn", "text/two.svg", "image/svg+xml"),
    ]
    refs = "".join(f'<itemref idref="{name}"/>' for name in ("far", "out", "gone", "drawn", "nil"))
    made = book("".join(item.format(*one) for one in items), refs, {"OPS/text/two.svg": "<svg/>"})
    assert told(made) == [
        "Its page 'https://example.org/far.xhtml' lies elsewhere; nothing is fetched.",
        "Its page '../../etc/passwd' leads out of the book.",
        "Its page 'gone.xhtml' is missing.",
        "Its page 'text/two.svg' is no text but image/svg+xml.",
        "It names a page 'nil' that it lacks.",
    ]
    assert document_of(made).text == document_of(book()).text


ENCRYPTED = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>
 <enc:CipherReference URI="{}"/></enc:CipherData></enc:EncryptedData></encryption>"""


def test_encrypted_pages_are_refused_and_obfuscated_fonts_are_not() -> None:
    named = "META-INF/encryption.xml"
    made = book(more={named: ENCRYPTED.format("OPS/text/one%20a.xhtml")})
    assert refused(made) == "Its page OPS/text/one a.xhtml is encrypted."
    assert document_of(book(more={named: ENCRYPTED.format("OPS/fonts/serif.otf")})).text


def _damaged() -> Iterator[tuple[bytes, str]]:
    whole = book()
    yield whole[: len(whole) // 2], "damaged archive"
    yield book(without="META-INF/container.xml"), "By its content it is a zip archive"
    yield book(without="OPS/book.opf"), "it lacks 'OPS/book.opf'"
    yield book(more={"META-INF/container.xml": "<container/>"}), "it lacks ''"
    yield book(more={"OPS/book.opf": "<package>"}), "not well-formed XML"
    yield book(more={name: PAGE.format("") for name in PAGES}), "contains no text"


@pytest.mark.parametrize(("data", "why"), [*_damaged()])
def test_what_is_damaged_is_refused(data: bytes, why: str) -> None:
    assert why in refused(data)


def test_bombs_and_entities_are_refused() -> None:
    limits = Limits(archive_free=1 << 20)
    assert "as a bomb does" in refused(book(more={"OPS/zeros": "0" * (8 << 20)}), limits)
    laughs = '<!DOCTYPE html [<!ENTITY a "ha">]><html><body><p>&a;</p></body></html>'
    for name in ("META-INF/container.xml", "OPS/book.opf", "OPS/text/two.xhtml"):
        assert refused(book(more={name: laughs})) == f"Its part {name} declares XML entities."
    deep = PAGE.format("<div>" * 20_000 + "deep" + "</div>" * 20_000)
    assert "deep\n" in document_of(book(more={"OPS/text/two.xhtml": deep})).text
