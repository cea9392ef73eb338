"""What each template asks of a sentence, and what it leaves alone."""

import pytest

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.evaluation.testset.facts import read_facts
from lexloop.evaluation.testset.phrases import (
    is_actor,
    lowered,
    noun_phrase,
    read_rule,
    uncapitalised,
    with_article,
)
from lexloop.evaluation.testset.templates import Fact
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

LAW = """HARBOUR ACT 2020

The harbour act applies to every boat in the basin and to those who own one.

Section 1 Mooring

(1) {}

Section 2 The basin

(1) The basin is open to the public from May to October of every year.
"""


def facts_of(*texts: str) -> list[Fact]:
    documents = [Document(f"{place}.txt", "Law", text) for place, text in enumerate(texts)]
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    return read_facts(collection.seen_by(Filters()))


def asked(sentence: str) -> dict[str, Fact]:
    return {fact.question: fact for fact in facts_of(LAW.format(sentence))}


OWNER = "The owner must report a collision to the harbour master within 3 days of the collision."
NOTICE = "The notice must be posted on the gate at least 10 days before the sale."
TEMPLATES = [
    (
        "“Levy” means the yearly charge on each boat in the basin.",
        "definition", "What is meant by “Levy”?", "what is meant by “Levy”",
    ),
    (
        "A mooring permit is a written consent of the harbour council to the use of a berth.",
        "definition", "What is meant by “mooring permit”?", "what is meant by “mooring permit”",
    ),
    (
        "The mooring fee is $40 a week.",
        "amount", "How much is the mooring fee?", "how much the mooring fee is",
    ),
    (
        "This Act takes effect on 3 May 2021.",
        "date", "When does the Act take effect?", "when the Act takes effect",
    ),
    (
        "The bylaw was adopted by the harbour board on 4 June 2020.",
        "date", "When was the bylaw adopted?", "when the bylaw was adopted",
    ),
    (
        OWNER,
        "time", "Within what time must the owner report a collision to the harbour master?",
        "within what time the owner must report a collision to the harbour master",
    ),
    (
        NOTICE,
        "time",
        "How long before the sale must the notice be posted on the gate under Section 1(1)?",
        "how long before the sale the notice must be posted on the gate under Section 1(1)",
    ),
    (
        "The owner must keep the log of every voyage for at least 2 years.",
        "time", "For how long must the owner keep the log of every voyage?",
        "for how long the owner must keep the log of every voyage",
    ),
    (
        "The warden must inspect the lock once a month.",
        "time", "How often must the warden inspect the lock?",
        "how often the warden must inspect the lock",
    ),
    (
        OWNER,
        "who", "Who must report a collision to the harbour master within 3 days of the collision?",
        "who must report a collision to the harbour master within 3 days of the collision",
    ),
    (
        "If a boat is damaged, the owner must moor at the northern quay.",
        "duty", "What must the owner do if a boat is damaged?",
        "what the owner must do if a boat is damaged",
    ),
    (
        "The owner must not paint a boat in the basin unless the warden agrees.",
        "exception",
        "What exception is there to the rule that the owner must not paint a boat in the basin?",
        "what exception there is to the rule that the owner must not paint a boat in the basin",
    ),
    (
        "The owner may moor a boat overnight only if the harbour is not full.",
        "condition", "On what condition may the owner moor a boat overnight?",
        "on what condition the owner may moor a boat overnight",
    ),
    (
        "The owner is required to carry such lights as the rules prescribe.",
        "none", "", "",
    ),
    (
        "The owner must carry the lights that the harbour master has approved of.",
        "provision", "What must the owner do under Section 1(1)?",
        "what the owner must do under Section 1(1)",
    ),
    (
        "The log must include the name of every guest on the boat.",
        "list", "What must the log include under Section 1(1)?",
        "what the log must include under Section 1(1)",
    ),
    (
        "The northern quay must be kept free of ice by the harbour master.",
        "provision", "What does Section 1(1) say about the northern quay?",
        "what Section 1(1) says about the northern quay",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "kind", "question", "clause"), TEMPLATES)
