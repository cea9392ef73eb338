"""The tree of each layout, with labels as a lawyer would cite and spans that were worked out."""

from pathlib import Path

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree, Unit

LAWS = Path(__file__).parents[2] / "data" / "laws"


def tree_of(text: str, headings: tuple[tuple[int, int], ...] = ()) -> Tree:
    return Document("d.txt", "d", text, headings=headings).tree


def numbered(name: str) -> dict[str, str]:
    """Label -> the first words, of every unit with a number or a heading of its own."""
    text = (LAWS / name).read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for unit in tree_of(text).units:
        if unit.number or unit.heading:
            found.setdefault(unit.label, " ".join(text[unit.start : unit.end].split())[:24].strip())
    return found


def test_a_directive_in_the_layout_of_the_official_journal() -> None:
    assert numbered("directive.txt") == {
        "Recital 1": "(1) River boats are home",
        "Recital 2": "(2) Rules differ, as reg",
        "Recital 2(a)": "(a) moorings; and",
        "Recital 2(b)": "(b) fees.",
        "Title I": "TITLE I General provisio",
        "Title I, Chapter I": "CHAPTER I Scope Section",
        "Title I, Chapter I, Section 1": "Section 1 Subject matter",
        "Article 1": "Article 1 Subject matter",
        "Article 2": "Article 2 Definitions Fo",
        "Article 2(1)": "(1) ‘boat’ means a vesse",
        "Article 2(2)": "(2) ‘keeper’ means the p",
        "Article 2(2)(a)": "(a) the owner;",
        "Article 2(2)(b)": "(b) a tenant.",
        "Article 3": "Article 3 Duties of keep",
        "Article 3(1)": "1. A keeper shall, in ac",
        "Article 3(1)(a)": "(a) moor the boat safely",
        "Article 3(1)(b)": "(b) state, each year: (i",
        "Article 3(1)(b)(i)": "(i) its length;",
        "Article 3(1)(b)(ii)": "(ii) its place; and",
        "Article 3(1)(b)(iii)": "(iii) the information re",
        "Article 3(1)(c)": "(c) pay the fee.",
        "Article 3(2)": "2. Paragraph 1, point (c",
        "Article 3(3)": "3. Lists run on: (g) gra",
        "Article 3(3)(g)": "(g) grates;",
        "Article 3(3)(h)": "(h) hulls;",
        "Article 3(3)(i)": "(i) ink;",
        "Article 3(3)(j)": "(j) jars.",
        "Title I, Chapter II": "CHAPTER II Final provisi",
        "Article 4": "Article 4 Entry into for",
        "Annex I": "ANNEX I Fees 1. The fee",
        "Annex I, point 1": "1. The fee is 40 euro.",
        "Annex I, point 2": "2. The information is: (",
        "Annex I, point 2(a)": "(a) the name of the keep",
        "Annex I, point 2(b)": "(b) the number of the bo",
        "Annex II": "ANNEX II",
    }


def test_an_act_of_parliament_with_contents_crossheadings_and_a_schedule() -> None:
    found = numbered("act.txt")
    assert list(found) == [
        "Part 1",
        "Section 1",
        "Section 1(1)",
        "Section 1(2)",
        "Section 2",
        "Section 2(1)",
        'Section 2(1) "plot"',
        'Section 2(1) "site manager"',
        'Section 2(1) "site manager" (a)',
        'Section 2(1) "site manager" (b)',
        "Section 2(2)",
        "Part 2",
        "Section 3",
        "Section 3(1)",
        "Section 3(2)",
        "Section 3(2)(a)",
        "Section 3(2)(b)",
        "Section 3(2)(c)",
        "Section 3(2)(c)(i)",
        "Section 3(2)(c)(ii)",
        "Section 3(3)",
        "Section 3A",
        "Section 4",
        "Section 4(1)",
        "Schedule 1",
        "Schedule 1, Part 1",
        "Schedule 1, paragraph 1",
        "Schedule 1, paragraph 1(1)",
        "Schedule 1, paragraph 1(2)",
        "Schedule 1, paragraph 2",
        "Schedule 1, Part 2",
        "Schedule 1, paragraph 3",
        "Schedule 1, paragraph 3(a)",
        "Schedule 1, paragraph 3(b)",
    ]


def test_the_words_below_a_list_belong_to_what_leads_into_it() -> None:
    text = (LAWS / "act.txt").read_text(encoding="utf-8")
    tree = tree_of(text)
    place = tree.at(text.index("and must be kept up to date"))
    assert (tree.units[place].kind, tree.units[place].label) == ("text", "Section 3(2)")


