"""XML of law keeps the structure that it has: each vocabulary is compared unit by unit."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from reading import read_document

from lexloop.core.errors import CorpusError
from lexloop.documents.document import Document, SkippedSource
from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import Limits

LAWS = Path(__file__).parent / "laws"
UNITS: dict[str, list[str]] = json.loads((LAWS / "units.json").read_text("utf-8"))
"""The labels of the units of each vocabulary's file."""


def law(name: str) -> Document:
    return read_document(f"{name}.xml", (LAWS / f"{name}.xml").read_bytes())


def read(xml: str | bytes) -> list[Document | SkippedSource]:
    data = xml.encode() if isinstance(xml, str) else xml
    return list(read_bytes(data, "rules.xml", Limits()))  # type: ignore[arg-type]


def text_of(xml: str) -> str:
    return next(found.text for found in read(xml) if isinstance(found, Document))


def refused(xml: str | bytes) -> str:
    with pytest.raises(CorpusError) as caught:
        read(xml)
    return caught.value.what


@pytest.mark.parametrize("name", UNITS)
def test_the_tree_has_the_units_that_the_xml_has(name: str) -> None:
    tree = law(name).tree
    units = tree.units
    owned = [
        unit.label
        for place, unit in enumerate(units)
        if unit.number and all(units[above].label != unit.label for above in tree.above(place))
    ]
    assert owned == UNITS[name]


@pytest.mark.parametrize("name", UNITS)
def test_headings_definitions_and_notes_are_what_they_are(name: str) -> None:
    document = law(name)
    tree, text = document.tree, document.text
    defined = [unit.heading for unit in tree.units if unit.kind == "definition"]
    assert defined == ["ferry", "master", "deck hand"]
    assert {unit.heading for unit in tree.units if unit.kind == "provision"} > {"Life rafts"}
    notes = [place for place, unit in enumerate(tree.units) if unit.kind == "note" and unit.number]
    assert notes
    assert not any(map(tree.operative, notes))
    levels = dict(document.headings)
    lines = {text[at : text.index("\n", at)]: level for at, level in levels.items()}
    assert max(lines.values()) == (4 if name == "uslm" else 3)
    assert lines["Notes"] == 1


def test_metadata_deletions_and_contents_are_no_text() -> None:
    akoma_ntoso, uslm, clml = (law(name).text for name in ("akoma_ntoso", "uslm", "clml"))
    assert "more than twelve persons" in akoma_ntoso
    assert "not for readers" not in akoma_ntoso
    assert "199 STAT. 312" not in uslm
    assert "Chap." not in uslm
    assert "Contents" not in clml
    assert "substituted" not in clml
    assert "20210304" not in law("formex").text


def test_what_is_inserted_into_another_law_stands_in_the_line_that_inserts_it() -> None:
    assert "(a) in Article 8, the following is added: ‘3. Ferries go first.’;\n" in (
        law("akoma_ntoso").text
    )
    assert "(a) in Article 8, the following is added: ‘3. Ferries go first.’;\n" in (
        law("formex").text
    )
    assert (
        "at the end the following: “(d) Precedence. Ferries go first.”; and\n" in law("uslm").text
    )
    inserted = "insert— “8A. Precedence. (1) Ferries go first. (2) Tugs go last.”.\n"
    assert inserted in law("clml").text


def test_identifiers_titles_and_days_are_read() -> None:
    found = {name: law(name) for name in UNITS}
    assert {name: one.metadata.identifier for name, one in found.items()} == {
        "akoma_ntoso": "http://data.example.org/eli/reg/2021/14",
        "formex": "32021R0014",
        "uslm": "/us/usc/t90",
        "clml": "http://www.legislation.gov.uk/id/ukpga/2021/99",
    }
    assert [found[name].title for name in ("akoma_ntoso", "uslm", "clml")] == [
        "Regulation 14 of 2021 on ferries across the sound",
        "Title 90—FERRIES",
        "Ferries Act 2021",
    ]
    held = {name: one.metadata for name, one in found.items()}
    days = {name: (one.in_force_from, one.in_force_to) for name, one in held.items()}
    assert days["clml"] == (date(2022, 5, 1), date(2023, 1, 31))
    assert days["formex"] == (date(2022, 5, 1), None)
    assert days["akoma_ntoso"] == days["uslm"] == (None, None)