def test_a_sentence_gives_its_question(
    sentence: str, kind: str, question: str, clause: str
) -> None:
    found = asked(sentence)
    if kind == "none":
        assert found == {}
        return
    fact = found[question]
    assert (fact.kind, fact.clause) == (kind, clause)
    assert fact.answer == sentence
    assert [span.section[:12] for span in fact.spans] == ["Section 1(1)"]


@pytest.mark.parametrize(
    ("sentence", "question", "verdict"),
    [
        (
            "No person may moor a boat at the northern quay.",
            "A person would like to moor a boat at the northern quay. Is that allowed?", "No.",
        ),
        (
            "Any owner may sell a berth to another person.", "", "",
        ),
        (
            "Any owner may sell a berth at the northern quay.",
            "An owner would like to sell a berth at the northern quay. Is that allowed?", "Yes.",
        ),
        (
            OWNER,
            "The owner decided not to report a collision to the harbour master within 3 days of "
            "the collision. Is that allowed?", "No.",
        ),
        (
            "If a boat is damaged, the owner may moor at the northern quay.",
            "Suppose that a boat is damaged, and that the owner would like to moor at the northern "
            "quay. Is that allowed?", "Yes.",
        ),
        ("The owner may paint a boat in the basin unless the warden objects.", "", ""),
    ],
)  # fmt: skip
def test_a_case_is_made_of_a_rule_without_an_exception(
    sentence: str, question: str, verdict: str
) -> None:
    cases = {q: fact for q, fact in asked(sentence).items() if fact.kind == "case"}
    assert list(cases) == [question] * bool(question)
    for fact in cases.values():
        assert fact.answer == f"{verdict} {sentence}"


def test_a_list_is_answered_with_all_its_items(laws: View) -> None:
    facts = {fact.question: fact for fact in read_facts(laws)}
    fact = facts["What must the application state under Section 2(2)?"]
    assert fact.answer.startswith("The application must state—")
    assert fact.answer.endswith("(d) whether anyone lives on board.")
    assert fact.turns == (
        "Is there anything that the application must state under Section 2(2)?",
        "Yes, there is.",
        "What exactly?",
    )


def test_follow_ups_need_what_was_said_before() -> None:
    facts = asked("The owner must not paint a boat in the basin unless the warden agrees.")
    turns = [fact.turns for fact in facts.values() if fact.kind == "exception"]
    assert turns == [
        ("May the owner paint a boat in the basin?", "As a rule, no.", "Is there an exception?")
    ]
    time = [fact.turns for fact in asked(OWNER).values() if fact.kind == "time"]
    assert time == [
        (
            "Must the owner report a collision to the harbour master?",
            "Yes.",
            "Within what time?",
        )
    ]


def test_a_heading_that_asks_is_asked() -> None:
    law = LAW.format("The warden opens the gate every day.").replace(
        "Section 2 The basin", "Section 2 When is the basin open to the public?"
    )
    found = {fact.question: fact.answer for fact in facts_of(law)}
    assert found["When is the basin open to the public?"].startswith("The basin is open to the")
    pointing = law.replace("the basin open", "it open")
    assert not [fact for fact in facts_of(pointing) if fact.kind == "heading"]


@pytest.mark.parametrize(
    "sentence",
    [
        "It must include the name of every guest on the boat.",
        "Such notice must be posted at least 10 days before the sale of the boat.",
        "Permit has the meaning given in section 4 of the harbour act.",
        "The requirements of paragraph (2) must be met within 3 days of the sale.",
        "Mooring. Berths. Fees and charges for the season.",
        "( ( ( must must must ) (",
        "The owner must | the warden may | 3 days | $40 |",
        "The owner must, inter alia, keep:",
        "The owner must keep the following",
        "The owner must keep: (b) the log of every voyage; and (c) the anchor of the boat.",
        "What the owner must do the warden may not.",
        "The phrase means that the owner is asleep in the cabin.",
        "The boat must moor and the council finds that it may.",
        "?!",
    ],
)
def test_what_is_unclear_cut_or_no_sentence_is_not_asked(sentence: str) -> None:
    assert asked(sentence) == {}


