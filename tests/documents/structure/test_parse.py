"""The tree of each layout, with labels as a lawyer would cite and spans that were worked out."""

from itertools import pairwise
from pathlib import Path

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree

LAWS = Path(__file__).parents[2] / "data" / "laws"


def tree_of(text: str, headings: tuple[tuple[int, int], ...] = ()) -> Tree:
    return Document("d.txt", "d", text, headings=headings).tree


def law(name: str) -> tuple[str, Tree]:
    text = (LAWS / name).read_text(encoding="utf-8")
    return text, tree_of(text)


def labelled(name: str) -> list[str]:
    """The label of every unit with a number or a heading of its own, in order."""
    found = [unit.label for unit in law(name)[1].units if unit.number or unit.heading]
    return list(dict.fromkeys(found))


def test_a_directive_in_the_layout_of_the_official_journal() -> None:
    assert " | ".join(labelled("directive.txt")) == (
        "Recital 1 | Recital 2 | Recital 2(a) | Recital 2(b) | Title I | Title I, Chapter I"
        " | Title I, Chapter I, Section 1 | Article 1 | Article 2 | Article 2(1) | Article 2(2)"
        " | Article 2(2)(a) | Article 2(2)(b) | Article 3 | Article 3(1) | Article 3(1)(a)"
        " | Article 3(1)(b) | Article 3(1)(b)(i) | Article 3(1)(b)(ii) | Article 3(1)(b)(iii)"
        " | Article 3(1)(c) | Article 3(2) | Article 3(3) | Article 3(3)(g) | Article 3(3)(h)"
        " | Article 3(3)(i) | Article 3(3)(j) | Title I, Chapter II | Article 4 | Annex I"
        " | Annex I, point 1 | Annex I, point 2 | Annex I, point 2(a) | Annex I, point 2(b)"
        " | Annex II"
    )


@pytest.mark.parametrize(
    ("name", "count", "some"),
    [
        ("act.txt", 34, ['Section 2(1) "site manager" (b)', "Section 3(2)(c)(ii)", "Section 3A"]),
        ("regulations.txt", 16, ["Regulation 1", 'Regulation 2(1) "keeper"', "Regulation 2(2)"]),
        ("contract.txt", 24, ["Recital A", 'Clause 1.1 "Term"', "Clause 2.1(b)(ii)"]),
        ("policy.md", 12, ["Section 2.1(2)", "Section 2.2, row CCTV", "Responsibilities"]),
        ("standard.txt", 19, ["Advisory 101.1", "Section 102.1, Exception 2", "Section 102.1.1"]),
        ("licence.txt", 11, ["Section 0", 'Section 0 "convey"', "Section 2(c)", "Section 3"]),
    ],
)
def test_each_layout_is_cited_as_a_lawyer_would(name: str, count: int, some: list[str]) -> None:
    found = labelled(name)
    assert len(found) == count
    assert [label for label in found if label in some] == some


def test_recitals_notes_contents_and_signatures_rule_nothing() -> None:
    text, tree = law("directive.txt")
    places = {
        words: tree.at(text.index(words))
        for words in ("moorings", "Done at", "The President", "pay the fee")
    }
    assert {words: tree.operative(place) for words, place in places.items()} == {
        "moorings": False,
        "Done at": False,
        "The President": False,
        "pay the fee": True,
    }
    assert law("act.txt")[1].units[1].kind == "contents"


def test_a_preamble_without_numbers_rules_nothing() -> None:
    text = "Preamble\nEverybody must share what they have.\nSection 1. Rowing\nBoats are rowed.\n"
    tree = tree_of(text, headings=((0, 1), (text.index("Section"), 1)))
    assert not tree.operative(tree.at(text.index("share")))
    assert tree.operative(tree.at(text.index("rowed")))
    numbered = tree_of("1. Background\nBoats must be painted.\n2. Fees\nA fee is due.\n")
    assert numbered.operative(1)


