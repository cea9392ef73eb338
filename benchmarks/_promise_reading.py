"""Files are read as they are shown, and in a time that grows as they do, whatever they say."""

import io
import json
import re
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

from _promise import Line

from lexloop.core.errors import CorpusError
from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements_of_chunks
from lexloop.documents.document import Document, SkippedSource, in_part, span_in_file
from lexloop.documents.reading.formats import SUFFIXES, read_bytes
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.source import Limits

_SIGNS = (
    *(" ", "\n", "\t", "a", "A", "1", "é", "-", "=", "#", "*", "_", "`", "~", ">", "<", "|", "&"),
    *("[", "]", "(", ")", '"', "“", ".", ",", ";", ":", "!", "\\", "$", "§", "{", "…", " \n"),
    *("a\n", "a ", "A ", "1 ", "A. ", "a.\n", "A\n", "a\n\n", "1\n", "x.y ", "- ", "* ", "> "),
    *("a  \n",),
)
_MARKUP = (
    *("<!--", "<!---->", "<!-- -->\n", "--><!--", "<![CDATA[", "<?xml ", "</", "</p>", "<p>"),
    *("<b>", "<div>", "<span class=", '<a href="', "<table>", "<tr>", "<td>", "<li>", "<ol>"),
    *("<x ", "<h1>", "<ul><li>", "<table><tr><td>", "<table><tr><td>(a)</td><td>", "<ol><li>a"),
    *("<pre>", "<br>", "<p class='title'>", "<span class=title>a", "<h1>a", "<td>a", "<caption>"),
    *("<style>", "<svg>", "<tr><td>a</td><td>b</td></tr>", "<ol><li>a</li>", "<blockquote>"),
    *("<title>a", "<script>", "&amp;", "&nbsp", "&#", "&#x41;", "&sect;", "<meta charset="),
)
_MARKDOWN = (
    *("**", "**a", "**a* ", "*a_ ", "__a", "a**", "***a ", "_a ", "`a", "``a` ", "```\n", "~~~\n"),
    *("[a", "[a](", "[a](b", "![", "![a](", "[[", "[a]: b\n", "[a]: ", "[a][", "[^1]"),
    *("[^1]: a\n", "> > ", ">a\n", "- - ", "- a\n", "* a\n\n", "1. a\n", "1) ", "1. 1. "),
    *("  - a\n", "    a\n", "# ", "# a\n", "## a\n\n", "a\n===\n", "a\n---\n", "***\n", "| "),
    *("|a|b\n", "|-", "a | b\n", "|a|\n|-|\n", "<http:", "<a@b.c>", "http://a.b ", "\\\\", "((a"),
    *("](b", "<a>[", "*[", "<b>**", "---\na: b\n", "---\n", "a: b\n", "a: [", "...\n", "%%", "$$"),
    *(":::\n", "<!-- x -->[", "<i>a"),
)
_NUMBERED = (
    *("(a) ", "(i) a;\n", "(1) a\n", "1. A\n", "1.1 A\n", "1.1.1. ", "A. B\n", "A.1 ", "a) "),
    *("A:\n", "Article 1\n", "Article 1. A. ", "Section 1 ", "§ 1 ", "§ 1.\n", "Chapter I\n"),
    *("PART 1\nA\n", "Annex I\n", "Schedule 1\n", "Contents\n", "Contents\na.... 1\n"),
    *("a ..... 1\n", ". . . 1\n", "“a” means b;\n", '"a" means ', "Table 1\n| a | b |\n"),
    *("Note 1: a\n", "see §§ 1, ", "[1 FR 1, ", "Article 1(1)(a) and ", "Whereas:\n(1) a\n"),
    *("Done at A\n", "EXCEPTION 1: ", "(Added ", "or\n", "Exception. A ", "the ", "No. ", "e.g. "),
    *("A Big Act (BA) ", "(1)(a)(i) ", "5 Offences\n", "2.5 % of a\n", "Section 2 and Section 3 "),
    *("1.\nA\n", "****\n*a*\n", "=====\n", "a   b   c\n", "A\n-----\n\n", "a\tb\n"),
    *("**********\n", "A:\n(a) b;\n"),
)
_SPOKEN = (*_SIGNS, *_NUMBERED)
_WORD = (
    *("<w:p/>", "<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<w:ins>", "<w:tbl><w:tr><w:tc>"),
    *("<w:tr><w:tc><w:p/></w:tc></w:tr>", "<w:tab/>", "<w:p><w:r><w:t>1. A</w:t></w:r></w:p>"),
)
_DRAWN = (
    *("(a) Tj ", "(a) Tj T* ", "(A. ) Tj T* ", "((a)) Tj T* ", "(a) Tj 5 0 Td "),
    *("(a) Tj 0 -5 Td ", "(a b) Tj 1 1 Td ", "(a-) Tj T* "),
    *("(1.) Tj 200 0 Td (a) Tj -200 -14 Td ", "() Tj ", "q "),
    *("(a) Tj 200 0 Td (b) Tj 200 0 Td (c) Tj -400 -14 Td ",),
    *("/F1 9 Tf (a) Tj /F1 11 Tf (b) Tj T* ",),
)
_SIZE, _TIMES, _LEAST_S, _MOST = 2000, 4, 0.005, 8.0
"""Four times the text takes four times as long, and sixteen times where the time is quadratic."""
_AGAIN = 3
_PAGES = 8
"""A page of a PDF says this often what another file says: a table is looked for in 200 rows."""
_RULES = """# The *harbour*

<a id="dues"></a>**Dues** are [paid](#pay) on <b>arrival</b> &sect; 5\\*<br>
by ![pier](p.png)owners[^1].

- _ropes_
  * `hemp`
> # and ~~tar~~

| **a** | b |
|---|---|

<!-- none --><div><i>c</i></div>

[^1]: Of 1990.
"""
_SHOWN = (
    "The harbour Dues are paid on arrival § 5* by pierowners. • ropes ◦ hemp and tar "
    "| a | b | c Of 1990."
)


