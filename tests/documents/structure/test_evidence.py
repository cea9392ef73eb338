"""A number opens a provision where something speaks for it, and where it fits a sequence."""

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.lookup import broken_references, named_places
from lexloop.documents.structure.markers import page_numbers
from lexloop.documents.structure.tree import Tree


def tree_of(text: str, headings: tuple[tuple[int, int], ...] = ()) -> Tree:
    """The tree of a text."""
    return Document("a.txt", "", text, headings=headings).tree


def labels(text: str) -> list[str]:
    """The labels of all units with a number, in order."""
    return [unit.label for unit in tree_of(text).units if unit.number]


LONG = "Boats that lie in the harbour for longer than the time that the notice states and that"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # the number under which a file is filed is no annex that holds the contract
        (
            "EXHIBIT 10.13\nMooring Agreement\n1. Berth\nIt is leased.\n2. Rent\nIt is due.\n",
            ["Section 1", "Section 2"],
        ),
        # clauses counted through the document below headings that have no numbers
        (
            "Boats\n1. The club owns the boats.\nKeys\n2. The porter keeps the keys.\n"
            "Fees\n3. The fee is ten euro.\nGuests\n4. Guests row free.\n",
            ["Section 1", "Section 2", "Section 3", "Section 4"],
        ),
        # recitals end where the text begins to rule
        (
            "BACKGROUND:\nA. The owner has a boat.\nB. The guest wants it.\nThe parties agree:\n"
            "I. LEASE\nA. The boat is leased.\nII. RENT\nA. It is due on Mondays.\n",
            [
                *("Recital A", "Recital B", "Section I", "Section I(A)"),
                *("Section II", "Section II(A)"),
            ],
        ),
        # (c) behind a page break goes on with (b), and is no hundred
        (
            "Section 1. Duties\nThe tenant shall:\n(a) sweep the deck;\n(b) oil the hinges and\n"
            "paint the rail in the colour that the harbour office has named for the season and\n"
            "(c) pay.\nSection 2. Rights\nNone.\n",
            ["Section 1", "Section 1(a)", "Section 1(b)", "Section 1(c)", "Section 2"],
        ),
        # an annex behind a line that breaks off, where just it is missing
        (
            f"Article 1\nScope\nText.\nANNEX I\nBoats\n{LONG}\nANNEX II\nPorts\nText.\n",
            ["Article 1", "Annex I", "Annex II"],
        ),
    ],
)
def test_provisions_are_the_run_of_numbers_for_which_most_speaks(
    text: str, found: list[str]
) -> None:
    assert labels(text) == found


@pytest.mark.parametrize("line", ["7. Oars are yellow.", "3.9 Oars."])
def test_a_number_that_fits_no_sequence_opens_nothing(line: str) -> None:
    text = f"Section 1. Boats\nText of it.\n{line}\nSection 2. Keys\nMore text.\n"
    assert labels(text) == ["Section 1", "Section 2"]


@pytest.mark.parametrize(
    "number",
    ["§İ1.", "§ 1.ŉ"],
)
def test_a_number_in_letters_of_another_script_harms_no_other(number: str) -> None:
    text = f"Section 1. Boats\nText of it.\n{number} Oars\nSection 2. Keys\nMore text.\n"
    assert set(labels(text)) >= {"Section 1", "Section 2"}


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


def test_pages_are_numbered_by_lines_alone_some_lines_apart_each_one_more() -> None:
    text = ["a", "b", "c", "d", "- 1 -", *"abcd", "- 2 -", *"abcd", "Page 3 of 9", "7"]
    assert page_numbers(text) == {4, 9, 14}
    assert page_numbers(["1", "2", "3", "4"]) == frozenset()
    assert page_numbers([]) == frozenset()


def test_entries_with_the_numbers_of_pages_are_contents_and_no_provisions() -> None:
    entries = "".join(f"Article {n}  Boats of kind {n} ...... {n + 3}\n" for n in range(1, 7))
    body = "".join(f"Article {n}\nBoats of kind {n}\nText.\n" for n in range(1, 7))
    tree = tree_of(f"Harbour rules\n{entries}{body}")
    provisions = [unit for unit in tree.units if unit.kind == "provision"]
    assert [unit.label for unit in provisions] == [f"Article {n}" for n in range(1, 7)]
    assert [unit.kind for unit in tree.units].count("contents") == 1


def test_points_are_named_with_the_sections_of_an_annex_that_counts_anew_in_each() -> None:
    text = (
        "Article 1\nScope\nText.\nANNEX I\nBoats\nSection A. Old\n1. A sloop:\n(a) red;\n"
        "2. A barge.\nSection B. New\n1. A ferry.\n"
        "ANNEX II\nPorts\nSection A. Old\n1. A pier.\nSection B. New\n2. A quay.\n"
    )
    assert labels(text)[1:] == [
        *("Annex I", "Annex I, Section A", "Annex I, Section A, point 1"),
        *("Annex I, Section A, point 1(a)", "Annex I, Section A, point 2"),
        *("Annex I, Section B", "Annex I, Section B, point 1"),
        *("Annex II", "Annex II, Section A", "Annex II, point 1"),
        *("Annex II, Section B", "Annex II, point 2"),
    ]
    (place,) = named_places(tree_of(text), "point 1 of Section B of Annex I")
    assert tree_of(text).units[place].label == "Annex I, Section B, point 1"


