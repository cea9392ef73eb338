"""Web pages as they are shown, with their footnotes and the cells of their tables."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_document
from sets import rows, whole_text

from lexloop.documents.document import Document
from lexloop.documents.reading.text import printable

PAGE = whole_text("page.html")


read = partial(read_document, "the_law.html")


def test_a_page_is_read_as_it_is_shown() -> None:
    document = read(PAGE)
    assert document.text.split("\n") == [
        "The law",
        "An employer shall give notice.",
        "It is free.",
        "• One",
        *["1. one", "a. x", "4. four", "iii. three"],
        "Fees",
        "Item | Fee",
        "| 40 euros",
        "  kept",
        "as it is",
        "",
    ]
    assert document.title == "The law"
    assert document.headings == ((0, 1), (document.text.index("Fees"), 2))


FEES = "<table><tr><th>Item</th><th>Fee</th></tr><tr><td>Raft</td><td>4</td></tr></table>"
LAID_OUT = ["Menu", "5 Fees", "Rafts cost 4 crowns.", "Item | Fee", "Raft | 4"]


@pytest.mark.parametrize(
    "page",
    [
        # a page within a table: it holds another, or headings, or has one column
        f"<table><tr><td>Menu</td><td><p>5 Fees</p><p>Rafts cost 4 crowns.</p>{FEES}</td></tr>"
        "</table>",
        f"<table><tr><td>Menu</td><td><h2>5 Fees</h2><p>Rafts cost 4 crowns.</p></td></tr></table>"
        f"{FEES}",
        f"<table><tr><td>Menu</td></tr><tr><td>5 Fees</td></tr>"
        f"<tr><td>Rafts cost 4 crowns.</td></tr></table>{FEES}",
        f"<table role=presentation><tr><td>Menu</td><td>5 Fees</td></tr>"
        f"<tr><td>Rafts cost 4 crowns.</td></tr></table>{FEES}",
    ],
)
def test_a_table_that_only_lays_out_the_page_is_none(page: str) -> None:
    assert read(page).text.strip().split("\n") == LAID_OUT


def test_deep_and_broken_pages_are_read() -> None:
    assert read("<div>" * 3000 + "deep" + "</b></table>" * 10).text == "deep\n"
    assert read("a < b <p>c<table><td>d").text.split() == ["a", "<", "b", "c", "d"]


@given(st.lists(st.tuples(st.booleans(), st.text("ab§ \n\x07\xad", max_size=8)), max_size=8))
def test_headings_stand_where_their_offsets_say(blocks: list[tuple[bool, str]]) -> None:
    page = "".join(f"<h3>{text}</h3>" if is_h else f"<p>{text}</p>" for is_h, text in blocks)
    document = read(page + "<p>end</p>")
    assert len(document.headings) == sum(
        1 for is_h, text in blocks if is_h and any(c in "ab§" for c in text)
    )
    shown = [" ".join(printable(t).split()) for is_h, t in blocks if is_h]
    for (offset, level), heading in zip(document.headings, filter(None, shown), strict=True):
        assert level == 3
        assert document.text[offset:].startswith(heading + "\n")
    assert not set(document.text) & {"\x07", "\xad", "\r"}


def test_numbers_set_beside_paragraphs_in_a_table_are_put_in_front_of_them() -> None:
    rows = (
        "<table><tr><td><p>(a)</p></td><td><p>first, with:</p>"
        "<table><tr><td>(i)</td><td>inner;</td></tr></table></td></tr></table>"
        "<table><tr><td></td><td>(b)</td><td>second.</td></tr></table>"
    )
    document = read(f"<p class='ti-art'>Article 1</p><p>1. It is:</p>{rows}")
    lines = ["Article 1", "1. It is:", "(a) first, with:", "(i) inner;", "(b) second.", ""]
    assert document.text.split("\n") == lines
    labels = ["", "(1)", "(1)(a)", "(1)(a)(i)", "(1)(b)"]
    assert [unit.label for unit in document.tree.units] == [f"Article 1{one}" for one in labels]
    rows = "<table><tr><td>3.1.</td><td>Boats</td></tr><tr><td>3.2</td><td>Oars</td></tr></table>"
    assert read(rows).text == "3.1. Boats\n3.2 Oars\n"


def test_the_identifier_of_a_law_is_read_where_the_page_gives_one_of_a_known_kind() -> None:
    page = "<html><head>{}</head><body><p>Text.</p></body></html>"
    eli = "http://data.europa.eu/eli/reg/2016/679/oj"
    known = {
        f'<link rel="canonical" href="{eli}"/>': eli,
        '<meta property="eli:id_local" content="32016R0679"/>': "32016R0679",
        '<meta name="DC.Identifier" content="http://www.legislation.gov.uk/ukpga/2018/12"/>': (
            "http://www.legislation.gov.uk/ukpga/2018/12"
        ),
        '<link rel="canonical" href="https://example.org/news"/>': "",
        '<meta name="DC.identifier" content="page 7"/>': "",
    }
    found = {head: read(page.format(head)).metadata for head in known}
    assert {head: metadata.identifier for head, metadata in found.items()} == known
    assert not any(metadata.url or metadata.host for metadata in found.values())


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("ACT_7.xml", "ACT 7 of 2019 on rafts (Harbour Act)"),
        (" Act 7\n of 2019", "Act 7 of 2019"),
        ("", "ACT 7 of 2019 on rafts (Harbour Act)"),
    ],
)
def test_the_name_of_a_file_is_no_title(head: str, title: str) -> None:
    page = f"""<html><head><title>{head}</title></head><body><p>Gazette No 5</p>
    <p class="doc-ti">ACT 7 of 2019</p><p class="doc-ti">on rafts (Harbour Act)</p>
    <p>Rafts moor here.</p><h2>Fees</h2></body></html>"""
    assert read(page).title == title


def _read(body: str) -> Document:
    return read_document("rules.html", f"<html><body>{body}</body></html>")


def _hung(document: Document) -> list[tuple[str, str]]:
    """What stands before the mark of each footnote on its line, and the footnote."""
    text = document.text
    return [(text[:at].rpartition("\n")[2], text[a:b]) for at, a, b in document.notes]


_ROLE = """<p>No glass.<a href="#n1" id="r1" role="doc-noteref"><sup>1</sup></a> Shower first.</p>
<section role="doc-endnotes"><ol><li id="n1"><p>Bottles are allowed.
<a href="#r1">\u21a9</a></p></li></ol></section>"""
_BRACKETS = """<p>No glass.<a href="#n1" name="r1">[1]</a> Shower first.</p>
<div><p><a href="#r1" name="n1">[1]</a> Bottles are allowed.</p></div>"""
_RAISED = """<p>No glass.<sup>1</sup> Shower first.</p><p>Open daily.</p>
<p><sup>1</sup> Bottles are allowed.</p>"""


@pytest.mark.parametrize("body", [_ROLE, _BRACKETS, _RAISED])
def test_a_footnote_hangs_on_the_sentence_of_its_mark(body: str) -> None:
    document = _read(body)
    assert _hung(document) == [("No glass.", "Bottles are allowed.")]
    assert document.text.startswith("No glass. Shower first.\n[1] Bottles are allowed.\n")


def test_a_second_mark_of_a_note_is_left_out() -> None:
    second = '<p>No dogs.<sup id="r2"><a href="#n1">[1]</a></sup></p>'
    body = f'<p>No glass.<sup id="r1"><a href="#n1">[1]</a></sup></p>{second}'
    body += '<ol><li id="n1"><a href="#r1">^</a> Except in bags.</li></ol>'
    assert _read(body).text == "No glass.\n[1] Except in bags.\nNo dogs.\n"


@pytest.mark.parametrize(
    "body",
    [
        '<p>Fees <a id="t1" href="#a1">1</a></p><p id="a1"><a href="#t1">1</a> Fees are due.</p>',
        "<p>The pool has 250 m<sup>2</sup>.</p><p>Open daily.</p>",
        '<p>See section <a href="#s1">[1]</a>.</p><h2 id="s1">1. Fees</h2><p>They are due.</p>',
    ],
)
def test_other_links_and_raised_signs_stay(body: str) -> None:
    document = _read(body)
    assert document.notes == ()
    assert ("1" in document.text) or ("m2" in document.text)


@pytest.mark.parametrize(("rows", "text"), rows("page_tables"))
def test_each_row_has_a_cell_for_each_column(rows: str, text: str) -> None:
    assert read_document("fees.html", f"<table>{rows}</table>").text == text