def test_regulations_whose_headings_stand_above_their_numbers() -> None:
    text = (LAWS / "regulations.txt").read_text(encoding="utf-8")
    tree = tree_of(text)
    provisions = [(u.label, u.heading) for u in tree.units if u.kind == "provision"]
    assert provisions == [
        ("Regulation 1", "Citation and commencement"),
        ("Regulation 2", "Interpretation"),
        ("Regulation 3", "Duty to register"),
    ]
    labels = [unit.label for unit in tree.units if unit.number]
    assert labels[2:6] == [
        "Regulation 2(1)",
        'Regulation 2(1) "apiary"',
        'Regulation 2(1) "keeper"',
        "Regulation 2(2)",
    ]
    assert labels[-4:] == [
        "Schedule, paragraph 1",
        "Schedule, paragraph 2",
        "Schedule, paragraph 2(a)",
        "Schedule, paragraph 2(b)",
    ]


def test_a_contract_is_cited_by_the_word_it_uses_itself() -> None:
    found = list(numbered("contract.txt"))
    assert found[:4] == ["Recital A", "Recital B", "Clause 1", "Clause 1.1"]
    assert found[4:7] == ['Clause 1.1 "Premises"', 'Clause 1.1 "Services"', 'Clause 1.1 "Term"']
    assert "Clause 2.1(b)(ii)" in found
    assert "Clause 2.1(c)" in found
    assert found[-4:] == [
        "Schedule 1, paragraph 1",
        "Schedule 1, paragraph 2",
        "Schedule 1, paragraph 2(a)",
        "Schedule 1, paragraph 2(b)",
    ]


def test_a_policy_in_markdown_is_cited_by_numbers_headings_and_rows() -> None:
    found = list(numbered("policy.md"))
    assert found == [
        "Access and passwords",
        "Section 1",
        "Section 2",
        "Section 2.1",
        "Section 2.1(1)",
        "Section 2.1(2)",
        "Section 2.2",
        "Section 2.2, row CCTV",
        "Section 2.2, row Payroll",
        "Table 2",
        "Table 2, row Shared password",
        "Responsibilities",
    ]


def test_a_standard_with_advisories_exceptions_and_tables() -> None:
    assert list(numbered("standard.txt")) == [
        "Chapter 1",
        "Section 101",
        "Section 101.1",
        "Section 101.1(a)",
        "Section 101.1(b)",
        "Advisory 101.1",
        "Section 102",
        "Section 102.1",
        "Section 102.1, Exception",
        "Section 102.1, Exception 1",
        "Section 102.1, Exception 2",
        "Section 102.1.1",
        "Table 102.1",
        "Table 102.1, row 1 to 25",
        "Table 102.1, row 26 to 50",
        "Chapter 2",
        "Section 201",
        "Section 201.1",
        "Section 201.2",
    ]


def test_recitals_notes_contents_and_signatures_rule_nothing() -> None:
    text = (LAWS / "directive.txt").read_text(encoding="utf-8")
    tree = tree_of(text)
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
    act = (LAWS / "act.txt").read_text(encoding="utf-8")
    assert tree_of(act).units[1].kind == "contents"


def test_lines_wrapped_by_hand_are_joined_and_open_nothing() -> None:
    text = (
        "Article 15\nScope\n"
        "1. The keeper of a boat shall pay the fee that is due under the first sentence of\n"
        "Article 16 and, where the boat is moored for longer than the time that is stated in\n"
        "20. It shall be paid at the office of the port in which the boat is moored at the time\n"
        "of the notice, or at any other office that the port has named for the purpose in its\n"
        "register of offices, which is open to the public on every working day of the year.\n"
        "2. The port shall give a receipt to the keeper who has paid the fee that was due at the\n"
        "office, and shall send a copy of the receipt to the authority named in its register.\n"
        "Article 16\nFees\n"
        "1. The fee is 40 euro for each month in which the boat is moored in the port or at any\n"
        "quay that the port keeps.\n"
    )
    labels = [unit.label for unit in tree_of(text).units]
    assert labels == ["Article 15", "Article 15(1)", "Article 15(2)", "Article 16", "Article 16(1)"]


def test_numbers_out_of_order_are_reported_and_not_mended() -> None:
    tree = tree_of(
        "Article 1\nA\nText.\nArticle 3\nB\n1. One.\n2. Two.\n4. Four.\nArticle 2\nC\nText.\n"
    )
    assert tree.problems == (
        "Article 3 follows Article 1: numbers are missing.",
        "Article 3(4) does not follow what precedes it.",
        "Article 2 follows Article 3: out of order.",
    )


@pytest.mark.parametrize("text", ["", "\n \n", "\n" * 10_000])
def test_a_blank_document_has_no_units(text: str) -> None:
    assert tree_of(text) == Tree()


