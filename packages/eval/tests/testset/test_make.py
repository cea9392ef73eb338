"""Test sets of a contract, from facts of its tree and by a model; rewordings by a model."""

import json
from collections import Counter
from random import Random

import pytest
from fake_openai import FakeOpenAI, Reply, Request
from sets import rows, whole_text

from lexloop.core.errors import CorpusError, InputError, ModelUnavailable
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import tokenize, words
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection
from lexloop_eval.asking import Asker
from lexloop_eval.case import OUT_OF_SCOPE, Span
from lexloop_eval.testset.facts import RULE_TYPES, Fact, RuleMaker, lowered, read_facts
from lexloop_eval.testset.make import (
    QUESTION_TYPES,
    MadeSet,
    ModelMaker,
    Repeats,
    WrittenQuestion,
    case_of,
    chosen_types,
    is_connected,
    made_case,
    make_test_set,
)
from lexloop_eval.testset.training import ModelNoise

N = 63


@pytest.fixture(scope="module")
def made(contract: View) -> MadeSet:
    return make_test_set(contract, RuleMaker(contract, 7), N, RULE_TYPES)


def test_types_are_even_and_what_one_cannot_give_the_others_do(made: MadeSet) -> None:
    counts = Counter(question.question_type for question in made.questions)
    assert set(counts) == set(RULE_TYPES) == set(QUESTION_TYPES) - {"vague", "rule_conclusion"}
    assert sum(counts.values()) == N
    assert made.shortfall["compare"] == N // len(RULE_TYPES) - counts["compare"]
    for kind in set(RULE_TYPES) - set(made.shortfall):
        assert counts[kind] >= N // len(RULE_TYPES)


def test_answer_and_context_are_what_the_evidence_says(made: MadeSet, contract: View) -> None:
    for question in made.questions:
        spans = question.evidence or ()
        texts = [(contract.text_of(span.document) or "")[span.start : span.end] for span in spans]
        assert question.reference_context == "\n\n".join(texts)
        assert all(text == text.strip() and text for text in texts)
        assert bool(texts) is not question.out_of_scope
        if texts:
            answer_words = set(words(question.reference_answer or ""))
            assert answer_words <= set(words("\n".join(texts))), question.question


def test_nothing_is_asked_twice_and_a_conversation_is_needed(made: MadeSet) -> None:
    asked = Repeats()
    vectors = load_minilm().embed([question.whole_question for question in made.questions])
    for question, vector in zip(made.questions, vectors, strict=True):
        assert asked.take(question.whole_question, vector), question.question
        talks = question.question_type == "conversational"
        assert bool(question.conversation_history) is talks
        assert not talks or len(words(question.question)) < 12


def test_what_is_out_of_scope_is_in_no_document(made: MadeSet, contract: View) -> None:
    tree = contract.tree_of(contract.documents[0]) or Tree()
    own = [question for question in made.questions if question.question_type == OUT_OF_SCOPE]
    lacking = [
        (question.reference_answer or "").partition("say nothing of ")[2] for question in own
    ]
    assert "" in lacking
    for question, topic in zip(own, lacking, strict=True):
        if topic:
            assert not any(map(contract.knows, tokenize(topic)))
        else:
            (named,) = find_references(question.question)
            assert tree.find(named) == []
            assert "the last of its kind is Clause 6" in (question.reference_answer or "")


def test_types_are_known_by_name() -> None:
    assert chosen_types(["Out-of-Scope", "simple"]) == ("simple", OUT_OF_SCOPE)
    assert chosen_types([]) == tuple(QUESTION_TYPES)
    assert chosen_types([], RULE_TYPES) == RULE_TYPES
    with pytest.raises(InputError, match=r"no question of type 'Vague'.*--model"):
        chosen_types(["Vague"], RULE_TYPES)
    with pytest.raises(InputError, match=r"'funny'.*rule_conclusion"):
        chosen_types(["funny"])


def test_what_is_hidden_or_states_nothing_is_not_asked_about(contract: View) -> None:
    with pytest.raises(InputError, match="n is 0"):
        make_test_set(contract, RuleMaker(contract, 7), 0, ("simple",))
    text = "“Permit” means a written consent of the harbour council to the use of a berth."
    documents = [Document("a.txt", "A", text)]
    collection = build_collection(documents, tools_for(Settings(), load_minilm()))
    assert len(RuleMaker(collection.seen_by(Filters()), 7).facts) == 1
    hidden = collection.seen_by(Filters(kinds=frozenset({"statute"})))
    with pytest.raises(CorpusError, match="No question could be made"):
        make_test_set(hidden, RuleMaker(hidden, 7), 5, RULE_TYPES)


