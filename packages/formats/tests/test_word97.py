import io
import os
import shutil
import struct
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import docx
import pytest
from fake_engine import FakeEngine
from made_files import saved
from olefile import OleFileIO
from reading import read_document

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document
from lexloop.documents.reading.folder import hash_sources, list_sources
from lexloop.documents.reading.source import Limits
from lexloop.documents.reading.workers import request, start

needs_office = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="there is no LibreOffice (libreoffice-writer-nogui)"
)
Convert = Callable[[bytes, str, str], bytes]
_OFFICE_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink"'
)


@pytest.fixture(scope="module")
def convert(tmp_path_factory: pytest.TempPathFactory) -> Convert:
    """``convert(data, suffix, to)``: a file as LibreOffice, as it comes, saves it."""
    folder = tmp_path_factory.mktemp("office")

    def converted(data: bytes, suffix: str, to: str) -> bytes:
        source = folder / f"made.{suffix}"
        source.write_bytes(data)
        command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}"]
        command += ["--headless", "--convert-to", to, "--outdir", str(folder / "out"), str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return (folder / "out" / f"made.{to}").read_bytes()

    return converted


@pytest.fixture(scope="module")
def law(convert: Convert) -> bytes:
    word = docx.Document()
    word.add_heading("Services", 1)
    for text in ("care", "repairs"):
        word.add_paragraph(text, style="List Number")
    table = word.add_table(1, 2)
    for cell, text in zip(table.rows[0].cells, ("Audit", "50 €"), strict=True):
        cell.text = text
    word.add_paragraph("Not shown.").runs[0].font.hidden = True
    return convert(saved(word), "docx", "doc")


read = partial(read_document, "the_law.doc")


def refused(data: bytes) -> str:
    with pytest.raises(CorpusError) as raised:
        read(data)
    return raised.value.what


def ole(stream: str) -> bytes:
    """An older Office file with one empty stream."""
    free, end, fat = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<5H6x4I", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0)
    head += struct.pack("<5I109I", 4096, end, 0, end, 0, 0, *[free] * 108)
    table = struct.pack("<128I", fat, end, *[free] * 126)
    return head + table + _entry("Root Entry", 5, 1) + _entry(stream, 2, free) + bytes(256)


def _entry(name: str, kind: int, child: int) -> bytes:
    named = name.encode("utf-16-le")
    head = struct.pack("<64sHBB3I", named, len(named) + 2, kind, 1, *[0xFFFFFFFF] * 2, child)
    return head + bytes(36) + struct.pack("<I8x", 0xFFFFFFFE)


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        ("Workbook", "an Excel 97 workbook"),
        ("__properties_version1.0", "an Outlook message"),
        ("Else", "an encrypted or older Office file"),
    ],
)
def test_other_files_of_older_offices_are_refused_by_name(stream: str, kind: str) -> None:
    assert refused(ole(stream)) == f"By its content it is {kind}, though its name ends in .doc."


def test_without_libreoffice_the_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    told = refused(ole("WordDocument") + ole("Workbook"))  # what it embeds is none of its own
    assert told.startswith("It is read through LibreOffice, which is not here: install it")
    assert told.endswith("or save the file as .docx.")


@needs_office
def test_headings_numbers_and_tables_are_read_within_the_limits_of_a_worker(
    law: bytes, tmp_path: Path, load: Callable[[Path], tuple[list[Document], dict[str, str]]]
) -> None:
    (tmp_path / "law.doc").write_bytes(law)
    (document,), reasons = load(tmp_path)
    assert reasons == {}
    assert document.text == "Services\n1. care\n2. repairs\nAudit | 50 €\n"
    assert document.headings == ((0, 1),)


@needs_office
def test_what_is_encrypted_or_damaged_is_refused(law: bytes) -> None:
    with OleFileIO(io.BytesIO(law)) as file:
        begin = bytearray(file.openstream("WordDocument").read(12))
    encrypted = bytes([*begin[:11], begin[11] | 1])
    assert refused(law.replace(begin, encrypted, 1)) == "It is encrypted."
    broken = law[:512] + bytes(512) + law[1024:]
    assert "older Office file" in refused(broken)
    assert "older Office file" in refused(law[: len(law) // 3])


@needs_office
def test_a_document_that_links_elsewhere_asks_nobody(convert: Convert, tmp_path: Path) -> None:
    with FakeEngine() as elsewhere:
        data = convert(linking(f"http://{elsewhere.host}", tmp_path), "fodt", "doc")
        assert f"{elsewhere.host}/image.png".encode() in data
        elsewhere.asked.clear()
        convert(data, "doc", "rtf")
        assert "/image.png" in {path for _, path, _ in elsewhere.asked}  # as it comes it does ask
        elsewhere.asked.clear()
        assert read(data).text == "The law.\nAs it was.\nAs it was.\n"
        assert elsewhere.asked == []


def linking(address: str, folder: Path) -> bytes:
    """A document with a picture at an address, and sections from there and from a file."""
    secret = folder / "secret.txt"
    secret.write_text("A secret.")
    link = 'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"'
    image = f'<draw:image xlink:href="{address}/image.png" {link}/>'
    sections = "".join(
        f'<text:section text:name="{name}"><text:section-source xlink:href="{link}"/>'
        f"<text:p>As it was.</text:p></text:section>"
        for name, link in (("a", f"{address}/other.odt"), ("b", secret.as_uri()))
    )
    flat = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<office:document {_OFFICE_NAMES} office:version="1.2" '
        'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
        '<text:p>The law.</text:p><text:p><draw:frame draw:name="F" text:anchor-type="as-char" '
        'svg:width="5cm" svg:height="5cm">'
        f"{image}</draw:frame></text:p>{sections}</office:text></office:body></office:document>"
    )
    return flat.encode()


def running() -> set[str]:
    """The command lines of LibreOffice's processes that read for this user."""
    found: set[str] = set()
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = line.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "soffice" in said and "/lexloop-" in said:
            found.add(said)
    return found


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:
        os.sched_yield()
    return holds()


@needs_office
def test_it_ends_with_its_time_and_with_its_worker(
    law: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made := tmp_path / "made").mkdir()
    monkeypatch.setenv("TMPDIR", str(made))  # what a worker that is killed cannot remove
    before = running()
    with pytest.raises(CorpusError, match=r"longer than 0\.2 s"):
        read(law, Limits(seconds=0.2))
    assert running() <= before
    (tmp_path / "law.doc").write_bytes(law)
    (file,) = hash_sources(tmp_path, list_sources(tmp_path)[0])[0]
    worker = start(Limits())
    try:
        worker.send(request(file, (), Limits()))
        assert eventually(lambda: bool(running() - before))
    finally:
        worker.close()  # as one that takes too long is ended
    assert eventually(lambda: running() <= before)