def test_numbers_out_of_order_are_reported_and_not_mended() -> None:
    tree = tree_of(
        "Article 1\nA\nText.\nArticle 3\nB\n1. One.\n2. Two.\n4. Four.\nArticle 2\nC\nText.\n"
    )
    assert tree.problems == (
        "Article 3 follows Article 1: numbers are missing.",
        "Article 3(4) does not follow what precedes it.",
        "Article 2 follows Article 3: out of order.",
    )


def test_a_licence_wrapped_by_hand_with_indents_is_read_by_its_numbers() -> None:
    text, tree = law("licence.txt")
    by_label = {unit.label: unit for unit in tree.units if unit.number}
    assert by_label["Section 1"].heading == "Copies as You Receive Them"
    assert text[by_label["Section 3"].body :].startswith("Whoever conveys")
    # wrapped lines that begin with "1." and with a small letter behind a semicolon go on
    listed = by_label["Section 2(b)"]
    assert "conveyed under\n    1. This requirement" in text[listed.start : listed.end]
    assert tree.units[tree.at(text.index("keep intact all notices"))].label == "Section 1"
    assert not any(unit.kind == "recital" for unit in tree.units)
    assert not tree.operative(tree.at(text.index("How to Use")))
    assert tree.problems == ()


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("§ 20-870 Definitions.", "§ 20-870"),
        ("§ 5-301(a) Bias audit.", "§ 5-301(a)"),
        ("## Scope ##", "Scope"),
        *(
            (line, "")
            for line in ("Article 6(1) and Article 7 apply.", "§", "Section " + "4" * 300)
        ),
        *((line, "") for line in ("2.5 % of the price is due.", "1999. That was the year.")),
    ],
)
def test_a_line_that_opens_a_provision_gives_it_its_label_and_no_other_does(
    line: str, label: str
) -> None:
    units = tree_of(f"Preamble.\n{line}\nThe text of it.\n").units
    assert [unit.label for unit in units if unit.label] == ([label, label] if label else [])


CHARTER = """\
                     Charter of the Rowing Club

1. Aims

   The club exists to row. How it decides is said in §2.1 and §A.1.

2. The captain

  2.1. Powers

   The captain may:
    1. Choose the crews of the boats.
    2. Lend boats to a member, once that member
       has shown a coach how the boat is carried.
         1. Singles are lent for one day at most, and
            only in the months from May until August.
         2. Fours are lent for a race.
    3. Close the landing when the river is high.
    4. Name a deputy.
    5. Sell boats that nobody has rowed for years.
       The price is announced at the landing.
    6. Call a meeting.
    7. Buy oars.
    8. Settle quarrels about lockers and keys.
    9. Resign.
   10. Together with the treasurer, ask for money
       that the members owe, see §2.2.

   Whoever doubts a decision asks the members.

  2.2. Election

A. Meetings

  A.1. Counting

    1. Votes are counted twice.
         1. The first count is the captain's, aloud.
         2. The second is the treasurer's.
    2. A tie fails.

B. Words

   "Boat" stands for anything that is rowed.
"""


def labels(text: str) -> list[str]:
    """The labels of all units with a number, in order."""
    return [unit.label for unit in tree_of(text).units if unit.number and unit.kind != "definition"]


def test_a_list_with_numbers_aligned_to_the_right_is_one_list() -> None:
    tree = tree_of(CHARTER)
    assert labels(CHARTER) == [
        *("§ 1", "§ 2", "§ 2.1", "§ 2.1(1)", "§ 2.1(2)", "§ 2.1(2)(1)", "§ 2.1(2)(2)"),
        *(f"§ 2.1({number})" for number in range(3, 11)),
        *("§ 2.2", "§ A", "§ A.1", "§ A.1(1)", "§ A.1(1)(1)", "§ A.1(1)(2)", "§ A.1(2)", "§ B"),
    ]
    assert tree.problems == ()


def test_text_lies_in_the_item_below_whose_text_it_stands() -> None:
    tree = tree_of(CHARTER)
    for words, label in (
        ("The price is announced", "§ 2.1(5)"),  # below the text of an item
        ("Whoever doubts a decision", "§ 2.1"),  # left of all numbers of the list
    ):
        assert tree.units[tree.at(CHARTER.index(words))].label == label