def test_a_question_without_a_trace_of_its_evidence_is_not_connected(contract: View) -> None:
    last = list(contract.every_chunk())[-1]
    span = Span(document=last["document"], start=last["start"], end=last["end"])
    near = made_case(contract, "simple", last["text"][:200], "Yes.", (span,))
    assert is_connected(near, contract)
    gone = Span(document=last["document"], start=10**6, end=10**6 + 9)
    assert not is_connected(made_case(contract, "simple", near.question, "No.", (gone,)), contract)


def test_near_repetitions_are_known_by_words_and_by_meaning() -> None:
    embed = load_minilm().embed

    def taken(*questions: str) -> list[bool]:
        asked = Repeats()
        return [asked.take(q, v) for q, v in zip(questions, embed(list(questions)), strict=True)]

    assert taken("What is a permit?", "what is  a permit") == [True, False]
    assert taken("What must the notice include?", "What must the notices be including?") == [
        True, False,
    ]  # fmt: skip
    assert taken("What is a permit?", "How long is a lease?") == [True, True]


def written(request: Request) -> Reply:
    """A question on the first sentence of the first passage."""
    passage = request.user.split("\n")[1]
    quote = passage.split(". ")[0]
    topic = " ".join(quote.split()[-4:])
    return Reply(json.dumps({
        "question": f"What do the documents say of {topic}?",
        "answer": quote,
        "quotes": [quote],
        "history_user": f"I want to know about {topic}.",
        "history_assistant": "",
    }))  # fmt: skip


def test_a_models_questions_are_tied_to_their_quotes(
    server: FakeOpenAI, asker: Asker, contract: View
) -> None:
    server.play("make_question", written)
    maker = ModelMaker(contract, asker, 7)
    for kind in ("simple", "conversational"):
        for question in make_test_set(contract, maker, 2, (kind,)).questions:
            assert question.evidence
            texts = [contract.text_of(span.document) or "" for span in question.evidence]
            quotes = [t[s.start : s.end] for t, s in zip(texts, question.evidence, strict=True)]
            assert question.reference_context == "\n\n".join(quotes)
            assert (question.reference_answer or "?") in quotes[0]
            roles = [turn.role for turn in question.conversation_history]
            assert roles == (["user", "assistant"] if kind == "conversational" else [])


def test_a_model_that_writes_nothing_is_said_to(
    server: FakeOpenAI, asker: Asker, contract: View
) -> None:
    server.play("make_question", Reply("I would rather not."))
    with pytest.raises(ModelUnavailable, match="wrote no question"):
        ModelMaker(contract, asker, 7)("simple", 2)


def test_quotes_must_be_in_the_passages(contract: View) -> None:
    chunk = next(iter(contract.every_chunk()))
    words = chunk["text"].split()[:6]

    def case(kind: str, *quotes: str, **more: str) -> object:
        reply = WrittenQuestion(
            question="What is flour?", answer="Wheat.", quotes=list(quotes), **more
        )
        return case_of(reply, kind, [chunk], contract)

    assert case("simple", "  \n".join(words)) is not None
    assert case("simple", "Rye is not flour.") is None
    assert case("simple", " ".join(words), "Rye is not flour.") is None
    assert case("simple") is None
    assert case("simple", " ") is None
    assert case(OUT_OF_SCOPE) is not None
    assert case("conversational", " ".join(words)) is None


def test_a_model_rewords_and_rules_stand_in(server: FakeOpenAI, asker: Asker) -> None:
    server.play("augment_question", Reply('{"question": "Levy?"}'), Reply("no"))
    noise = ModelNoise(asker)
    assert noise("shortened", "What is the levy?", Random(1)) == "Levy?"
    assert noise("misspelt", "What is the levy?", Random(1)) != "What is the levy?"
    assert len(server.requests) == 1
    assert noise("verbose", "What is the levy?", Random(1)).endswith("what is the levy?")
    assert noise.failed == 1


def test_a_model_rewords_as_the_paper_has_it(server: FakeOpenAI, asker: Asker) -> None:
    asker.rubrics = "reworded"
    server.play("after_kalra/augment_question", Reply("\nIs it a\nlevy?\n"))
    assert ModelNoise(asker)("vague", "What is the levy?", Random(1)) == "Is it a levy?"


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