def test_the_letter_i_leads_into_its_own_first_point() -> None:
    letters = "".join(f"({letter}) red;\n" for letter in "abcdefgh")
    rest = "(i) one of:\n(i) blue;\n(ii) green;\n(j) grey.\n"
    text = f"Article 1\nPaint\n1. Boats are:\n{letters}{rest}"
    found = ["Article 1(1)(i)", "Article 1(1)(i)(i)", "Article 1(1)(i)(ii)", "Article 1(1)(j)"]
    assert labels(text)[-4:] == found


def test_what_is_inserted_with_a_small_letter_stands_between() -> None:
    points = "(1) by day;\n(1a) by dusk;\n(2) by night.\n"
    text = f"Article 1\nFees\n1. A fee is due.\n1a. A toll is due:\n{points}2. No more.\n"
    found = ["(1)", "(1a)", "(1a)(1)", "(1a)(1a)", "(1a)(2)", "(2)"]
    assert labels(text) == ["Article 1", *(f"Article 1{one}" for one in found)]


def test_the_paragraphs_of_a_schedule_count_for_themselves() -> None:
    text = "Section 1. Fees\nText.\nSection 2. Dues\nText.\nSCHEDULE 1\nForms\n1. A form.\n"
    tree = tree_of(f"{text}2. Another.\nSCHEDULE 2\nMaps\nSection 1. Old\nText.\n")
    assert tree.problems == ()


def test_what_is_referred_to_and_not_there_is_told_by_how_often_and_to_a_number() -> None:
    named = "".join(f"See Section {n}. See Section {n}.\n" for n in range(10, 160))
    text = f"Section 1. Fees\n{named}Section 11 and Section 1 of the Boats Act 2001.\n"
    found = broken_references(tree_of(text), text)
    assert len(found) == 100
    assert found[:2] == [
        "Section 11 is referred to 3 times and was not found.",
        "Section 10 is referred to 2 times and was not found.",
    ]


_BOATS = ("Short title", "Meaning of words", "Licences", "Harbours", "Fees", "Offences")
_PRINTED = "\n\n".join(
    (
        "ARRANGEMENT OF CLAUSES",
        "PART I",
        *("Clause", *(f"{n}. {title}" for n, title in enumerate(_BOATS[:3], 1))),
        *("2 Bill", "Clause", *(f"{n}. {title}" for n, title in enumerate(_BOATS[3:], 4))),
        *("Boats 3", "A BILL", "PART I", "PRELIMINARY", _BOATS[0]),
        "1. (1) This Act may be cited as the Boats Act.",
        *("(2) It comes into operation on a day that the Minister appoints.", "4 Bill"),
        *(_BOATS[1], "2. In this Act, unless the context otherwise requires—"),
        *("“boat” means whatever floats;", "“master” means whoever steers a boat;"),
        *("Boats 5", _BOATS[2], "3. (1) Nobody shall steer a boat without a licence."),
        *("(2) A licence is given by the harbour master.", _BOATS[3], "6 Bill"),
        "4. No boat shall lie in a harbour without the consent of the Harbour\nMaster.",
        *(
            "Boats 7",
            _BOATS[4],
            "5. (1) A fee is payable for each licence.",
            "(2) It is due in May and\nOctober of each year.",
        ),
        *("8 Bill", _BOATS[5], "6. Whoever contravenes section 3 commits an offence."),
        "EXPLANATORY STATEMENT",
        "This Bill seeks to regulate boats.",
        *(f"{n}. Clause {n - 1} deals with {_BOATS[n - 2].lower()}." for n in range(2, 8)),
    )
)


def test_a_printed_bill_is_read_past_its_contents_its_running_heads_and_its_statement() -> None:
    tree = tree_of(_PRINTED)
    assert [(u.label, u.heading) for u in tree.units if u.kind == "provision"] == [
        (f"Clause {number}", title) for number, title in enumerate(_BOATS, 1)
    ]
    notes = "EXPLANATORY STATEMENT"
    points = [unit.label for unit in tree.units if unit.label.startswith(f"{notes}, point")]
    assert points == [f"{notes}, point {number}" for number in range(2, 8)]
    assert [unit.label for unit in tree.units if unit.kind == "definition"] == [
        'Clause 2 "boat"',
        'Clause 2 "master"',
    ]
    assert [u.label for u in tree.units if "October" in _PRINTED[u.start : u.end]][
        -1
    ] == "Clause 5(2)"
    assert not any(_PRINTED[u.start :].startswith("October") for u in tree.units)
    operative = {u.label for place, u in enumerate(tree.units) if tree.operative(place)}
    assert operative.isdisjoint(points)  # they explain, and a clause says
    assert operative >= {f"Clause {number}" for number in range(1, 7)}


def test_running_heads_number_each_second_page_and_provisions_each_number() -> None:
    pages = [
        line for n in range(2, 8) for line in (f"{n} Bill" if n % 2 == 0 else f"Boats {n}", *"abcd")
    ]
    assert page_numbers(pages) == {0, 5, 10, 15, 20, 25}
    articles = [line for n in range(1, 9) for line in (f"Article {n}", *"abcd")]
    assert page_numbers(articles) == frozenset()