@pytest.mark.parametrize("below", ["TABLE IV: Fees", ": Table IV. Fees", "Table IV"])
def test_a_table_is_named_by_the_caption_below_it(below: str) -> None:
    rows = "Section 3\nWhat it costs is told here.\nBoat | Euros\nRaft | 5"
    tree = tree_of(f"{rows}\n{below}\nThe keeper pays.\n")
    kinds = [(unit.kind, unit.label) for unit in tree.units[2:]]
    assert kinds == [
        ("table", "Table IV"),
        ("columns", "Table IV"),
        ("row", "Table IV, row Raft"),
        ("text", "Section 3"),
    ]


@pytest.mark.parametrize(
    "follows",
    [
        "Table 3 shows the fees",
        "Table 3 Fees are paid in May.",
        "Table 3 Fees\nOar | 1\nSail | 2",
        "Table 3 | 1",
    ],
)
def test_what_follows_a_table_is_no_caption_of_it(follows: str) -> None:
    tree = tree_of(f"Section 3\nWhat it costs is told here.\nBoat | Euros\nRaft | 5\n{follows}\n")
    labels = [unit.label for unit in tree.units if unit.kind == "row"]
    assert labels[0] == "Section 3, row Raft"


def test_names_of_columns_stand_above_a_line_that_is_drawn_below_them() -> None:
    tree = tree_of("Table 2 Fees\n\n  Boat     Euros\n  -------- ------\n  Raft     5\n")
    assert [(unit.kind, unit.label) for unit in tree.units] == [
        ("table", "Table 2"),
        ("columns", "Table 2"),
        ("row", "Table 2, row Raft"),
    ]


def test_a_bill_of_the_united_states_has_subtitles() -> None:
    tree = tree_of(
        "TITLE IV—HARBOUR SAFETY\nSubtitle A—General\nSEC. 401. SHORT TITLE.\nThis title is short."
        "\nSubtitle B—Berths\nSEC. 411. FEES.\nThe harbour master charges fees under subtitle B.\n"
    )
    assert [unit.label for unit in tree.units if unit.heading] == [
        "Title IV",
        "Title IV, Subtitle A",
        "Section 401",
        "Title IV, Subtitle B",
        "Section 411",
    ]


@pytest.mark.parametrize("lead", ["", "A keeper may\n"])
def test_words_behind_a_number_head_the_list_that_begins_below_them(lead: str) -> None:
    tree = tree_of(
        f"1. Boats\n\n1.1. Rights of keepers\n\n{lead}1. row on every river;\n2. sell the boat."
        "\n\n1.2. Duties\n\nKeepers pay a fee.\n\n2. Rivers\n\nRivers are open.\n"
    )
    headed = {unit.label: unit.heading for unit in tree.units if unit.heading}
    assert headed["Section 1.1"] == "Rights of keepers"
    assert [unit.label for unit in tree.units if unit.kind == "point"] == [
        "Section 1.1(1)",
        "Section 1.1(2)",
    ]


ANNEXES = """Article 1
Entry into force

This Regulation is binding in its entirety and directly applicable in all ports of the sound

ANNEX I

Section A. List of laws

1. Law on nets;

2. Law on hooks.

ANNEX III
Boats

Boats are those in any of the following areas:

1. Fishing, so far as it is permitted:

(a) trawlers.

This shall not include rafts.

(b) line boats;

(c) eel boats.

2. Rescue:

(a) boats that search;

(b) boats that tow.
"""


def test_points_of_an_annex_keep_their_whole_path_behind_text_within_a_list() -> None:
    labels = [unit.label for unit in tree_of(ANNEXES).units if unit.number]
    assert labels == [
        *("Article 1", "Annex I", "Annex I, Section A", "Annex I, point 1", "Annex I, point 2"),
        *("Annex III", "Annex III, point 1", "Annex III, point 1(a)", "Annex III, point 1(b)"),
        *("Annex III, point 1(c)", "Annex III, point 2", "Annex III, point 2(a)"),
        "Annex III, point 2(b)",
    ]