class _Case(NamedTuple):
    """A file that says a fragment again and again: ``made`` gives one of so many characters."""

    suffix: str
    fragment: str
    made: Callable[[str], bytes]


def held() -> Iterator[Line]:
    """Read files of one fragment each, in every format, at one size and at four times that."""
    warnings.simplefilter("ignore")
    yield _rendered()
    yield _parts()
    cases, worst, where, grown = [*_cases()], 0.0, "", list[str]()
    for case in cases:
        ratio = _ratio(case)
        for _ in range(_AGAIN if ratio > _MOST else 0):  # for what else the machine did
            ratio = min(ratio, _ratio(case))
        if ratio > worst:
            worst, where = ratio, f"{case.suffix} of {case.fragment!r}"
        if ratio > _MOST:
            grown.append(f"{case.suffix} {case.fragment!r} x{ratio:.1f}")
    yield Line(
        f"a file {_TIMES} times as long is read in less than {_MOST:g} times the time, "
        f"in {len({case.suffix for case in cases})} formats",
        f"{len(cases)} files of {_SIZE:,} and {_TIMES * _SIZE:,} characters, "
        f"worst x{worst:.1f} ({where}){'; grew: ' + ', '.join(grown) if grown else ''}",
        not grown and {case.suffix for case in cases} >= {*SUFFIXES},
    )


def _rendered() -> Line:
    """Read Markdown with each of its marks, and compare with what its reader sees."""
    (document,) = read_bytes(_RULES.encode(), "rules.md", Limits())
    assert isinstance(document, Document)
    shown = " ".join(document.text.split())
    signs = [sign for sign in ("**", "](", "<", "&", "`", "~~", "[^", "#") if sign in shown]
    words = [word for word in re.finditer(r"\w+", document.text) if word[0] in _RULES]
    spans = [span_in_file(document, *word.span()) for word in words]
    astray = [
        w[0] for w, at in zip(words, spans, strict=True) if not at or _RULES[slice(*at)] != w[0]
    ]
    return Line(
        "Markdown is read as it is shown, and each word has its place in the file",
        f"{len(signs)} marks left, {len(astray)} of {len(words)} words astray: {shown!r}",
        shown == _SHOWN and not astray,
    )


def _parts() -> Line:
    """Tell of a file that gave a document and of one that gave none."""
    missing = [
        SkippedSource("a.pdf", "Page 2 holds no text."),
        SkippedSource("b.pdf", "It is empty."),
    ]
    skipped = [one.name for one in in_part(missing, ["a.pdf"]) if not one.indexed]
    return Line("a file read in part is not skipped", f"skipped: {skipped}", skipped == ["b.pdf"])


def _cases() -> Iterator[_Case]:
    for fragment in (*_SPOKEN, *_MARKDOWN, *_MARKUP):
        yield _Case(".md", fragment, str.encode)
    for fragment in (*_SPOKEN, "<!---->"):
        yield _Case(".txt", fragment, str.encode)
    for fragment in (*_MARKUP, *(f"<p>{one}" for one in _NUMBERED)):
        yield _Case(".html", fragment, str.encode)
    for fragment in _MARKUP[::2]:
        yield _Case(".htm", f"<ol><li>{fragment}", str.encode)
    for fragment in _SPOKEN[::4]:
        yield _Case(".jsonl", fragment, lambda text: json.dumps({"text": text}).encode())
        yield _Case(".zip", fragment, lambda text: _zipped({"x.txt": text, "metadata.csv": text}))
        yield _Case(".csv", f"file,title\n{fragment}", str.encode)
    for fragment in _WORD:
        yield _Case(".docx", fragment, _word)
    for fragment in _DRAWN:
        yield _Case(".pdf", fragment, lambda text: _pdf(text * _PAGES))


def _ratio(case: _Case) -> float:
    """Return how many times longer the longer file takes; 0 where both take next to no time."""
    short, long = (_seconds(case, size) for size in (_SIZE, _TIMES * _SIZE))
    return long / max(short, _LEAST_S / _TIMES) if long > _LEAST_S else 0.0


def _seconds(case: _Case, size: int) -> float:
    data = case.made(f"x {case.fragment * (size // len(case.fragment))} x")
    begun = time.process_time()
    _read(data, f"x{case.suffix}")
    return time.process_time() - begun


def _read(data: bytes, name: str) -> None:
    """Read a file up to the statements of its chunks; a refusal is right too."""
    if name.endswith(".csv"):
        Sidecars().add(data, "metadata.csv", lambda _: False)
        return
    try:
        for one in read_bytes(data, name, Limits()):
            if isinstance(one, Document):
                statements_of_chunks(one, chunk_document(one))
    except CorpusError:
        return


def _zipped(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def _word(body: str) -> bytes:
    """Return a Word file whose body is a text of elements, those that were opened closed again."""
    from docx import Document as new_document
    from lxml import etree

    parser = etree.XMLParser(recover=True, huge_tree=True)
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    root = etree.fromstring(f'<w:body xmlns:w="{name}">{body}</w:body>', parser)
    file = io.BytesIO()
    document = new_document()
    for element in root:
        document.element.body.insert(0, element)
    document.save(file)
    return file.getvalue()


def _pdf(drawn: str) -> bytes:
    """Return a PDF of one page with such operators between the beginning and end of its text."""
    content = f"BT /F1 11 Tf 14 TL 72 720 Td {drawn.removeprefix('x ').removesuffix(' x')} ET"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources"
        " << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
    )
    body, offsets = "%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()
