"""Word files as they show: paragraphs, tables, notes, and the numbers of their lists."""

import re
from functools import partial
from typing import Any

import docx
import pytest
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given
from hypothesis import strategies as st
from made_files import repacked, saved
from reading import read_document

from lexloop.core.errors import CorpusError
from lexloop.documents.reading.numbering import BULLET, LEVELS, Counter, Level, pieces
from lexloop.documents.reading.text import numeral

read = partial(read_document, "the_law.docx")


@pytest.fixture
def law() -> Any:
    word = docx.Document()
    word.add_heading("Local law", 1)
    word.add_paragraph("An employer\tshall give notice.")
    table = word.add_table(3, 2)
    for row, texts in enumerate((("Item", "Fee"), ("Audit", "40"), ("", "50"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    word.add_heading("Scope", 2)
    word.add_paragraph("It applies to all.")
    return word


def test_paragraphs_and_tables_are_read_in_their_order(law: Any) -> None:
    document = read(saved(law))
    assert document.text.split("\n") == [
        "Local law",
        "An employer shall give notice.",
        "Item | Fee",
        "Audit | 40",
        "Audit | 50",
        "Scope",
        "It applies to all.",
        "",
    ]
    assert document.headings == ((0, 1), (document.text.index("Scope"), 2))
    assert document.title == "Local law"


def test_inserted_text_is_read_and_deleted_text_is_not() -> None:
    word = docx.Document()
    paragraph = word.add_paragraph("The fee is ")
    for mark, text in (("del", "<w:delText>40</w:delText>"), ("ins", "<w:t>50 </w:t>")):
        xml = f'<w:{mark} {nsdecls("w")} w:id="1"><w:r>{text}</w:r></w:{mark}>'
        paragraph._p.append(parse_xml(xml))
    paragraph.add_run("euros.")
    content = f"<w:sdt {nsdecls('w')}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p>"
    word.element.body.insert(1, parse_xml(content + "</w:sdtContent></w:sdt>"))
    assert read(saved(word)).text == "The fee is 50 euros.\nIn a control.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_with_external_entities_is_refused(law: Any, encoding: str) -> None:
    def attack(xml: bytes) -> bytes:
        text = xml.decode().split("?>", 1)[1]
        entity = '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>'
        opening = f'<?xml version="1.0" encoding="{encoding}"?>'
        return (opening + entity + text.replace("Scope", "&y;")).encode(encoding)

    data = repacked(saved(law), "word/document.xml", attack)
    with pytest.raises(CorpusError, match=r"word/document\.xml declares XML entities"):
        read(data)


def test_damaged_and_empty_documents_are_told(law: Any) -> None:
    data = saved(law)
    half = len(data) // 2
    for damaged in (data[:half], data[:half] + data[half + 9 :]):
        with pytest.raises(CorpusError, match="damaged Word document"):
            read(damaged)
    with pytest.raises(CorpusError, match="damaged Word document"):
        read(repacked(data, "word/document.xml", lambda xml: xml[:200]))
    with pytest.raises(CorpusError, match="contains no text"):
        read(saved(docx.Document()))


_LEVELS = (
    ("decimal", "%1."),
    ("decimal", "%1.%2"),
    ("lowerLetter", "(%3)"),
    ("lowerRoman", "(%4)"),
)


def outline(word: Any) -> None:
    """Add a list of several levels."""
    numbering = word.part.numbering_part.element
    levels = "".join(
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{shown}"/></w:lvl>'
        for depth, (kind, shown) in enumerate(_LEVELS)
    )
    for xml in (
        f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90">{levels}</w:abstractNum>',
        f'<w:num {nsdecls("w")} w:numId="90"><w:abstractNumId w:val="90"/></w:num>',
    ):
        numbering.append(parse_xml(xml))


def add(word: Any, text: str, depth: int) -> None:
    numbered = f"<w:numPr {nsdecls('w')}><w:ilvl w:val='{depth}'/><w:numId w:val='90'/></w:numPr>"
    word.add_paragraph(text)._p.get_or_add_pPr().append(parse_xml(numbered))


def test_hidden_text_is_left_out_and_footnotes_stand_behind_their_paragraph() -> None:
    word = docx.Document()
    paragraph = word.add_paragraph("The fee is 50 euros.")
    paragraph.add_run(" Not shown.").font.hidden = True
    word.add_paragraph("It is due.")
    names = f"{nsdecls('w')}"
    note = '<w:r><w:footnoteReference w:id="7"/></w:r>'
    for paragraph in word.paragraphs:  # a note that is referred to twice, as by itself
        paragraph._p.append(parse_xml(note.replace("<w:r>", f"<w:r {names}>")))
    text = f"<w:p><w:r><w:t>See Law 12.</w:t></w:r>{note}</w:p>"
    xml = f'<w:footnotes {names}><w:footnote w:id="7">{text}</w:footnote></w:footnotes>'
    kind = CONTENT_TYPE.WML_FOOTNOTES
    part = Part(PackURI("/word/footnotes.xml"), kind, xml.encode(), word.part.package)
    word.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    assert read(saved(word)).text == "The fee is 50 euros.\n[1] See Law 12.\nIt is due.\n"


def test_a_merged_cell_is_counted_once_and_its_text_repeated() -> None:
    word = docx.Document()
    outline(word)
    table = word.add_table(3, 2)
    cell = table.cell(0, 0).merge(table.cell(1, 0))
    cell.paragraphs[0].text = "Services"
    numbered = f"<w:numPr {nsdecls('w')}><w:ilvl w:val='0'/><w:numId w:val='90'/></w:numPr>"
    cell.paragraphs[0]._p.get_or_add_pPr().append(parse_xml(numbered))
    for row, text in enumerate("abc"):
        table.cell(row, 1).text = text
    add(word, "Scope", 0)
    assert read(saved(word)).text == "1. Services | a\n1. Services | b\n| c\n2. Scope\n"


def test_an_outline_is_numbered_level_by_level_and_starts_anew_below_each() -> None:
    word = docx.Document()
    outline(word)
    for depth, text in enumerate(("Services", "Scope", "care", "law")):
        add(word, text, depth)
    for depth, text in ((2, "time"), (1, "Price"), (0, "Term"), (1, "Start")):
        add(word, text, depth)
    document = read(saved(word))
    assert document.text == (
        "1. Services\n1.1 Scope\n(a) care\n(i) law\n(b) time\n1.2 Price\n2. Term\n2.1 Start\n"
    )
    labels = [unit.label for unit in document.tree.units]
    assert labels[3] == "Section 1.1(a)(i)"
    assert labels[-1] == "Section 2.1"


def test_a_deleted_clause_is_not_counted() -> None:
    word = docx.Document()
    outline(word)
    for text in ("Services", "Price", "Notices", "Term"):
        add(word, text, 0)
    for place, mark in ((1, "del"), (2, "moveFrom")):
        paragraph = word.paragraphs[place]._p
        (run,) = paragraph.r_lst
        gone = parse_xml(f'<w:{mark} {nsdecls("w")} w:id="{place}"/>')
        run.addprevious(gone)
        gone.append(run)
        if mark == "del":
            for text in gone.iter(f"{{{gone.nsmap['w']}}}t"):
                text.tag = text.tag[:-1] + "delText"
    assert read(saved(word)).text == "1. Services\n2. Term\n"


def test_a_paragraph_whose_end_is_deleted_goes_on_with_the_next() -> None:
    word = docx.Document()
    outline(word)
    for text in ("No dogs ", "and no cats.", "Term"):
        add(word, text, 0)
    properties = word.paragraphs[0]._p.get_or_add_pPr()
    properties.append(parse_xml(f'<w:rPr {nsdecls("w")}><w:del w:id="1"/></w:rPr>'))
    assert read(saved(word)).text == "1. No dogs and no cats.\n2. Term\n"


def test_a_deleted_row_is_left_out(law: Any) -> None:
    row = law.tables[0].rows[1]._tr
    row.get_or_add_trPr().append(parse_xml(f'<w:del {nsdecls("w")} w:id="1"/>'))
    assert "Audit" not in read(saved(law)).text.split("Item | Fee")[1].split("\n")[1]


PLACE = re.compile(r"%(\d)")


def level(kind: str, shown: str, **more: int) -> Level:
    return Level(kind, pieces(shown, PLACE), **more)


LEGAL = {
    0: level("I", "Article %1."),
    1: level("01", "Section %1.%2"),
    2: level("aa", "(%3)"),
    3: level(BULLET, "o"),
}


def test_a_level_counts_on_and_begins_anew_below_another() -> None:
    counter = Counter()
    assert [counter.number(LEGAL, depth) for depth in (0, 1, 1, 2, 3, 2, 0, 1, 2)] == [
        *("Article I.", "Section I.01", "Section I.02", "(a)", "•", "(b)"),
        *("Article II.", "Section II.01", "(a)"),
    ]


def test_a_level_may_count_through_those_above_it_and_show_digits_alone() -> None:
    levels = {0: LEGAL[0], 1: Level("1", pieces("%1.%2", PLACE), plain=True, restart=0)}
    counter = Counter()
    shown = [counter.number(levels, depth) for depth in (0, 1, 1, 0, 1)]
    assert shown == ["Article I.", "1.1", "1.2", "Article II.", "2.3"]


def test_a_number_that_is_not_shown_takes_what_joins_it_along() -> None:
    levels = {0: level("", "Part"), 1: level("1", "%1.%2."), 2: level("a", "%1-%2-%3")}
    counter = Counter()
    assert [counter.number(levels, depth) for depth in (0, 1, 2, 7)] == ["Part", "1.", "1-a", ""]


def test_any_sign_of_a_list_is_a_bullet_but_a_blank_one() -> None:
    levels = {0: level(BULLET, "\uf0b7"), 1: level(BULLET, "-"), 2: level(BULLET, " ")}
    assert [Counter().number(levels, depth) for depth in (0, 1, 2)] == ["•", "•", ""]


def test_a_list_may_start_at_any_number_and_be_set_to_one() -> None:
    levels = {0: level("1", "%1.", start=0), 1: level("1", "%1.%2", start=5)}
    counter = Counter()
    assert counter.number(levels, 1) == "0.5"
    assert counter.number(levels, 0) == "0."
    counter.restart(0, 12)
    assert [counter.number(levels, depth) for depth in (0, 1)] == ["12.", "12.5"]
    other = counter.below(1)
    assert [other.number(levels, 1), counter.number(levels, 1)] == ["12.5", "12.6"]


@pytest.mark.parametrize(
    ("value", "kind", "shown"), [(27, "aa", "aa"), (28, "AA", "BB"), (0, "aa", "0")]
)
def test_letters_behind_z(value: int, kind: str, shown: str) -> None:
    assert numeral(value, kind) == shown


@given(st.lists(st.integers(0, 8)))
def test_no_number_comes_twice_where_no_level_is_left_out(wanted: list[int]) -> None:
    levels = {
        depth: level("1", ".".join(f"%{place}" for place in range(1, depth + 2)))
        for depth in range(LEVELS - 1)
    }
    counter, depth, shown = Counter(), -1, []
    for other in wanted:
        depth = min(depth + 1, other)
        shown.append(counter.number(levels, depth))
    assert len(set(shown)) == len(shown)