def test_an_annex_behind_a_line_that_goes_on_is_a_reference() -> None:
    said = "Boats are those that are listed with their owners and masters in"
    text = f"Article 1\nScope\n\n{said}\nAnnex I\nof this law.\n"
    assert [unit.kind for unit in tree_of(text).units] == ["provision", "text"]


@pytest.mark.parametrize(
    "tables",
    [
        "Table 1\nFees\n\nBoat | Fee\nRaft | 2\n\nTable 2\nHours\n\nGate | Opens\nNorth | 6\n",
        "Table 1: Fees\nBoat | Fee\nRaft | 2\n\nTable 2. Hours\nGate | Opens\nNorth | 6\n",
        # below their tables, which stand apart
        "Boat | Fee\nRaft | 2\nTable 1. Fees\n\nGate | Opens\nNorth | 6\nTable 2. Hours\n",
    ],
)
def test_a_table_is_named_by_its_caption_on_one_line_or_two(tables: str) -> None:
    tree = tree_of(f"Section 1\nBoats\n\nEach boat pays.\n\n{tables}")
    named = [(u.label, u.heading) for u in tree.units if u.kind == "table"]
    assert named == [("Table 1", "Fees"), ("Table 2", "Hours")]
    rows = [unit.label for unit in tree.units if unit.kind == "row"]
    assert rows == ["Table 1, row Raft", "Table 2, row North"]


def test_a_row_that_stands_apart_with_other_columns_begins_a_table() -> None:
    text = "Boat | Fee\nRaft | 2\n\nGate | Opens | Closes\nNorth | 6 | 10\n"
    assert [u.kind for u in tree_of(text).units] == ["table", "columns", "row"] * 2


@pytest.mark.parametrize("inner", ["1.1 The fee is due.", "“fee” means a levy."])
def test_what_begins_within_a_line_of_exceptions_ends_them(inner: str) -> None:
    units = tree_of(f"EXCEPTION: {inner}\n").units
    assert all(b.start >= a.end for a, b in pairwise(units) if a.parent == b.parent)


@pytest.mark.parametrize("dash", [".—", ". — ", ".–", ".-"])
def test_a_heading_runs_into_its_text_behind_a_stop_and_a_dash(dash: str) -> None:
    text = (
        f"THE BOATS ACT, 1999\n\n1. Licences of boats, etc{dash}(1) Every boat has a licence.\n"
        "(2) The master issues it.\n\n"
        f"2. Appeals{dash}Whoever is refused may appeal.\n\n"
        f"2A. Stay of a refusal{dash}(1) A refusal waits for the appeal.\n(2) It is posted.\n"
    )
    found = [(u.label, u.heading) for u in tree_of(text).units if u.kind == "provision"]
    assert found == [
        ("Section 1", "Licences of boats, etc"),
        ("Section 2", "Appeals"),
        ("Section 2A", "Stay of a refusal"),
    ]
    assert labels(text) == [
        *("Section 1", "Section 1(1)", "Section 1(2)", "Section 2"),
        *("Section 2A", "Section 2A(1)", "Section 2A(2)"),
    ]


def test_inserted_items_stand_beside_those_that_they_follow() -> None:
    marks = ["a", "aa", "b", "ba", "bb", "c"]
    listed = "\n".join(f"({mark}) “word {mark}” means a boat;" for mark in marks)
    text = f"THE BOATS ACT\n\n1. Definitions.—In this Act,—\n{listed}\n\n2. Aim.—Boats float.\n"
    found = [unit.label for unit in tree_of(text).units if unit.kind == "definition"]
    assert found == [f"Section 1({mark})" for mark in marks]


def test_a_dictionary_defines_terms_without_quotes_and_capitals() -> None:
    text = (
        "# Boats Act\n\n##### 1  Aim\n\nBoats float.\n\n##### 2  Dictionary\n\nIn this Act:\n\n"
        "small boat means a boat that one person can carry.\n\n"
        "raft, of a club, has the meaning given by section 9.\n\n"
        "but includes a tub.\n"
    )
    units = tree_of(text).units
    assert [u.heading for u in units if u.kind == "definition"] == ["small boat", "raft"]


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
