"""The same rules in the layouts of many countries, each read by its numbers."""

import pytest

from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references

LAYOUTS = {
    "canada": (
        """\
Boats Act

Marginal note:Licence
5 (1) No person shall keep a boat without a licence.
Marginal note:Exception
(2) Subsection (1) does not apply to a raft.
Marginal note:Fee
6 The fee for a licence is forty dollars.
Marginal note:Offence
7 (1) Every person who contravenes section 5 is guilty of an offence and pays $500.
(2) A fine is paid within thirty days.
""",
        [
            "Section 5 | Licence",
            "Section 5(1)",
            "Section 5(2)",
            "Section 6 | Fee",
            "Section 7 | Offence",
            "Section 7(1)",
            "Section 7(2)",
        ],
    ),
    "swiss": (
        """\
Bootsgesetz

Art. 1 Zweck
Dieses Gesetz regelt das Halten von Booten.

Art. 2 Bewilligung
1 Wer ein Boot hält, braucht eine Bewilligung.
2 Absatz 1 gilt nicht für Flösse.

Art. 3 Gebühr
Die Gebühr beträgt 40 Franken.
""",
        [
            "Article 1 | Zweck",
            "Article 2 | Bewilligung",
            "Article 2(1)",
            "Article 2(2)",
            "Article 3 | Gebühr",
        ],
    ),
    "spanish": (
        """\
Ley de botes

Artículo 1. Objeto. Esta ley regula los botes.

Artículo 2. Licencia. 1. Nadie puede tener un bote sin licencia.
2. El apartado 1 no se aplica a las balsas.

Artículo 3. Tasa. La tasa es de 40 euros.
""",
        [
            "Article 1 | Objeto",
            "Article 2 | Licencia",
            "Article 2(1)",
            "Article 2(2)",
            "Article 3 | Tasa",
        ],
    ),
    "dutch": (
        """\
Artikel 1
In deze wet wordt verstaan onder boot: een vaartuig.

Artikel 2
1. Het is verboden een boot te houden zonder vergunning.
2. Het eerste lid geldt niet voor vlotten.

Artikel 3
De vergunning kost 40 euro.
""",
        ["Article 1", "Article 2", "Article 2(1)", "Article 2(2)", "Article 3"],
    ),
    "polish": (
        """\
USTAWA o łodziach

Art. 1. Ustawa określa zasady posiadania łodzi.

Art. 2. 1. Nikt nie może mieć łodzi bez zezwolenia.
2. Przepisu ust. 1 nie stosuje się do tratw.

Art. 3. Opłata wynosi 40 złotych.
""",
        ["Article 1", "Article 2", "Article 2(1)", "Article 2(2)", "Article 3"],
    ),
    "italian": (
        """\
LEGGE SULLE BARCHE

Art. 1.
(Oggetto)
1. La presente legge disciplina le barche.

Art. 2.
(Licenza)
1. Nessuno può tenere una barca senza licenza.
2. Il comma 1 non si applica alle zattere.
3. La licenza costa 40 euro.
""",
        [
            "Article 1 | Oggetto",
            "Article 1(1)",
            "Article 2 | Licenza",
            "Article 2(1)",
            "Article 2(2)",
            "Article 2(3)",
        ],
    ),
    "uscontract": (
        """\
BOAT CHARTER AGREEMENT

ARTICLE I
DEFINITIONS

Section 1.01 Boat. "Boat" means the yacht Gull.

ARTICLE II
TERM AND FEES

Section 2.01 Term. The term of this Agreement is two years.

Section 2.02 Fees. (a) The Charterer shall pay $40 a day.
(b) Fees are due on Mondays.

Section 2.03 Termination. Either party may terminate on thirty days' notice.
""",
        [
            "Article I | DEFINITIONS",
            "Section 1.01 | Boat",
            "Article II | TERM AND FEES",
            "Section 2.01 | Term",
            "Section 2.02 | Fees",
            "Section 2.02(a)",
            "Section 2.02(b)",
            "Section 2.03 | Termination",
        ],
    ),
    "kenya": (
        """\
BOATS ACT

Licence required.
5. (1) A person shall not keep a boat without a licence.
(2) Subsection (1) does not apply to a raft.

Fee.
6. The fee for a licence is forty shillings.

Offences.
7. (1) A person who contravenes section 5 commits an offence.
(2) A person convicted of an offence under subsection (1) pays five hundred shillings.
""",
        [
            "Section 5 | Licence required",
            "Section 5(1)",
            "Section 5(2)",
            "Section 6 | Fee",
            "Section 7 | Offences",
            "Section 7(1)",
            "Section 7(2)",
        ],
    ),
    "ordinance": (
        """\
CHAPTER 12 BOATS

12.04.010 Licence required.
No person shall keep a boat without a licence.

12.04.020 Exceptions.
A. Rafts need no licence.
B. Boats shorter than 2 feet need no licence.

12.04.030 Fee.
The fee for a licence is $40.
""",
        [
            "Chapter 12 | BOATS",
            "Section 12.04.010 | Licence required",
            "Section 12.04.020 | Exceptions",
            "Section 12.04.020(A)",
            "Section 12.04.020(B)",
            "Section 12.04.030 | Fee",
        ],
    ),
    "uscode": (
        """\
§ 101. Short title
This chapter may be cited as the "Boats Act".
§ 102. Licences
(a) In general.—No person may keep a boat without a licence.
(b) Exceptions.—Subsection (a) does not apply to—
(1) a raft; or
(2) a boat that—
(A) is shorter than 2 feet; or
(B) has no mast.
(c) Fee.—The fee for a licence is $40.
§ 103. Penalties
Whoever violates section 102 shall be fined not more than $500.
""",
        [
            "§ 101 | Short title",
            "§ 102 | Licences",
            "§ 102(a)",
            "§ 102(b)",
            "§ 102(b)(1)",
            "§ 102(b)(2)",
            "§ 102(b)(2)(A)",
            "§ 102(b)(2)(B)",
            "§ 102(c)",
            "§ 103 | Penalties",
        ],
    ),
    "nz": (
        """\
Boats Act 2011

1 Title
This Act is the Boats Act 2011.

2 Licence required
(1) No person may keep a boat without a licence.
(2) Subsection (1) does not apply to a raft.

3 Fee
The fee for a licence is $40.
""",
        [
            "Section 1 | Title",
            "Section 2 | Licence required",
            "Section 2(1)",
            "Section 2(2)",
            "Section 3 | Fee",
        ],
    ),
    "uksi": (
        """\
The Boats Regulations 2011

Citation
1.  These Regulations may be cited as the Boats Regulations 2011.

Licences
2.—(1) A person must not keep a boat without a licence.
(2) Paragraph (1) does not apply to a raft.

Fees
3.—(1) The fee for a licence is £40.
(2) The fee is payable in advance.
""",
        [
            "Section 1 | Citation",
            "Section 2 | Licences",
            "Section 2(1)",
            "Section 2(2)",
            "Section 3 | Fees",
            "Section 3(1)",
            "Section 3(2)",
        ],
    ),
    "roman": (
        """\
HIRE OF BOATS

I. Scope
These rules apply to boats.

II. Fees
A. The fee is 40 euros a day.
B. Fees are due on Mondays.

III. Liability
A. The hirer pays for damage.
B. The owner is not liable for theft.
""",
        [
            "Section I | Scope",
            "Section II | Fees",
            "Section II(A)",
            "Section II(B)",
            "Section III | Liability",
            "Section III(A)",
            "Section III(B)",
        ],
    ),
    "caps": (
        """\
EMPLOYEE HANDBOOK

WORKING HOURS
The office is open from 8 to 18. Core hours are 10 to 15.

HOLIDAYS
Every employee has 28 days of leave a year.
Leave is asked for two weeks ahead.

SICKNESS
Call your manager before 9.
""",
        ["WORKING HOURS", "HOLIDAYS", "SICKNESS"],
    ),
    "underline": (
        """\
Remote Work Policy
==================

Scope
-----
This policy applies to all employees.

Equipment
---------
The company pays up to 300 euros for a desk.

Hours
-----
Remote workers are reachable from 10 to 15.
""",
        ["Remote Work Policy", "Scope", "Equipment", "Hours"],
    ),
    "lettered": (
        """\
PRIVACY NOTICE

A. Who we are
Gull Ltd runs this site.

B. What we collect
We collect your name and e-mail address.

C. How long we keep it
We keep it for two years.
""",
        [
            "Section A | Who we are",
            "Section B | What we collect",
            "Section C | How long we keep it",
        ],
    ),
    "minutes": (
        """\
MINUTES OF THE MEETING OF 3 MARCH 2025

Present: Ann Gray, Tom Pike, Eva Lund
Apologies: Max Stone

1. Minutes of the last meeting
Approved.

2. Budget
The budget of 12,000 euros for 2025 was approved by five votes to two.

3. Any other business
The boathouse is painted in May. Tom Pike orders the paint.

Next meeting: 7 April 2025
""",
        [
            "Section 1 | Minutes of the last meeting",
            "Section 2 | Budget",
            "Section 3 | Any other business",
        ],
    ),
    "stepnum": (
        """\
Article 1 - Purpose
1.1 The club promotes rowing.
1.2 It has no political aims.

Article 2 - Members
2.1 Anyone over 14 may join.
2.2 The fee is 60 euros a year.
2.3 Members who owe two fees are excluded.

Article 3 - Board
3.1 The board has five members.
3.2 It is elected for two years.
""",
        [
            "Article 1 | Purpose",
            "Article 1.1",
            "Article 1.2",
            "Article 2 | Members",
            "Article 2.1",
            "Article 2.2",
            "Article 2.3",
            "Article 3 | Board",
            "Article 3.1",
            "Article 3.2",
        ],
    ),
    "roman_contract": (
        """\
I. PARTIES

This contract is between Gull Ltd and Ann Gray.

II. PRICE

1. The price is 4,000 euros.
2. It is paid in two instalments.

III. DELIVERY

The boat is delivered by 1 June 2025.

IV. WARRANTY

a) The warranty lasts two years.
b) It does not cover the sails.
""",
        [
            "Section I | PARTIES",
            "Section II | PRICE",
            "Section II(1)",
            "Section II(2)",
            "Section III | DELIVERY",
            "Section IV | WARRANTY",
            "Section IV(a)",
            "Section IV(b)",
        ],
    ),
    "list_alpha_paren": (
        """\
Rules of the boathouse

1) Keys
a) Keys hang by the door.
b) Whoever loses a key pays 20 euros.
2) Quiet hours
Quiet hours are from 22 to 7.
3) Guests
Guests sign the book.
""",
        [
            "Section 1 | Keys",
            "Section 1(a)",
            "Section 1(b)",
            "Section 2 | Quiet hours",
            "Section 3 | Guests",
        ],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_provision_has_its_label_and_its_heading(layout: str) -> None:
    text, labels = LAYOUTS[layout]
    units = Document("d.txt", "d", text).tree.units
    found = [
        f"{unit.label} | {unit.heading}" if unit.heading not in ("", unit.label) else unit.label
        for unit in units
        if (unit.number or unit.kind == "provision") and unit.kind != "definition"
    ]
    assert found == labels


@pytest.mark.parametrize(
    "question",
    ["Was sagt Artikel 2 Absatz 1?", "¿Qué dice el artículo 2, apartado 1?", "Art. 2(1)?"],
)
def test_a_provision_is_asked_for_in_the_words_of_its_language(question: str) -> None:
    [reference] = find_references(question)
    assert [step.number for step in reference.steps] == ["2", "1"]


def test_a_list_of_links_above_a_law_is_not_the_law() -> None:
    titles = [
        f"{n} Rule about {word}" for n, word in enumerate("rafts oars lamps masts nets".split(), 1)
    ]
    links = "\n".join(["Home", *titles, "Print", ""])
    body = "\n".join(
        f"{title}\n(1) Nobody pays.\n(2) Everybody rows.\n(3) It is so." for title in titles
    )
    units = Document("d.txt", "d", links + "\nAN ACT ABOUT BOATS\n" + body).tree.units
    found = [unit for unit in units if unit.kind == "provision"]
    assert [unit.label for unit in found] == [f"Section {n}" for n in range(1, 6)]
    assert all(unit.start > len(links) for unit in found)


def test_a_list_that_two_sections_have_is_no_contents() -> None:
    points = "\n".join(f"{n}. Rule about {word}" for n, word in enumerate("abcde", 1))
    units = Document("d.txt", "d", f"§ 1 Rafts\n{points}\n\n§ 2 Boats\n{points}\n").tree.units
    assert not [unit for unit in units if unit.kind == "contents"]


def test_a_number_with_a_point_is_called_by_the_word_of_the_text() -> None:
    text = (
        "ARTICLE 1 FEES\n1.1 Fees are due as Section 2.1 says.\n1.2 Section 1.1 is void in May.\n"
        "ARTICLE 2 DAYS\n2.1 Mondays.\n2.2 Section 1.1 and Section 2.1 bind all.\n"
    )
    units = Document("d.txt", "d", text).tree.units
    assert [u.label for u in units if u.number] == [
        *("Article 1", "Section 1.1", "Section 1.2", "Article 2", "Section 2.1", "Section 2.2")
    ]


def test_a_note_ends_no_provision_whose_part_has_its_number() -> None:
    text = (
        "# Boats Act\n\n## Part 2—Licences\n\n##### 9  Applying\n\n(1)  Apply to the master.\n\n"
        "Note 1:  You may send a friend.\n\nNote 2:  The master is at the quay.\n\n"
        "(2)  Use the form.\n\n##### 10  Fees\n\n(1)  Licences are free.\n"
    )
    units = Document("d.txt", "d", text).tree.units
    assert [u.label for u in units if u.kind == "paragraph"] == [
        *("Section 9(1)", "Section 9(2)", "Section 10(1)")
    ]