AKN = '<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act>{}</act></akomaNtoso>'


def test_numbers_stand_in_front_of_what_they_number() -> None:
    body = (
        "<body><part><num>2</num><heading>Fees</heading>"
        "<section><num>7.</num><content><p>Pay <b>in</b> <i>coins</i>.</p></content></section>"
        "<section><num>8.</num></section>"
        "<section><num>9.</num><subsection><num>(1)</num><content><p>One.</p></content></subsection>"
        "<subsection><num>(2)</num><heading>Two</heading><content><p>Twice.</p></content>"
        "</subsection></section></part></body>"
    )
    assert text_of(AKN.format(body)).splitlines() == [
        *("Part 2", "Fees", "7. Pay in coins.", "8.", "9. (1) One.", "(2) Two. Twice.")
    ]
    other = "<meta><identification><FRBRExpression><FRBRlanguage language='ita'/></FRBRExpression>"
    other += "</identification></meta>"
    assert text_of(AKN.format(other + body)).startswith("2 Fees\n")


def test_a_part_of_a_law_is_known_by_its_namespace() -> None:
    part = '<chapter xmlns="http://www.akomantoso.org/2.0"><num>1</num><heading>Fees</heading>{}</chapter>'
    section = (
        "<section><num>4.</num><heading>Coins</heading><content><p>Pay.</p></content></section>"
    )
    document = read_document("rules.xml", part.format(section))
    assert document.text == "Chapter 1\nFees\n4. Coins\nPay.\n"
    assert [unit.label for unit in document.tree.units if unit.number] == ["Chapter 1", "Section 4"]


def test_a_law_is_known_by_what_it_is_cited_as() -> None:
    law = '<pLaw xmlns="http://schemas.gpo.gov/xml/uslm/2.0"><meta><citableAs>{}</citableAs></meta>'
    law += "<main><p>Text.</p></main></pLaw>"
    for said, known in (("Public Law 199–1", "Public Law 199–1"), ("The Ferry Act", "")):
        document = read_document("rules.xml", law.format(said))
        assert document.metadata.identifier == known
    alias = '<FRBRalias value="Dogs By-law"/><FRBRuri value="/akn/za/act/1980/1"/>'
    named = f"<meta><identification><FRBRWork>{alias}</FRBRWork></identification></meta>"
    document = read_document("rules.xml", AKN.format(f"{named}<body><p>Text.</p></body>"))
    assert (document.title, document.metadata.identifier) == ("Dogs By-law", "/akn/za/act/1980/1")


def test_lists_show_the_numbers_that_their_kind_gives() -> None:
    clml = (
        '<Legislation xmlns="http://www.legislation.gov.uk/namespaces/legislation">{}</Legislation>'
    )
    item = "<ListItem><Para><Text>{}</Text></Para></ListItem>"
    listed = f'<OrderedList Type="alpha" Decoration="parens">{item.format("x")}{item.format("y")}'
    listed += f'</OrderedList><UnorderedList Decoration="bullet">{item.format("z")}</UnorderedList>'
    assert text_of(clml.format(listed)).splitlines() == ["(a) x", "(b) y", "• z"]
    dash = '<ACT><LIST TYPE="DASH"><ITEM><P>one</P></ITEM><ITEM><P>two</P></ITEM></LIST></ACT>'
    assert text_of(dash).splitlines() == ["– one", "– two"]
    schema = "http://formex.publications.europa.eu/schema/formex-05.55-20141201.xd"
    decision = '<DECISION xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    decision += f'xsi:noNamespaceSchemaLocation="{schema}"><NP><NO.P>1.</NO.P><TXT>a</TXT></NP>'
    assert [found.text for found in read(f"{decision}</DECISION>")] == ["1. a\n"]  # type: ignore[union-attr]
    plain = AKN.format("<body><ol><li>one</li><li value='3.'>three</li></ol></body>")
    assert text_of(plain).splitlines() == ["1. one", "3. three"]


def test_what_is_no_known_vocabulary_is_read_as_text_and_told() -> None:
    xml = "<TEI><text><head>Rules</head><p>Be <hi>kind</hi> to\n all.</p><lb/><p/></text></TEI>"
    told, document = read(xml)
    assert isinstance(document, Document)
    assert document.text == "Rules\nBe kind to all.\n"
    assert told == SkippedSource(
        "rules.xml",
        "Its vocabulary (TEI) is not known: its text is read, not its structure.",
        indexed=True,
    )


