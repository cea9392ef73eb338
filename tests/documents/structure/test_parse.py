"""The tree of a text beside its outline: what rules, what is out of order, and where words lie."""

from itertools import pairwise

import pytest
from sets import DATA, blocks

from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import broken_references, named_places
from lexloop.documents.structure.markers import page_numbers
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree

OUTLINES = blocks("outlines")


def tree_of(text: str, headings: tuple[tuple[int, int], ...] = ()) -> Tree:
    return Document("d.txt", "d", text, headings=headings).tree


def law(name: str) -> tuple[str, Tree]:
    text = (DATA / "laws" / name).read_text(encoding="utf-8")
    return text, tree_of(text)


def test_recitals_notes_contents_and_signatures_rule_nothing() -> None:
    text, tree = law("directive.txt")
    said = ("moorings", "Done at", "The President", "pay the fee")
    assert [tree.operative(tree.at(text.index(words))) for words in said] == [False] * 3 + [True]
    assert law("act.txt")[1].units[1].kind == "contents"


def test_a_preamble_without_numbers_rules_nothing() -> None:
    text = "Preamble\nEverybody must share what they have.\nSection 1. Rowing\nBoats are rowed.\n"
    tree = tree_of(text, headings=((0, 1), (text.index("Section"), 1)))
    assert not tree.operative(tree.at(text.index("share")))
    assert tree.operative(tree.at(text.index("rowed")))
    numbered = tree_of("1. Background\nBoats must be painted.\n2. Fees\nA fee is due.\n")
    assert numbered.operative(1)


def test_the_notes_of_a_printed_bill_explain_and_its_lines_open_nothing() -> None:
    text, _ = OUTLINES["a printed bill with running heads"]
    tree = tree_of(text)
    operative = {u.label for place, u in enumerate(tree.units) if tree.operative(place)}
    assert not [label for label in operative if label.startswith("EXPLANATORY STATEMENT, point")]
    assert operative >= {f"Clause {number}" for number in range(1, 7)}
    held = [u for u in tree.units if "October" in text[u.start : u.end]]
    assert held[-1].label == "Clause 5(2)"
    assert not any(text[u.start :].startswith("October") for u in tree.units)


def test_numbers_out_of_order_are_reported_and_not_mended() -> None:
    tree = tree_of(
        "Article 1\nA\nText.\nArticle 3\nB\n1. One.\n2. Two.\n4. Four.\nArticle 2\nC\nText.\n"
    )
    assert tree.problems == (
        "Article 3 follows Article 1: numbers are missing.",
        "Article 3(4) does not follow what precedes it.",
        "Article 2 follows Article 3: out of order.",
    )


def test_numbers_that_begin_again_in_a_list_or_a_schedule_are_in_order() -> None:
    text = "Section 1. Fees\nText.\nSection 2. Dues\nText.\nSCHEDULE 1\nForms\n1. A form.\n"
    for said in (
        f"{text}2. Another.\nSCHEDULE 2\nMaps\nSection 1. Old\nText.\n",
        OUTLINES["a list with numbers aligned to the right"][0],
        law("licence.txt")[0],
    ):
        assert tree_of(said).problems == ()


def test_a_licence_wrapped_by_hand_with_indents_is_read_by_its_numbers() -> None:
    text, tree = law("licence.txt")
    by_label = {unit.label: unit for unit in tree.units if unit.number}
    assert text[by_label["Section 3"].body :].startswith("Whoever conveys")
    # wrapped lines that begin with "1." and with a small letter behind a semicolon go on
    listed = by_label["Section 2(b)"]
    assert "conveyed under\n    1. This requirement" in text[listed.start : listed.end]
    assert tree.units[tree.at(text.index("keep intact all notices"))].label == "Section 1"
    assert not tree.operative(tree.at(text.index("How to Use")))


NO_OPENING = ("Article 6(1) and Article 7 apply.", "§", "Section " + "4" * 300)
NO_OPENING += ("2.5 % of the price is due.", "1999. That was the year.")


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("§ 20-870 Definitions.", "§ 20-870"),
        ("§ 5-301(a) Bias audit.", "§ 5-301(a)"),
        ("## Scope ##", "Scope"),
        *((line, "") for line in NO_OPENING),
    ],
)
def test_a_line_that_opens_a_provision_gives_it_its_label(line: str, label: str) -> None:
    units = tree_of(f"Preamble.\n{line}\nThe text of it.\n").units
    assert [unit.label for unit in units if unit.label] == ([label, label] if label else [])


@pytest.mark.parametrize("number", ["§İ1.", "§ 1.ŉ"])
def test_a_number_in_letters_of_another_script_harms_no_other(number: str) -> None:
    text = f"Section 1. Boats\nText of it.\n{number} Oars\nSection 2. Keys\nMore text.\n"
    assert {unit.label for unit in tree_of(text).units} >= {"Section 1", "Section 2"}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("The price is announced", "§ 2.1(5)"),  # below the text of an item
        ("Whoever doubts a decision", "§ 2.1"),  # left of all numbers of the list
    ],
)
def test_text_lies_in_the_item_below_whose_text_it_stands(words: str, label: str) -> None:
    text, _ = OUTLINES["a list with numbers aligned to the right"]
    tree = tree_of(text)
    assert tree.units[tree.at(text.index(words))].label == label


def test_a_row_that_stands_apart_with_other_columns_begins_a_table() -> None:
    text = "Boat | Fee\nRaft | 2\n\nGate | Opens | Closes\nNorth | 6 | 10\n"
    assert [u.kind for u in tree_of(text).units] == ["table", "columns", "row"] * 2


