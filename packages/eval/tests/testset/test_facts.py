"""What the tree of provisions lets ask, and what it leaves alone."""

import pytest
from sets import rows, whole_text

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.writer import build_collection
from lexloop_eval.testset.facts import Fact, lowered, read_facts

ACT = whole_text("act_facts.txt")
PLAIN = "The warden opens the gate to every owner of a boat."


def facts_of(*texts: str) -> dict[str, Fact]:
    documents = [Document(f"{place}.txt", "Law", text) for place, text in enumerate(texts)]
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    return {fact.question: fact for fact in read_facts(collection.seen_by(Filters()))}


def test_each_kind_is_read_off_the_tree() -> None:
    text = ACT.format("The fee under section 9 is $40 and is due within 3 days of 4 May 2021.")
    facts = facts_of(text)
    place = "Section 1(2), “Mooring”"
    stated = "The fee under section 9 is $40 and is due within 3 days of 4 May 2021."
    for question, kind, answer in (
        (f"Which sum of money is stated in {place}?", "number", stated),
        (f"Which time or period of time is stated in {place}?", "number", stated),
        (f"Which date is stated in {place}?", "number", stated),
        (f"Which other provision is referred to in {place}?", "reference", stated),
        (
            "What is listed in Section 1(3), “Mooring”?", "list",
            "The log must state— (a) the name of every guest, and (b) the length of the voyage.",
        ),
        ("What is said in Table 1 about “Canoe”?", "row", "Boat: Canoe; Fee: 52 euros a season."),
    ):  # fmt: skip
        fact = facts[question]
        assert (fact.kind, fact.answer, fact.pieces) == (kind, answer, 1)
        (span,) = fact.spans
        assert text[span.start : span.end].strip()
        assert fact.clause == lowered(question[:-1])
    heading = facts["When is the basin open to the public?"]
    assert (heading.kind, heading.clause) == ("heading", "")
    assert heading.answer.startswith("The basin is open to the public from May")


def test_a_definition_is_asked_for_by_its_term() -> None:
    facts = facts_of("Section 1 Definitions\n\n“craft” means anything that floats on a river;\n")
    fact = facts["What is meant by “craft”?"]
    assert (fact.kind, fact.about) == ("definition", "“craft”")
    assert fact.answer == "“craft” means anything that floats on a river."


def test_statements_that_answer_one_question_are_one_fact() -> None:
    question = "Which sum of money is stated in Section 1(2), “Mooring”?"
    one, *others = (ACT.format(f"The mooring fee is ${n}0 a week.") for n in range(4, 8))
    fact = facts_of(one, others[0])[question]
    assert fact.answer == "The mooring fee is $40 a week. The mooring fee is $50 a week."
    assert [span.document for span in fact.spans] == ["0.txt", "1.txt"]
    assert question not in facts_of(one, *others), "four answers are too many"


@pytest.mark.parametrize("text", rows("no_facts"))
def test_other_languages_mere_headings_and_no_sentences_give_nothing(text: str) -> None:
    assert facts_of(f"{text}\n", ACT.format(PLAIN)) == facts_of("\n", ACT.format(PLAIN))
