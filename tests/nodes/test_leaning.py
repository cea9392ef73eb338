"""Questions of two parts: where they are split, and that each part can be understood alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.question import question_parts, standing_alone

TWO = """\
What must be published, and for how long? | for how long must it be published?
When must the fee be paid, and to whom? | to whom must the fee be paid?
What records must a licensee keep and for how many years? \
| for how many years must a licensee keep records?
Which documents must be submitted, and in what form? | in what form must documents be submitted?
What rights does a passenger have, and against whom? | against whom does a passenger have rights?
Can a tenant appeal the decision, and within what period? \
| within what period can a tenant appeal the decision?
May a landlord enter the flat, and under what conditions? \
| under what conditions may a landlord enter the flat?
Must the operator notify the authority, and if so, by when? \
| by when must the operator notify the authority?
Is subletting allowed, and if so, when? | when is subletting allowed?
Who must file the annual report and where? | where must they file the annual report?
Which vehicles are exempt? Why? | Why are vehicles exempt?
Who appoints the inspector and for what term? | Who appoints the inspector, for what term?
Is a licence required, and who issues it? | who issues a licence?
How long is a permit valid and can it be renewed? | can a permit be renewed?
What is the fine for a late report, and who imposes it? | who imposes the fine?
What does a permit cost, and how often must it be paid? | how often must a permit be paid?
How is the fee calculated and when is it due? | when is the fee due?
When does the licence expire? And can it be extended? | can the licence be extended?
What must the notice contain and how must it be delivered? | how must the notice be delivered?
Where must the sign be placed and how large must it be? | how large must the sign be?
When is a new audit due, and which data may it use? | which data may a new audit use?
What are the duties of the operator and what happens if they are breached? \
| what happens if the duties of the operator are breached?
Who may inspect a boat and what must they tell the owner? \
| Who may inspect a boat, what must they tell the owner?
What counts as waste and who has to dispose of it? \
| What counts as waste, who has to dispose of it?
Are audits public, and if not, who can see them? | Are audits public, who can see them?
Does the rule apply to charities, and are there exceptions? \
| Does the rule apply to charities, are there exceptions?
What happens if a driver refuses the test, and can the licence be revoked? \
| can the licence be revoked?
On what day did the Act start, and on what day does it end? | on what day does the Act end?
Is a deposit due, and would it help to pay early? | would it help to pay early?"""

ONE = """\
What are the terms and conditions of a licence?
Who may sell food and drink at a market?
Which health and safety rules apply to ships and boats?
What must a controller and a processor record?
What do research and development exemptions cover?
When is a permit null and void?
Which products, services and activities are covered?
What must the report say about how the fee is calculated?
Must a firm explain what data it holds and how it is used to the customer?
Who decides whether and when an inspection takes place?
What does the law say about who can see the register and why it is kept?
Which factors decide whether a fine is due and how high it is?
What are the rules on search and seizure?
Is it lawful to copy and publish the register?
What is the role of the Minister for Trade and Industry?
Does the ban cover cats and dogs or only dogs?
Can a landlord and a tenant agree otherwise in writing?
We lost a laptop and a phone, what must we do?
What is the relation between the purpose of a survey and when an owner may rely on one?
How does the fine for a first violation compare with that for later ones?"""


@pytest.mark.parametrize("line", TWO.splitlines())
def test_two_parts(line: str) -> None:
    question, _, second = line.partition(" | ")
    first, *others = question_parts(question)
    assert question.startswith(first)
    assert others == [second]


@pytest.mark.parametrize("question", ONE.splitlines())
def test_one_part(question: str) -> None:
    assert [*question_parts(question)] == [question]


def test_three_parts() -> None:
    asked = "What information must be given to the tenant, by whom and when?"
    whole = "What information must be given to the tenant"
    assert [*question_parts(asked)] == [whole, f"{whole}, by whom", f"{whole}, when?"]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("How do a berth and a quay differ?", ["What is a berth?", "What is a quay?"]),
        ("How does a berth differ from a quay?", ["What is a berth?", "What is a quay?"]),
        ("How do berths compare with quays?", ["What are berths?", "What are quays?"]),
        (
            "Compare the duties of owners and masters.",
            ["What are the duties of owners?", "What are the duties of masters?"],
        ),
    ],
)
def test_the_sides_of_a_comparison(question: str, sides: list[str]) -> None:
    assert [*question_parts(question)] == [question, *sides]


def test_what_is_asked_twice_counts_once() -> None:
    parts = question_parts("What is a berth, and how does it differ from a quay?")
    assert [*parts] == [
        "What is a berth",
        "how does a berth differ from a quay?",
        "What is a quay?",
    ]


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_part_is_never_lost(part: str, first: str) -> None:
    alone = standing_alone(part, first)
    assert alone or not part.strip() or not part.strip(" ?")


def test_long_parts_are_read_quickly() -> None:
    for piece in ("what a ", "the new ", "for what how ", "who must it ", "which a b c is "):
        standing_alone((piece * 4000)[:20000], (piece * 4000)[:20000])
        question_parts((piece * 4000)[:4000])
