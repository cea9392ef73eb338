"""Statements: items with the words that lead into them, whole references, and footnotes."""

import re
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reading import read_document
from sets import rows, whole_text

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import (
    statements,
    statements_in,
    statements_in_text,
    statements_of_chunks,
    statements_text,
)
from lexloop.documents.document import Document
from lexloop.documents.structure.parse import parse
from lexloop.documents.structure.tree import Tree

LAWS = Path(__file__).parents[2] / "data" / "laws"


def stated(text: str) -> list[tuple[str, str]]:
    tree = Document("d", "d", text).tree
    return [(s.label, s.text) for s in statements(tree, text)]


def test_an_item_stands_with_all_the_words_that_lead_into_it() -> None:
    text = (LAWS / "act.txt").read_text(encoding="utf-8")
    found = dict(stated(text))
    assert found["Section 3(2)(c)(ii)"] == (
        "The register must state, for each plot— the name of— any person who shares the plot,"
    )
    assert found['Section 2(1) "plot"'] == (
        "In this Act— “plot” means a piece of land let to one person;"
    )
    assert found["Section 3(2)"] == "and must be kept up to date."


def test_a_list_is_a_statement_from_its_first_word_to_its_last_point() -> None:
    text = (
        "Article 1\nFees\n1. A fee is due. It covers:\n(a) water;\n(b) light, namely:\n(i) gas;\n"
    )
    whole, first, _, inner, gas = statements(Document("d", "d", text).tree, text)
    assert text[whole.start : whole.end].startswith("1. A fee is due.")
    assert (whole.points, first.points, inner.points) == (2, 0, 1)
    assert whole.end == inner.end == len(text) - 1
    assert (inner.label, inner.text) == ("Article 1(1)(b)", "It covers: light, namely:")
    assert gas.text == "It covers: light, namely: gas;"


REFERENCES = (
    *("Article 31", "Section 4.2(a)", "paragraph 2", "Annex IV", "§ 7", "Art. 5", "No. 12"),
    *("Nr. 3", "15 U.S.C. 45", "Chapter II", "point (b)"),
)

HANGING = re.compile(
    r"(?:Article|Section|paragraph|Annex|§|Art\.|Chapter|N[or]\.|point|U\.S\.C\.)$"
)

ENDINGS = ("The owner must pay the fee set in {}.", "A berth is let as written in {}.")

sentences = st.lists(
    st.tuples(st.sampled_from(ENDINGS), st.sampled_from(REFERENCES)), min_size=1, max_size=4
)


@given(sentences, st.integers(0, 60), st.sampled_from(("", "1. ", "Article 1\nFees\n\n")))
@example([(ENDINGS[0], "Article 31")] * 2, 9, "")
@example([(ENDINGS[0], "No. 12")] * 2, 9, "1. ")
def test_a_reference_is_whole_on_however_many_lines(
    chosen: list[tuple[str, str]], cut: int, lead: str
) -> None:
    said = [form.format(reference) for form, reference in chosen]
    words = " ".join(said).split(" ")
    cut = min(cut, len(words))
    text = f"{lead}{' '.join(words[:cut])}\n{' '.join(words[cut:])}\n" if cut else lead + said[0]
    quoted = [text[one.start : one.end] for one in statements(parse(text), text)]
    assert [piece for piece in quoted if HANGING.search(piece)] == []


@pytest.mark.parametrize(("text", "said"), rows("headings_run_in"))
def test_a_heading_that_runs_into_a_provision_is_no_statement(text: str, said: list[str]) -> None:
    text = f"{text}\n2. The gate is closed at ten.\n3. The lamp is lit at six.\n"
    found = [one.own for one in statements_in_text(text)]
    assert found[: len(said)] == said


@pytest.mark.parametrize(("text", "expected"), rows("statements"))
def test_what_a_text_states(text: str, expected: list[list[str]]) -> None:
    """Headings, labels and bare lead-ins state nothing; a lone conjunction ends its point."""
    assert [[label, words] for label, words in stated(text)] == expected


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
