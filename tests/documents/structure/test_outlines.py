"""Provisions in many layouts, by their numbers: outlines, bare paragraphs, recitals, own names."""

import pytest
from sets import DATA, blocks, rows

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import Document
from lexloop.documents.structure.own_name import own_name
from lexloop.documents.structure.parse import parse

OUTLINES = blocks("outlines")
NAMED = ("provision", "definition", "table", "note")


@pytest.mark.parametrize("title", OUTLINES)
def test_every_provision_has_its_label_and_its_heading(title: str) -> None:
    text, outline = OUTLINES[title]
    if text.startswith("laws/"):
        text = (DATA / text.strip()).read_text("utf-8")
    assert [
        f"{unit.label} | {unit.heading}" if unit.heading not in unit.label else unit.label
        for unit in Document("d.txt", "d", text).tree.units
        if unit.label and (unit.number or unit.kind in NAMED)
    ] == outline


@pytest.mark.parametrize(("text", "expected"), rows("provisions"))
def test_each_numbered_paragraph_is_a_provision(text: str, expected: list[str]) -> None:
    tree = parse(text)
    numbered = {unit.label for unit in tree.units if unit.kind == "provision" and unit.number}
    said = [f"{one.label}: {one.text}" for one in statements(tree, text) if one.label in numbered]
    assert said == expected
    assert bool(numbered) == bool(expected)


def test_a_title_above_the_first_paragraph_is_not_its_heading() -> None:
    tree = parse("LEASE\n\n1. The rent is 700 crowns.\n\n2. The oven is swept.\n")
    assert [(unit.kind, unit.heading) for unit in tree.units if unit.kind != "text"] == [
        ("part", "LEASE"),
        ("provision", ""),
        ("provision", ""),
    ]


HEAD = "REGULATION 2031/7 OF THE COUNCIL\n\nHaving regard to the Treaty,\n"
SAID = (
    "The tides of the sound are strong.",
    "It is necessary to warn the skippers of small boats.",
    "This Regulation respects the rights of the ports.",
)
TAIL = (
    "HAS ADOPTED THIS REGULATION:\n\nArticle 1\nLamps\n\nEach port shall keep a lamp.\n\n"
    "Article 2\nFees\n\n1. The fee is 3 crowns.\n\n2. Boats of the port are free.\n"
)
OPENINGS = (
    "Whereas:\n\n",
    "WHEREAS\n\n",
    "Acting in accordance with the ordinary legislative procedure, Whereas:\n\n",
    "Acting in accordance with the ordinary legislative procedure,\nWhereas:\n",
    "Acting in accordance with the procedure,\nwhere-\nas:\n",
    "Whereas: ",
    "After consulting the ports, whereas: ",
    "Considering the following:\n\n",
    "for the reasons that are given here\n\n",
    "RECITALS\n\n",
    "Background\n",
    "",
)


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("opening", OPENINGS)
@pytest.mark.parametrize("mark", ["({})", "{}."])
def test_recitals_are_known_by_their_run_and_support(mark: str, opening: str, between: str) -> None:
    counted = between.join(f"{mark.format(n)} {said}" for n, said in enumerate(SAID, 1))
    text = f"{HEAD}\n{opening}{counted}\n\n{TAIL}"
    document = Document("d.txt", "d", text)
    units = [unit for unit in document.tree.units if unit.kind == "recital"]
    assert [unit.label for unit in units] == ["Recital 1", "Recital 2", "Recital 3"]
    for unit, said in zip(units, SAID, strict=True):
        assert said in text[unit.start : unit.end]
    supporting = {c["section"] for c in chunk_document(document) if c.get("supporting")}
    assert supporting == {"Recital 1", "Recital 2", "Recital 3"}
    labels = {unit.label for unit in document.tree.units if unit.kind == "provision"}
    assert labels == {"Article 1", "Article 2"}


@pytest.mark.parametrize(("title", "text", "name"), rows("own_names"))
def test_a_document_calls_itself_by_a_word_behind_this(title: str, text: str, name: str) -> None:
    assert own_name(text, title) == name
