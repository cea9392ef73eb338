"""Taking a question apart: its parts, what leans on them, and context behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.question import (
    asking_sentences,
    asks_for_several,
    in_context,
    question_parts,
    standing_alone,
    without_context,
    without_preamble,
)


@pytest.mark.parametrize(
    ("question", "asking"),
    [
        ("I moor in May. What is the fee?", ["What is the fee?"]),
        ("What is the fee? Who pays it?", ["What is the fee?", "Who pays it?"]),
        ("Define berth. I ask for a friend.", ["Define berth."]),
        ("Define berth. Is it large?", ["Define berth.", "Is it large?"]),
        ("I moor in May.", ["I moor in May."]),
        ("I wonder what the fee is. I moor in May.", ["I wonder what the fee is."]),
    ],
)
def test_the_sentences_that_ask(question: str, asking: list[str]) -> None:
    assert asking_sentences(question) == asking


@pytest.mark.parametrize(
    ("sentence", "core"),
    [
        ("As a boat owner, what must I pay?", "what must I pay?"),
        ("Hello, could you please tell me what a berth is?", "what a berth is?"),
        ("I would like to know about bias audits", "bias audits"),
        ("Please explain the mooring fee", "the mooring fee"),
        ("What is a berth?", "What is a berth?"),
        ("Please explain it", "Please explain it"),  # nothing would be left
    ],
)
def test_preambles_go(sentence: str, core: str) -> None:
    assert without_preamble(sentence) == core


def test_how_much_must_be_left_is_the_callers_choice() -> None:
    assert without_preamble("Tell me about berths") == "Tell me about berths"
    assert without_preamble("Tell me about berths", least=1) == "berths"


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a fee?", ["What is a fee?"]),
        (
            "What is a mooring fee and who must pay it?",
            ["What is a mooring fee", "who must pay a mooring fee?"],
        ),
        (
            "Who pays the fee; and when is the fee due?",
            ["Who pays the fee", "when is the fee due?"],
        ),
        (
            "What is the difference between a berth and a quay?",
            [
                "What is the difference between a berth and a quay?",
                "What is a berth?",
                "What is a quay?",
            ],
        ),
        ("What are the Terms and Conditions?", ["What are the Terms and Conditions?"]),
        ("Do owners and masters pay?", ["Do owners and masters pay?"]),
    ],
)
def test_parts(question: str, parts: list[str]) -> None:
    assert [*question_parts(question)] == parts


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("What are the duties of a boat owner?", True),
        ("Which boats are exempt?", True),
        ("Under which conditions may a boat be moved?", True),
        ("In what cases is the fee halved?", True),
        ("What must a hull inspection include?", True),
        ("What does the notice contain?", True),
        ("What rights and duties does an owner have?", True),
        ("When may the harbour master board a boat?", True),
        ("What information is published?", True),
        ("List the duties of owners.", True),
        ("Name the officers of the port.", True),
        ("What is a berth?", False),
        ("Who pays the fee?", False),
        ("How much is the fee?", False),
        ("When did the Act take effect?", False),
        ("Which boat is exempt?", False),
        ("Is a whichever clause valid?", False),
        ("", False),
    ],
)
def test_questions_that_a_list_may_answer(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


def test_whether_several_are_asked_for_is_said_quickly() -> None:
    for piece in ("what a b c ", "which ", "what which "):
        assert asks_for_several((piece * 4000)[:20000] + "s") in (True, False)


FRAGMENTS = st.sampled_from(
    "what is|who| and |; |? |. |between|it|,|:|- |the|so|or|tell me about|as a tenant, |fee|Is"
    "|please|\n|i want to know|\x1f".split("|")
)
ASKED = st.one_of(st.text(min_size=1, max_size=150), st.lists(FRAGMENTS, max_size=14).map(" ".join))


@given(ASKED.filter(lambda text: text.strip()))
def test_every_question_has_a_part(question: str) -> None:
    assert question_parts(question)


def test_a_long_question_is_taken_apart_quickly() -> None:
    for piece in ("what is a and ", "between a and ", "as a x ", "i know ", "; ", "so what "):
        assert question_parts((piece * 4000)[:4000])


TWO = """\
What must be published, and for how long? | What must be published, for how long?
When must the fee be paid, and to whom? | When must the fee be paid, to whom?
What records must a licensee keep and for how many years? \
| What records must a licensee keep, for how many years?
Which documents must be submitted, and in what form? \
| Which documents must be submitted, in what form?
What rights does a passenger have, and against whom? \
| What rights does a passenger have, against whom?
Can a tenant appeal the decision, and within what period? \
| Can a tenant appeal the decision, within what period?
May a landlord enter the flat, and under what conditions? \
| May a landlord enter the flat, under what conditions?
Must the operator notify the authority, and if so, by when? \
| Must the operator notify the authority, by when?
Is subletting allowed, and if so, when? | Is subletting allowed, when?
Who must file the annual report and where? | Who must file the annual report, where?
Which vehicles are exempt? Why? | Which vehicles are exempt, Why?
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
What counts as waste and who has to dispose of it? | What counts as waste, who has to dispose of it?
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


@pytest.mark.parametrize(
    ("question", "context", "whole", "asked"),
    [
        ("And if not?", "Fees", "And if not, regarding Fees?", "And if not, regarding Fees?"),
        ("And yachts...", "Who pays?", "And yachts, regarding Who pays?", "And yachts?"),
        ("And fees", "a, regarding b", "And fees, regarding a, regarding b?", "And fees?"),
    ],
)
def test_it_is_written_behind_and_taken_off(
    question: str, context: str, whole: str, asked: str
) -> None:
    assert in_context(question, context) == whole
    assert without_context(whole) == asked


@pytest.mark.parametrize("question", ["", "?", "Who pays the fee?", "Anything regarding boats?"])
def test_a_question_without_one_stays(question: str) -> None:
    assert without_context(question) == question
