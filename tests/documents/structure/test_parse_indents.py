"""What indents, run-on numbers and references tell about a list, an appendix and their labels."""

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree

CHARTER = """\
                     Charter of the Rowing Club

1. Aims

   The club exists to row. How it decides is said in §2.1 and §A.1.

2. The captain

  2.1. Powers

   The captain may:
    1. Choose the crews of the boats.
       Whoever was left out is told why before
       the next race of the season.
    2. Lend boats to a member, once that member
       has shown a coach how the boat is carried.
         1. Singles are lent for one day at most, and
            only in the months from May until August.
         2. Fours are lent for a race.
    3. Close the landing when the river is high.
    4. Name a deputy.
    5. Spend up to 50.
    6. Call a meeting.
    7. Sell boats that nobody has rowed for years.
       The price is announced at the landing.
    8. Buy oars.
    9. Settle quarrels about lockers and keys.
   10. Together with the treasurer, ask for money
       that the members owe, see §2.2(1).
   11. Resign.

   Whoever doubts a decision asks the members.

  2.2. Election

    1. The captain is elected in March by those
       members who were there in the year before.
    2. Votes are secret.

A. Meetings

  A.0. Invitation

    1. A meeting is called by letter, which is sent
       to every member two weeks before its day.
    2. The letter says what is to be decided.

  A.1. Counting

    1. Votes are counted twice.
         1. The first count is the captain's, aloud.
         2. The second is the treasurer's.
    2. A tie fails.

   When the count is doubted, it is done again.

B. Words

   "Boat" stands for anything that is rowed.
"""


def tree_of(text: str) -> Tree:
    return Document("d.txt", "d", text).tree


def labels(text: str) -> list[str]:
    """The labels of all units with a number, in order."""
    return [unit.label for unit in tree_of(text).units if unit.number and unit.kind != "definition"]


def test_a_list_with_numbers_aligned_to_the_right_is_one_list() -> None:
    tree = tree_of(CHARTER)
    assert labels(CHARTER) == [
        *("§ 1", "§ 2", "§ 2.1", "§ 2.1(1)", "§ 2.1(2)", "§ 2.1(2)(1)", "§ 2.1(2)(2)"),
        *(f"§ 2.1({number})" for number in range(3, 12)),
        *("§ 2.2", "§ 2.2(1)", "§ 2.2(2)"),
        *("§ A", "§ A.0", "§ A.0(1)", "§ A.0(2)"),
        *("§ A.1", "§ A.1(1)", "§ A.1(1)(1)", "§ A.1(1)(2)", "§ A.1(2)", "§ B"),
    ]
    assert tree.problems == ()


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("The price is announced", "§ 2.1(7)"),  # below the text of an item
        ("Whoever doubts a decision", "§ 2.1"),  # left of all numbers of the list
        ("When the count is doubted", "§ A.1"),
        ("stands for anything", "§ B"),
    ],
)
def test_text_lies_in_the_item_below_whose_text_it_stands(words: str, label: str) -> None:
    tree = tree_of(CHARTER)
    assert tree.units[tree.at(CHARTER.index(words))].label.startswith(label)
    assert f"{label}(" not in tree.units[tree.at(CHARTER.index(words))].label


def test_what_the_text_refers_to_is_found() -> None:
    tree = tree_of(CHARTER)
    for said, label in (
        ("§2.1", "§ 2.1"),
        ("§A.1", "§ A.1"),
        ("section A.1(1)(2)", "§ A.1(1)(2)"),
        ("§2.2(1)", "§ 2.2(1)"),
    ):
        (reference,) = find_references(said)
        assert [tree.units[place].label for place in tree.find(reference)] == [label]


def test_without_indents_a_number_resumes_the_list_that_text_has_interrupted() -> None:
    text = (
        "1. Aims\n1.1 We row.\n2. The captain\n2.1 The captain may:\n1. Choose crews.\n"
        "2. Lend boats.\n3. Close the landing.\nThe river must be high.\n4. Buy oars.\n"
        "2.2 The captain is elected.\nA. Words\nA.1 Boats float.\nB. Fees\nNobody pays.\n"
    )
    tree = tree_of(text)
    assert labels(text)[3:] == [
        *("Section 2.1", *(f"Section 2.1({number})" for number in range(1, 5))),
        *("Section 2.2", "Section A", "Section A.1", "Section B"),
    ]
    place = tree.labels["Section 2.2"]  # and not in item 2
    assert tree.units[tree.units[place].parent].label == "Section 2"
    assert tree.problems == ()


def test_a_list_at_the_margin_lies_in_the_provision_at_the_margin() -> None:
    text = (
        "1. Fees\n(a) The member pays the fee before the\n    end of the month of March.\n"
        "(b) A guest pays at the landing, in coins, for\n    each hour that is begun.\n"
        "2. Boats\n(a) Boats are cleaned after they were used, with\n    water from the river.\n"
    )
    assert labels(text) == [
        *("Section 1", "Section 1(a)", "Section 1(b)", "Section 2", "Section 2(a)"),
    ]


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("See §2 and § 3.", "§ 2"),
        ("See clause 2 and clause 3.", "Clause 2"),
        ("See clause\n2 and clause\n3.", "Clause 2"),
        ("See 15 U.S.C. § 12 and Code § 13.", "Section 2"),
        ("General rules\n\n1. A list.", "Section 2"),
        ("General rules\n1. A list.", "Section 2"),
    ],
)
def test_the_word_for_provisions_is_that_of_references(said: str, label: str) -> None:
    text = f"1. Aims\n1.1 We row.\n1.2 We swim.\n2. Boats\n2.1 We own two.\n3. Oars\n3.1 {said}\n"
    assert label in labels(text)


def test_numbers_that_references_call_sections_are_no_recitals() -> None:
    text = (
        "Preamble\n\nBoats are shared.\n\n"
        "0. This licence applies to every boat of the club and to every oar.\n\n"
        "1. You may row a boat wherever the river is open to boats.\n\n"
        "2. You may lend a boat under section 1, and ask for it under sections\n1 and 3.\n\n"
        "3. You may not sell a boat, except where section 2 says that you may.\n"
    )
    assert labels(text) == ["Section 0", "Section 1", "Section 2", "Section 3"]
    assert labels(text.replace("section 2 ", "section 9 ").replace("section ", "the ")) == [""] * 4


@pytest.mark.parametrize(
    "text", ["A.", "A.1", "A.1\nA.\nB.", "A. \nA.1. X", "§" * 9, "B. X\nB.1 Y"]
)
def test_letters_alone_are_read_without_harm(text: str) -> None:
    assert all(0 <= unit.start <= unit.end <= len(text) for unit in tree_of(text).units)


def test_a_comment_in_indented_code_is_no_heading() -> None:
    for indent, label in (("", "row"), ("   ", "row"), ("    ", "Rowing"), ("\t", "Rowing")):
        tree = tree_of(f"# Rowing\n\nType this:\n\n{indent}# row\n\nThen wait.\n")
        assert tree.units[-1].label == label