def test_contents_go_on_over_parts_that_have_only_a_number() -> None:
    heads = "PART 1\nLicences\n1 Need\n2 Grant\nPART 2\nConduct\n3 Speed\nSchedule 1 Fees\n"
    body = (
        "PART 1\nLicences\n1 Need\n(1) One.\n2 Grant\n(1) Two.\nPART 2\nConduct\n3 Speed\n"
        "(1) Three.\nSCHEDULE 1\nFees\n1 A fee is payable.\n"
    )
    tree = tree_of(f"Boats Act\nCONTENTS\n{heads}{body}")
    labels = [unit.label for unit in tree.units if unit.kind in ("part", "provision", "annex")]
    assert labels == ["Part 1", "Section 1", "Section 2", "Part 2", "Section 3", "Schedule 1"]


def test_a_licence_wrapped_by_hand_with_indents_is_read_by_its_numbers() -> None:
    found = numbered("licence.txt")
    assert list(found) == [
        "",  # the first of the two steps in the preamble
        "Section 0",
        'Section 0 "The Charts"',
        'Section 0 "covered chart"',
        'Section 0 "convey"',
        "Section 1",
        "Section 2",
        "Section 2(a)",
        "Section 2(b)",
        "Section 2(c)",
        "Section 3",
    ]
    text = (LAWS / "licence.txt").read_text(encoding="utf-8")
    tree = tree_of(text)
    by_label = {unit.label: unit for unit in tree.units if unit.number}
    assert (by_label["Section 3"].heading, by_label["Section 1"].heading) == (
        "End of Your Rights",
        "Copies as You Receive Them",
    )
    assert text[by_label["Section 3"].body :].startswith("Whoever conveys")
    # wrapped lines that begin with "1." and with a small letter behind a semicolon go on
    assert "conveyed under\n    1. This requirement" in text[slice(*span(by_label["Section 2(b)"]))]
    assert tree.units[tree.at(text.index("keep intact all notices"))].label == "Section 1"
    assert not any(unit.kind == "recital" for unit in tree.units)
    assert not tree.operative(tree.at(text.index("How to Use")))
    assert tree.problems == ()


def span(unit: Unit) -> tuple[int, int]:
    return unit.start, unit.end


@pytest.mark.parametrize(
    ("line", "term"),
    [
        ("Dues. “Dues” means sums.", "Dues"),
        ("Berth (BT). A berth is a place.", "Berth"),
        ("To “sail” a boat means to move it.", "sail"),
        ("A “crew list” is a list of names.", "crew list"),
        ("Three terms are defined here: berth, crew and dues.", None),
        ("Dues. A berth is a place.", None),
    ],
)
def test_what_a_line_defines_where_terms_are_defined(line: str, term: str | None) -> None:
    tree = tree_of(f"§ 1 Definitions\n{line}\n§ 2 Dues\nA boat pays.\n")
    defined = [unit.heading for unit in tree.units if unit.kind == "definition"]
    assert defined == ([term] if term else [])


def test_text_behind_a_definition_goes_on_with_it_only_where_terms_are_defined() -> None:
    lines = "“Dues” means sums.\nA boat pays them at noon.\n"
    for heading, label in (("Definitions", '§ 1 "Dues"'), ("Payment", "§ 1")):
        text = f"§ 1 {heading}\n{lines}§ 2 Crews\nA crew is four.\n"
        tree = tree_of(text)
        assert tree.units[tree.at(text.index("A boat"))].label == label


def test_a_topic_behind_a_list_lies_beside_it() -> None:
    listed = "§ 1 Notices\na. A notice states:\n1. the name;\n2. the fee.\n"
    for line, label in (
        ("Exception to the fee. Rafts pay none.", "§ 1"),
        ("The notice is public. It is free.", "§ 1(a)"),
    ):
        text = f"{listed}{line}\n§ 2 Crews\nA crew is four.\n"
        tree = tree_of(text)
        assert tree.units[tree.at(text.index(line))].label == label


def test_one_number_in_a_preamble_counts_no_recitals() -> None:
    closing = "Article 1\nFees\nA boat pays.\n"
    for second, kinds in (("(2) and that.\n", 2), ("and that.\n", 0)):
        text = f"Whereas:\n(1) this holds,\n{second}{closing}"
        found = [unit for unit in tree_of(text).units if unit.kind == "recital"]
        assert len(found) == kinds


def test_what_is_defined_behind_a_list_is_no_item_of_it() -> None:
    listed = "§ 1 Rafts\nA raft carries:\n(a) a lamp;\n(b) an oar.\n"
    text = f"{listed}“Oar” means a paddle.\n§ 2 End\nIt ends.\n"
    tree = tree_of(text)
    place = tree.at(text.index("A raft"))
    while not tree.items(place):
        place = tree.units[place].parent
    assert [tree.units[item].number for item in tree.items(place)] == ["a", "b"]
