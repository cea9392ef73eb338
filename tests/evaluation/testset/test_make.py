"""Test sets of a contract."""

from collections import Counter

import pytest

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import tokenize, words
from lexloop.evaluation.case import OUT_OF_SCOPE, Span
from lexloop.evaluation.testset.facts import RULE_TYPES, RuleMaker
from lexloop.evaluation.testset.make import (
    QUESTION_TYPES,
    MadeSet,
    Repeats,
    chosen_types,
    even_shares,
    is_connected,
    made_case,
    make_test_set,
)
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

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
            said = set(words(question.reference_answer or ""))
            assert said <= set(words("\n".join(texts))), question.question


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
    own = [one for one in made.questions if one.question_type == OUT_OF_SCOPE]
    lacking = [(one.reference_answer or "").partition("say nothing of ")[2] for one in own]
    assert "" in lacking
    for question, topic in zip(own, lacking, strict=True):
        if topic:
            assert not any(map(contract.knows, tokenize(topic)))
        else:
            (named,) = find_references(question.question)
            assert tree.find(named) == []
            assert "the last of its kind is Clause 6" in (question.reference_answer or "")


def test_a_seed_gives_the_same_set_again(contract: View) -> None:
    one, same, other = (
        make_test_set(contract, RuleMaker(contract, seed), 22, RULE_TYPES).questions
        for seed in (3, 3, 4)
    )
    assert one == same
    assert one != other


def test_more_than_can_be_made_gives_what_can(contract: View) -> None:
    made = make_test_set(contract, RuleMaker(contract, 7), 5000, ("simple", "compare"))
    assert 0 < len(made.questions) < 100
    assert set(made.shortfall) == {"simple", "compare"}
    assert even_shares(8, ("a", "b", "c")) == {"a": 3, "b": 3, "c": 2}


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
