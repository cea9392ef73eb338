from functools import partial

import pytest
from made_files import zipped
from reading import read_document

from lexloop.core.errors import CorpusError

NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        *(("office", "office"), ("style", "style"), ("text", "text"), ("table", "table")),
        ("draw", "drawing"),
    )
)
LEVEL = '<text:list-level-style-number text:level="{}" style:num-format="{}" {}/>'
LEGAL = (
    '<text:list-style style:name="L1">'
    + LEVEL.format(1, "1", 'style:num-suffix="."')
    + LEVEL.format(2, "a", 'style:num-prefix="(" style:num-suffix=")"')
    + LEVEL.format(3, "1", 'text:display-levels="3"')
    + "</text:list-style>"
    + '<text:list-style style:name="L2">'
    + LEVEL.format(1, "I", 'style:num-prefix="Part "')
    + '<text:list-level-style-bullet text:level="2" text:bullet-char="-"/></text:list-style>'
)
OUTLINE = (
    '<text:outline-style style:name="Outline">'
    '<text:outline-level-style text:level="1" style:num-format="1" style:num-prefix="Article "/>'
    '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    '<text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>'
)


def odt(body: str, styles: str = "", common: str = "", **parts: str) -> bytes:
    """An OpenDocument text: its body, the styles beside it, and those of its styles.xml."""
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    held = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": content,
        "styles.xml": f"<office:document-styles {NAMES}><office:styles>{common}</office:styles>"
        "</office:document-styles>",
        **parts,
    }
    return zipped(held)


read = partial(read_document, "the_law.odt")


def lines(body: str, styles: str = "", common: str = "") -> list[str]:
    return read(odt(body, styles, common)).text.splitlines()


def p(text: str, style: str = "") -> str:
    return f'<text:p text:style-name="{style}">{text}</text:p>'


def h(level: int, text: str, more: str = "") -> str:
    return f'<text:h text:outline-level="{level}" {more}>{text}</text:h>'


def listed(style: str, *items: str, more: str = "") -> str:
    named = f'text:style-name="{style}"' if style else ""
    held = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
    return f"<text:list {named} {more}>{held}</text:list>"


def test_lists_have_the_numbers_that_libreoffice_shows() -> None:
    deep = listed("", p("deep"), p("deeper"))
    body = listed("L1", p("one") + p("more"), p("two") + listed("", p("a"), p("b") + deep))
    body += listed("L2", p("part") + listed("", p("bullet")))
    assert lines(body, LEGAL) == [
        *("1. one", "more", "2. two", "(a) a", "(b) b", "2.b.1 deep", "2.b.2 deeper"),
        *("Part I part", "• bullet"),
    ]
    labels = {unit.label for unit in read(odt(body, LEGAL)).tree.units}
    assert {"Section 1", "Section 2(b)"} <= labels


def test_a_list_goes_on_or_begins_anew_as_it_says() -> None:
    goes_on = 'text:continue-numbering="true"'
    body = (
        listed("L1", p("one"), p("two"), more='xml:id="first"')
        + listed("L1", p("anew"))
        + listed("L1", p("next"), more=goes_on)
        + listed("L2", p("between"))
        + listed("L1", p("not the same"), more=goes_on)
        + listed("L1", p("three"), more='text:continue-list="first"')
        + listed("L1", listed("", p("a"))).replace(
            "<text:list-item><text:p", '<text:list-item text:start-value="7"><text:p'
        )
        + "<text:list text:style-name='L1'><text:list-header>"
        + p("no number")
        + "</text:list-header></text:list>"
        + listed("L1", p("x") + listed("", p("y"), p("z")) + p("of x") + listed("", p("y again")))
    )
    assert lines(body, LEGAL) == [
        *("1. one", "2. two", "1. anew", "2. next", "Part I between", "1. not the same"),
        *("3. three", "(g) a", "no number", "1. x", "(a) y", "(b) z", "of x", "(a) y again"),
    ]


def test_the_format_that_libreoffice_writes_is_shown_as_it_stands() -> None:
    names = "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"
    level = f'xmlns:loext="{names}" loext:num-list-format="'
    style = (
        '<text:list-style style:name="L3">'
        + LEVEL.format(1, "I", f'{level}Title %1%:"')
        + LEVEL.format(2, "01, 02, 03, ...", f'{level}§ %1%-%2%"')
        + "</text:list-style>"
    )
    assert lines(listed("L3", p("x") + listed("", p("y"))), style) == ["Title I: x", "§ I-01 y"]