def test_bytes_are_decoded_as_they_say() -> None:
    xml = '<?xml version="1.0" encoding="{}"?><ACT><P>Fähre §</P></ACT>'
    for encoding in ("iso-8859-1", "utf-16", "utf-8"):
        document = read_document("rules.xml", xml.format(encoding).encode(encoding))
        assert document.text == "Fähre §\n"


LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><ACT><P>&b;</P></ACT>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><ACT><P>&x;</P></ACT>'


def test_entities_are_refused_and_nothing_is_fetched(tmp_path: Path) -> None:
    for xml in (LAUGHS, OUTSIDE, LAUGHS.encode("utf-16")):
        assert refused(xml) == "It declares XML entities."
    secret = tmp_path / "secret.xml"
    secret.write_text("<P>secret</P>")
    included = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{secret.as_uri()}"/>'
    styled = f'<?xml-stylesheet href="{secret.as_uri()}"?><ACT><P>Seen.</P>{included}</ACT>'
    assert text_of(styled) == "Seen.\n"
    dtd = f'<!DOCTYPE ACT SYSTEM "{secret.as_uri()}"><ACT><P>Seen.</P></ACT>'
    assert text_of(dtd) == "Seen.\n"


def test_what_nests_deep_ends() -> None:
    begun = monotonic()
    assert "not well-formed XML" in refused("<a>" * 100_000 + "deep" + "</a>" * 100_000)
    quotes = "<quotedStructure><p>x</p>" * 110 + "</quotedStructure>" * 110
    assert text_of(AKN.format(f"<body><p>Insert</p>{quotes}</body>")).count("x") == 110
    notes = "<authorialNote><p>n</p>" * 110 + "</authorialNote>" * 110
    assert text_of(AKN.format(f"<body><p>Word{notes}</p></body>")).startswith("Word (1)\n")
    assert monotonic() - begun < 30


def test_a_note_that_refers_to_itself_is_read_once() -> None:
    clml = (
        '<Legislation xmlns="http://www.legislation.gov.uk/namespaces/legislation">{}</Legislation>'
    )
    seen = '<FootnoteRef Ref="f1"/>'
    note = f'<Footnotes><Footnote id="f1"><Text>See {seen * 50}.</Text></Footnote></Footnotes>'
    text = text_of(clml.format(f"<Text>Pay{seen}.</Text>{note}"))
    assert text == f"Pay (1).\nNotes\nNote 1: See{' (1)' * 50}.\n"


@pytest.mark.parametrize(
    ("xml", "why"),
    [
        ("<ACT><P>cut", "not well-formed XML"),
        ("<ACT/>", "contains no text"),
        ("<ACT><P>&nbsp;</P></ACT>", "not well-formed XML"),
        (b"<ACT><P>\xff\xfe</P></ACT>", "not well-formed XML"),
    ],
)
def test_what_is_damaged_is_refused(xml: str | bytes, why: str) -> None:
    assert why in refused(xml)


WORDS = st.text("abc", min_size=1, max_size=3)
TREES = st.recursive(WORDS, lambda inner: st.tuples(st.sampled_from("pqr"), st.lists(inner)))


@settings(max_examples=examples(30))
@given(st.lists(TREES, min_size=1))
def test_every_word_is_read_once_and_in_its_order(parts: list[object]) -> None:
    def written(part: object) -> str:
        if isinstance(part, str):
            return f" {part} "
        name, inner = part  # type: ignore[misc]
        return f"<{name}>{''.join(map(written, inner))}</{name}>"

    xml = f"<rules>word {''.join(map(written, parts))}</rules>"
    bare = xml
    for mark in ("<p>", "</p>", "<q>", "</q>", "<r>", "</r>", "<rules>", "</rules>"):
        bare = bare.replace(mark, " ")
    assert text_of(xml).split() == bare.split()


@pytest.mark.usefixtures("own_data_folder", "reading_here")
def test_the_identifier_of_a_law_is_shown(run: Callable[..., Any]) -> None:
    shown = run("show", str(LAWS / "formex.xml")).stdout
    assert shown.splitlines()[0] == "formex.xml · 32021R0014"