def test_a_row_without_a_figure_between_rows_with_figures_begins_a_table() -> None:
    fees = "Item            Fee\nFirst tree      $120\nHeritage tree   $300\n\n"
    text = (
        f"{fees}Diameter        Distance\nup to 40 cm     2.4 metres\nover 40 cm      6.0 metres\n"
    )
    kinds = [unit.kind for unit in tree_of(text).units]
    assert kinds == ["table", "columns", "row", "row"] * 2
    asked = text.replace("up to 40 cm     2.4 metres", "any size        on request")
    assert [unit.kind for unit in tree_of(asked).units].count("table") == 1


def test_a_number_after_its_neighbour_follows_it_without_a_number_above() -> None:
    parts = "PART I\n\n1.01 Boats are tied.\n\n1.02 Ropes are dry.\n\n{} Masts are low.\n"
    assert tree_of(parts.format("1.03")).problems == ()
    assert tree_of(parts.format("1.05")).problems == (
        "Section 1.05 does not follow what precedes it.",
    )


@pytest.mark.parametrize("inner", ["1.1 The fee is due.", "“fee” means a levy."])
def test_what_begins_within_a_line_of_exceptions_ends_them(inner: str) -> None:
    units = tree_of(f"EXCEPTION: {inner}\n").units
    assert all(b.start >= a.end for a, b in pairwise(units) if a.parent == b.parent)


def marked(*lines: str) -> Tree:
    """The tree of lines, of which those that begin with # are headings of a format."""
    text, headings = "", []
    for line in lines:
        bare = line.lstrip("#")
        if len(bare) < len(line):
            headings.append((len(text), len(line) - len(bare)))
        text += bare.strip() + "\n"
    return tree_of(text, tuple(headings))


def test_the_levels_that_a_format_marks_say_what_lies_in_what() -> None:
    tree = marked(
        *("#Terms", "Effective Date: 1 May", "##A. Boats", "Text.", "##B. Keys", "Text."),
        *("##C. Fees", "###1. Yearly", "Text.", "###2. Daily", "Text.", "##D. Rest", "1. No. One."),
        *("2. No. Two.", "##E. End", "Text."),
    )
    assert [(unit.label, unit.heading) for unit in tree.units if unit.kind == "provision"] == [
        *(("Terms", "Terms"), ("Section A", "Boats"), ("Section B", "Keys"), ("Section C", "Fees")),
        *(("Section C(1)", "Yearly"), ("Section C(2)", "Daily"), ("Section D", "Rest")),
        ("Section E", "End"),
    ]
    assert tree.problems == ()


RUNNING = {0, 5, 10, 15, 20, 25}


@pytest.mark.parametrize(
    ("lines", "numbered"),
    [
        (["a", "b", "c", "d", "- 1 -", *"abcd", "- 2 -", *"abcd", "Page 3 of 9", "7"], {4, 9, 14}),
        ([x for n in range(2, 8) for x in ((f"{n} Bill", f"Boats {n}")[n % 2], *"abcd")], RUNNING),
        ([x for n in range(1, 9) for x in (f"Article {n}", *"abcd")], set()),
        (["1", "2", "3", "4"], set()),
        ([], set()),
    ],
)
def test_pages_are_numbered_by_lines_some_lines_apart(lines: list[str], numbered: set[int]) -> None:
    assert page_numbers(lines) == numbered


@pytest.mark.parametrize(
    "question",
    ["Was sagt Artikel 2 Absatz 1?", "¿Qué dice el artículo 2, apartado 1?", "Art. 2(1)?"],
)
def test_a_provision_is_asked_for_in_the_words_of_its_language(question: str) -> None:
    [reference] = find_references(question)
    assert [step.number for step in reference.steps] == ["2", "1"]


def test_a_point_is_found_by_the_section_of_its_annex() -> None:
    tree = tree_of(OUTLINES["sections of an annex that count anew"][0])
    (place,) = named_places(tree, "point 1 of Section B of Annex I")
    assert tree.units[place].label == "Annex I, Section B, point 1"


def test_what_is_referred_to_and_not_there_is_told_by_how_often_and_to_a_number() -> None:
    named = "".join(f"See Section {n}. See Section {n}.\n" for n in range(10, 160))
    text = f"Section 1. Fees\n{named}Section 11 and Section 1 of the Boats Act 2001.\n"
    found = broken_references(tree_of(text), text)
    assert len(found) == 100
    assert found[:2] == [
        "Section 11 is referred to 3 times and was not found.",
        "Section 10 is referred to 2 times and was not found.",
    ]


@pytest.mark.parametrize(("one", "letter"), [("4.", "(c)"), ("4.", "c.")])
def test_a_point_of_an_annex_has_its_full_path_below_a_marked_title(one: str, letter: str) -> None:
    lines = ["Boats Act", "ANNEX III", f"{one} Craft for leisure:", f"{letter} hire boats."]
    first, second = letter.replace("c", "a"), letter.replace("c", "b")
    lines[3:3] = [f"{first} yachts;", f"{second} jet skis;"]
    lines[2:2] = [f"{n}. Craft of kind {n}." for n in (1, 2, 3)]
    tree = tree_of("\n".join(lines), ((0, 1), (len(lines[0]) + 1, 2)))
    assert tree.units[-1].label == "Annex III, point 4(c)"


def test_a_table_of_a_sheet_is_called_by_its_sheet_and_its_caption() -> None:
    rows = "Row 1: Table 2: Fees\nRow | Boat | Fee\n3 | Punt | 4\n4 | Ferry | 9\n"
    tree = tree_of("Sheet “Prices”\n" + rows, ((0, 1),))
    tables = [(unit.label, unit.heading) for unit in tree.units if unit.kind == "table"]
    assert tables == [("Sheet “Prices”, Table 2", "Fees")]
