"""Test sets of a statute, a contract and a contract."""

import json
from collections import Counter
from pathlib import Path

import pytest

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import tokenize, words
from lexloop.evaluation.case import OUT_OF_SCOPE, Span, read_cases
from lexloop.evaluation.testset.by_rules import RULE_TYPES, RuleMaker
from lexloop.evaluation.testset.make import (
    QUESTION_TYPES,
    MadeSet,
    Repeats,
    chosen_types,
    even_shares,
    is_connected,
    made_case,
    make_test_set,
    whole_question,
)
from lexloop.evaluation.testset.writing import write_rows
from lexloop.models.minilm import load_minilm
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools
from lexloop.store.view import View
from lexloop.store.writer import build_collection


@pytest.fixture(scope="module")
def made(contract: View) -> MadeSet:
    return make_test_set(contract, RuleMaker(contract, 7), 110, RULE_TYPES)


def test_every_type_is_there_and_as_evenly_as_can_be(made: MadeSet) -> None:
    counts = Counter(question.question_type for question in made.questions)
    assert len(made.questions) == 110
    assert set(counts) == set(RULE_TYPES) == set(QUESTION_TYPES) - {"vague"}
    for kind in RULE_TYPES:
        assert counts[kind] >= 11 - made.shortfall.get(kind, 0)


def test_spans_hold_what_the_context_says(made: MadeSet, contract: View) -> None:
    for question in made.questions:
        texts = [_quote(contract, span) for span in question.evidence or ()]
        assert question.reference_context == "\n\n".join(texts)
        assert all(text == text.strip() and text for text in texts)
        assert bool(texts) is not question.out_of_scope


def test_answers_are_what_the_evidence_says(made: MadeSet) -> None:
    for question in made.questions:
        if question.out_of_scope:
            continue
        said = set(words(question.reference_answer or "")) - {"yes", "no"}
        context = set(words(question.reference_context or ""))
        assert len(said & context) >= 0.9 * len(said), question.question


def test_nothing_is_asked_twice(made: MadeSet) -> None:
    asked = Repeats()
    vectors = load_minilm().embed([whole_question(question) for question in made.questions])
    for question, vector in zip(made.questions, vectors, strict=True):
        assert asked.take(whole_question(question), vector), question.question


def test_a_conversation_is_needed_to_understand_its_question(made: MadeSet) -> None:
    for question in made.questions:
        talks = question.question_type == "conversational"
        assert bool(question.conversation_history) is talks
        if talks:
            assert len(words(question.question)) < 12


def test_what_is_out_of_scope_names_what_the_documents_lack(made: MadeSet, contract: View) -> None:
    for question in made.questions:
        if question.question_type == OUT_OF_SCOPE:
            lacking = (question.reference_answer or "").rpartition("nothing of ")[2]
            assert not any(map(contract.knows, tokenize(lacking)))


def test_a_seed_gives_the_same_set_again(contract: View) -> None:
    one, same, other = (
        make_test_set(contract, RuleMaker(contract, seed), 22, RULE_TYPES).questions
        for seed in (3, 3, 4)
    )
    assert one == same
    assert one != other


def test_a_gold_file_is_read_again(contract: View, tmp_path: Path) -> None:
    made = make_test_set(contract, RuleMaker(contract, 7), 30, RULE_TYPES)
    write_rows(tmp_path / "gold.jsonl", made.questions)
    assert read_cases(tmp_path / "gold.jsonl") == made.questions
    row = json.loads((tmp_path / "gold.jsonl").read_text("utf-8").splitlines()[0])
    assert set(row) >= {"question", "reference_answer", "reference_context", "evidence"}


def test_what_one_type_cannot_give_the_others_do_and_it_is_said(contract: View) -> None:
    made = make_test_set(contract, RuleMaker(contract, 7), 55, RULE_TYPES)
    counts = Counter(question.question_type for question in made.questions)
    assert made.shortfall
    for kind, missing in made.shortfall.items():
        assert counts[kind] == 5 - missing
    assert sum(counts.values()) == 55


def test_more_than_can_be_made_gives_what_can(contract: View) -> None:
    made = make_test_set(contract, RuleMaker(contract, 7), 5000, ("simple", "compare"))
    assert 0 < len(made.questions) < 100
    assert set(made.shortfall) == {"simple", "compare"}


def test_shares_are_even() -> None:
    assert even_shares(8, ("a", "b", "c")) == {"a": 3, "b": 3, "c": 2}


def test_types_are_known_by_name() -> None:
    assert chosen_types(["Out-of-Scope", "simple"]) == ("simple", OUT_OF_SCOPE)
    assert chosen_types([]) == tuple(QUESTION_TYPES)
    assert chosen_types([], RULE_TYPES) == RULE_TYPES
    with pytest.raises(InputError, match=r"no question of type 'Vague'.*--model"):
        chosen_types(["Vague"], RULE_TYPES)
    with pytest.raises(InputError, match=r"'funny'.*rule_conclusion"):
        chosen_types(["funny"])


def test_no_question_of_nothing(contract: View) -> None:
    with pytest.raises(InputError, match="n is 0"):
        make_test_set(contract, RuleMaker(contract, 7), 0, ("simple",))


def test_documents_that_state_nothing_are_refused() -> None:
    view = _view("La la la, la la. Tum te tum te tum te tum.")
    with pytest.raises(CorpusError, match="No question could be made"):
        make_test_set(view, RuleMaker(view, 7), 5, ("simple", "compare"))


def test_hidden_documents_are_not_asked_about() -> None:
    text = "A permit is a written consent of the harbour council to the use of a berth."
    collection = build_collection([Document("a.txt", "A", text)], _tools())
    seen = collection.seen_by(Filters())
    assert len(RuleMaker(seen, 7).facts) == 1
    hidden = collection.seen_by(Filters(kinds=frozenset({"statute"})))
    with pytest.raises(CorpusError, match="No question could be made"):
        make_test_set(hidden, RuleMaker(hidden, 7), 5, RULE_TYPES)


def test_a_question_without_a_trace_of_its_evidence_is_not_connected(sample: View) -> None:
    first = next(iter(sample.every_chunk()))
    span = Span(document=first["document"], start=first["start"], end=first["start"] + 40)
    ask = "How old must a candidate for promotion be?"
    astray = made_case(sample, "simple", ask, "No.", (span,))
    near = made_case(sample, "simple", first["text"][:200], "Yes.", (span,))
    assert is_connected(near, sample)
    assert not is_connected(astray, sample)


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


def _quote(view: View, span: Span) -> str:
    return (view.text_of(span.document) or "")[span.start : span.end]


def _tools() -> Tools:
    return tools_for(Settings(), load_minilm())


def _view(text: str) -> View:
    collection = build_collection([Document("a.txt", "A", text)], _tools())
    return collection.seen_by(Filters())
