"""Footnotes, which belong to the sentence, the item or the row that they hang on."""

from functools import partial

from reading import read_document
from sets import whole_text

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import (
    statements,
    statements_in,
    statements_of_chunks,
    statements_text,
)
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree

RULES = whole_text("footnotes.md")


read = partial(read_document, "rules.md")


def hung(document: Document) -> list[tuple[str, str, list[str]]]:
    """The label, the words and the footnotes of each statement that has some."""
    return [
        (one.label, one.own, [document.text[slice(*span)] for span in one.notes])
        for one in statements(document.tree, document.text)
        if one.notes
    ]


def test_a_footnote_belongs_to_what_it_hangs_on() -> None:
    assert hung(read(RULES)) == [
        ("Section 1", "Gardeners must not light fires.", ["Fires are allowed\non 5 November."]),
        ("Section 2, row Small", "Plot: Small; Fee: 5 crowns", ["Widows pay nothing."]),
        ("Section 2", "Fees: The board may:", ["But not the last path."]),
        ("Section 2", "close a path,", ["But not the last path."]),
    ]


def test_a_footnote_is_a_statement_with_the_label_of_what_it_hangs_on() -> None:
    document = read(RULES)
    notes = [unit for unit in document.tree.units if unit.kind == "note"]
    labels = ["Section 1", "Section 2, row Small", "Section 2"]
    assert [unit.label for unit in notes] == labels
    said = {one.own: one.label for one in statements(document.tree, document.text)}
    assert said["Fires are allowed on 5 November."] == "Section 1"


def test_what_is_kept_has_the_footnotes() -> None:
    document = read(RULES)
    assert Tree.from_json(document.tree.to_json()) == document.tree
    held = statements_of_chunks(document, chunk_document(document))
    assert [one for found in held for one in found if one.notes]
    assert [statements_in(statements_text(found)) for found in held] == held
