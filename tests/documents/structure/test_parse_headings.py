"""Which lines head provisions, and what is read of such a line."""

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree


def tree_of(text: str, headings: tuple[tuple[int, int], ...] = ()) -> Tree:
    return Document("d.txt", "d", text, headings=headings).tree


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("§ 20-870 Definitions.", "§ 20-870"),
        ("§ 5-301(a) Bias audit.", "§ 5-301(a)"),
        ("Article 6(1) Lawful processing", "Article 6(1)"),
        ("Article 12", "Article 12"),
        ("ARTICLE IV", "Article IV"),
        ("Section 12. Penalties", "Section 12"),
        ("RULE 3.2 Notices", "Rule 3.2"),
        ("Chapter 5: Payment", "Chapter 5"),
        ("PART II Scope", "Part II"),
        ("Annex III", "Annex III"),
        ("## Scope ##", "Scope"),
        ("# § 9 Appeals", "§ 9"),
        ("### Section 4. Fees", "Section 4"),
    ],
)
def test_a_line_that_opens_a_provision_gives_it_its_label(line: str, label: str) -> None:
    units = tree_of(f"Preamble.\n{line}\nThe text of it.\n").units
    assert [unit.label for unit in units] == ["", label, label]


@pytest.mark.parametrize(
    "line",
    [
        "Section 5 applies to owners.",
        "Article 6(1) and Article 7 apply.",
        "Part of the fee is due.",
        "#hashtag",
        "#",
        "# ##",
        "§",
        "§ and more",
        "Section " + "4" * 300,
        "§ " + "4" * 300,
        "# " + "x" * 300,
        "2.5 % of the price is due.",
        "1999. That was the year.",
    ],
)
def test_a_line_that_merely_begins_like_one_opens_nothing(line: str) -> None:
    assert {unit.label for unit in tree_of(f"Preamble.\n{line}\nMore.\n").units} == {""}


def test_headings_that_only_the_format_knows_are_provisions() -> None:
    text = (
        "Staff handbook\nLeave\nEveryone has leave.\nCarrying over\nFive days carry over.\n"
        "Pay\nMonthly.\n"
    )
    headings = tuple(
        (text.index(words), level)
        for words, level in (("Staff", 1), ("Leave", 2), ("Carrying", 3), ("Pay", 2))
    )
    tree = tree_of(text, headings)
    assert [
        (u.label, tree.units[u.parent].label if u.parent >= 0 else "")
        for u in tree.units
        if u.heading
    ] == [
        ("Staff handbook", ""),
        ("Leave", "Staff handbook"),
        ("Carrying over", "Leave"),
        ("Pay", "Staff handbook"),
    ]


def test_a_heading_that_the_format_marks_may_name_the_provision_below_it() -> None:
    text = (
        "Citation\n1. These Regulations may be cited as the Bees Regulations 2020.\n"
        "Interpretation\n2. In these Regulations bees are bees.\n"
        "Registers\n3. A keeper must keep a register.\n"
    )
    headings = tuple((text.index(head), 2) for head in ("Citation", "Interpretation", "Registers"))
    for document in (Document("a", "a", text), Document("a", "a", text, headings=headings)):
        found = [(u.label, u.heading) for u in document.tree.units if u.kind == "provision"]
        assert [heading for _, heading in found] == ["Citation", "Interpretation", "Registers"]
        assert [label[-1] for label, _ in found] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("line", "heading", "said"),
    [
        ("§ 1 Birds. A parrot needs a permit of the mayor.", "Birds", "A parrot needs"),
        ("§ 1 Surveys. A survey must state:", "Surveys", "A survey must"),
        ("§ 1. This law takes effect on 1 May.", "", "This law takes"),
        ("§ 1 Penalties. a. Whoever lands pays.", "Penalties", "a. Whoever"),
        ("§ 1 Fees for boats.", "Fees for boats", ""),
    ],
)
def test_what_of_a_line_is_its_heading(line: str, heading: str, said: str) -> None:
    text = f"{line}\n§ 2 Crews\nA crew is four.\n"
    unit = tree_of(text).units[0]
    assert unit.heading == heading
    assert text[unit.body : unit.end].strip().startswith(said)


CONTRACT = """1. Services

1.1. Scope

The harbour provides a berth.

1.2 Standard of care

(a) The harbour acts with skill.
(b) The owner may inspect it.

2. Fees

2.1. Berth fee

2.2. Deposit

2.3. The owner shall pay the deposit

The harbour returns it.
"""


def test_words_alone_behind_a_number_head_the_sentences_below_them() -> None:
    found = {unit.label: unit.heading for unit in tree_of(CONTRACT).units if unit.number}
    assert found == {
        "Section 1": "Services",
        "Section 1.1": "Scope",
        "Section 1.2": "Standard of care",
        "Section 1.2(a)": "",
        "Section 1.2(b)": "",
        "Section 2": "Fees",
        "Section 2.1": "",  # an item of a list
        "Section 2.2": "",
        "Section 2.3": "",  # a sentence
    }


_CHARTER = (
    "Article I\nSection 1\nThe town has a council.\nSection 2\nIt meets monthly.\n"
    "Article II\nSection 1\nThe mayor is elected.\nSection 2\nThe mayor may object.\n"
    "Amendment I\nNo fee is due on a Sunday.\nAmendment II\nNo boat is seized.\n"
)


def test_provisions_that_are_numbered_anew_are_called_with_what_they_lie_in() -> None:
    tree = tree_of(_CHARTER)
    labels = [unit.label for unit in tree.units if unit.kind in ("part", "provision")]
    assert labels == [
        *("Article I", "Article I, Section 1", "Article I, Section 2"),
        *("Article II", "Article II, Section 1", "Article II, Section 2"),
        *("Amendment I", "Amendment II"),
    ]
    assert tree.problems == ()


def test_two_acts_in_one_file_do_not_number_anew() -> None:
    act = "".join(
        f"Chapter {chapter}\n" + "".join(f"Article {article}\nIt is so.\n" for article in articles)
        for chapter, articles in ((1, (1, 2)), (2, (3, 4)), (3, (5, 6)))
    )
    labels = [unit.label for unit in tree_of(act * 2).units if unit.kind == "provision"]
    assert labels == [f"Article {number}" for number in range(1, 7)] * 2