@pytest.mark.parametrize(
    "text",
    [
        "§ 1 Begriffe\n\n(1) „Halter“ ist, wer das Boot nutzt und die Kosten trägt. Der Halter "
        "muss den Unfall binnen drei Tagen melden. Er darf das Boot nicht ohne Erlaubnis malen.\n\n"
        "§ 2 Was ist ein Hafen?\n\nEin Hafen ist ein Becken, in dem Boote liegen dürfen.",
        "Article 1\n\nOn entend par « port » un bassin dans lequel les bateaux peuvent être "
        "amarrés. Le propriétaire doit déclarer la collision dans les trois jours. Il ne peut "
        "pas peindre le bateau sans l'accord du maître de port.",
        "| Fee | Sum |\n|---|---|\n| The fee is | $40 |\n| The owner must pay | $50 |\n",
        "Boats\n\nBerths\n\nFees\n",
        "",
    ],
)
def test_other_languages_tables_and_mere_headings_give_nothing(text: str) -> None:
    english = LAW.format("The warden opens the gate every day.")
    assert facts_of(text + "\n", english) == facts_of("\n", english) == []


def test_statements_that_answer_one_question_are_one_fact() -> None:
    one = LAW.format("The mooring fee is $40 a week.")
    both = {fact.question: fact for fact in facts_of(one, one.replace("$40", "$50"))}
    fact = both["How much is the mooring fee?"]
    assert fact.answer == "The mooring fee is $40 a week. The mooring fee is $50 a week."
    assert [span.document for span in fact.spans] == ["0.txt", "1.txt"]
    many = [one.replace("$40", f"${n}0") for n in range(1, 6)]
    assert facts_of(*many) == []


def test_a_case_on_which_documents_disagree_is_not_asked() -> None:
    allowed = LAW.format("An owner may sell a berth at the northern quay.")
    forbidden = LAW.format("An owner must not sell a berth at the northern quay.")
    assert [fact for fact in facts_of(allowed) if fact.kind == "case"]
    assert not [fact for fact in facts_of(allowed, forbidden) if fact.kind == "case"]


def test_a_provision_with_more_to_say_is_not_asked_for_one_duty() -> None:
    more = "The owner must carry the lights approved of by us. It must also carry an anchor."
    assert asked(more) == {}


@pytest.mark.parametrize(
    ("subject", "named"),
    [
        ("Any owner", "an owner"),
        ("Each operator of a ferry", "an operator of a ferry"),
        ("The harbour master", "the harbour master"),
        ("Any owners", "any owners"),
        ("Owners", "owners"),
        ("A person who keeps a boat", "a person who keeps a boat"),
        ("This notice of the sale", ""),
        ("Its owner", ""),
        ("The council finds that a member", ""),
        ("The rule the owner", ""),
        ("Paragraph 3", ""),
        ("No persons", ""),
    ],
)
def test_subjects_stand_within_a_question(subject: str, named: str) -> None:
    assert noun_phrase(subject, "of the owners, operators and boats") == named


def test_rules_are_read_strictly() -> None:
    rule = read_rule("No owner shall sell a berth unless the council agrees.", "")
    assert rule is not None
    assert (rule.clause, rule.link, rule.condition) == (
        "an owner must not sell a berth", "unless", "the council agrees",
    )  # fmt: skip
    assert read_rule("If it rains, the owner must close the hatch unless asleep.", "") is None
    assert read_rule("The owner must close it.", "") is None
    assert read_rule("The owner is entitled to sell a berth.", "") is not None


def test_words() -> None:
    assert [with_article(noun) for noun in ("auditor", "user", "AEDT", "hour", "late fee")] == [
        "an auditor", "a user", "an AEDT", "an hour", "a late fee",
    ]  # fmt: skip
    assert lowered("What is it?") == "what is it?"
    assert lowered("AEDTs are") == "AEDTs are"
    assert uncapitalised("Operator", "by an operator") == "operator"
    assert uncapitalised("Member States", "a member of") == "Member States"
    assert is_actor("the data protection officer", ())
    assert is_actor("any keepers", {"keeper"})
    assert not is_actor("the letter of the owner", ())