def test_headings_have_their_levels_and_the_numbers_of_the_outline() -> None:
    body = (
        h(1, "Scope")
        + h(2, "Where")
        + p("Text.")
        + h(2, "When")
        + h(3, "Of no number")
        + h(1, "Remarks", 'text:is-list-header="true"')
        + h(1, "Fees", 'text:restart-numbering="true" text:start-value="7"')
        + listed("L1", h(2, "In a list"))
    )
    document = read(odt(body, LEGAL, OUTLINE))
    assert document.text.splitlines() == [
        *("Article 1 Scope", "1.1 Where", "Text.", "1.2 When", "Of no number", "Remarks"),
        *("Article 7 Fees", "1. In a list"),
    ]
    assert [level for _, level in document.headings] == [1, 2, 2, 3, 1, 1, 2]
    assert {"Article 1", "Article 7"} <= {unit.label for unit in document.tree.units}


def test_what_is_deleted_hidden_or_said_beside_the_text_is_left_out() -> None:
    hidden = '<style:style style:name="{}" style:family="{}">' + (
        '<style:text-properties text:display="none"/></style:style>'
    )
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion>"
        + p("Deleted.")
        + "</text:deletion></text:changed-region></text:tracked-changes>"
        + p('The fee<text:s text:c="2"/>is<text:tab/>50<text:line-break/>euros<!-- x -->.')
        + p('Open<text:span text:style-name="H"> and hidden</text:span>.')
        + p("Hidden.", "PH")
        + p('<text:hidden-paragraph text:is-hidden="true"/>Hidden by a field.')
        + '<text:section text:display="none">'
        + p("Hidden section.")
        + "</text:section><text:section>"
        + p("Shown <text:page-number>3</text:page-number>.")
        + "</text:section>"
        + p(f"Noted<office:annotation>{p('A comment.')}</office:annotation> so.")
        + p(f"Box: <draw:frame><draw:text-box>{p('inside')}</draw:text-box></draw:frame>")
    )
    styles = hidden.format("H", "text") + hidden.format("PH", "paragraph")
    assert lines(body, styles) == [
        *("The fee is 50 euros.", "Open.", "Shown 3.", "Noted so.", "Box: inside")
    ]


def test_tables_are_rows_and_notes_stand_behind_what_they_belong_to() -> None:
    note = "<text:note><text:note-citation>{}</text:note-citation><text:note-body>{}"
    note += "</text:note-body></text:note>"
    cell, covered = "<table:table-cell {}>{}</table:table-cell>", "<table:covered-table-cell/>"
    rows = (
        cell.format("", p("Item"))
        + cell.format('table:number-columns-spanned="2"', p("Fee"))
        + covered,
        cell.format('table:number-rows-spanned="2"', listed("L1", p("Audit")))
        + cell.format("", p("40" + note.format(1, p("Net.") + p("Per day."))))
        + cell.format("", ""),
        covered + cell.format("", p("50")) + cell.format("", p("late")),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    body = f"<table:table>{table}</table:table>"
    body += listed(
        "L1", p("Next" + note.format("i", p("End."))), more='text:continue-numbering="true"'
    )
    assert lines(body, LEGAL) == [
        *("Item | Fee", "1. Audit | 40 |", "[1] Net. Per day.", "1. Audit | 50 | late"),
        *("2. Next", "[i] End."),
    ]


MANIFEST = {"META-INF/manifest.xml": "<manifest:encryption-data/>"}
ENTITY = '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'
DEEP = "<text:section>" * 5000 + p("x") + "</text:section>" * 5000


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (odt(p("x"), **MANIFEST), "It is encrypted"),
        (odt("", **{"content.xml": ENTITY}), r"content\.xml declares XML entities"),
        (odt(DEEP), "damaged OpenDocument text .*[Dd]epth"),
        (odt(p("x" * 20_000_000)), "as a bomb does"),
        (odt(""), "contains no text"),
    ],
)
def test_what_is_damaged_or_hostile_is_refused_by_name(data: bytes, reason: str) -> None:
    with pytest.raises(CorpusError, match=reason):
        read(data)


def test_styles_in_a_circle_and_levels_that_are_none_are_read() -> None:
    style = '<style:style style:name="{}" style:family="paragraph" style:parent-style-name="{}"/>'
    circle = style.format("A", "B") + style.format("B", "A")
    levels = f'<text:list-style style:name="L1">{LEVEL.format(99, "1", "")}</text:list-style>'
    assert lines(listed("L1", p("x", "A"), p("y")), circle + levels) == ["x", "y"]
