"""What the graph brings up without a model, and how much of it a question needed, as a label."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import ClassPlan
from lexloop.store.view import Collection
from lexloop_eval.case import OUT_OF_SCOPE, Case, Said, Span
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.graph_runs import retriever
from lexloop_train.classifier import LabelledQuestions, ours, train
from lexloop_train.classifier_report import held_out
from lexloop_train.depth import TEXT, classes_of, depth, labelled, measured, pieces

FEE = "A boat owner must pay the mooring fee within 10 business days of arrival."
PERMIT = "A winter permit costs $80."


def gold(question: str, **more: object) -> Case:
    return Case.model_validate({"question": question, **more})


@pytest.mark.parametrize(
    ("ranked", "needed", "expected"),
    [
        ("abc", [{"a"}], 1),
        ("abc", [{"a"}, {"c", "b"}], 2),  # the first that holds a piece is enough
        ("abc", [{"c"}, {"z"}], 3),  # what is never found asks for no more
        ("abc", [{"z"}], 1),
        ("abc", [], 1),
        ("", [{"a"}], 1),
    ],
)
def test_depths_by_hand(ranked: str, needed: list[set[str]], expected: int) -> None:
    assert depth(list(ranked), needed) == expected


@given(
    st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sets(st.sampled_from("abcdef")))
)
def test_no_piece_found_later_is_missed(ranked: list[str], needed: list[set[str]]) -> None:
    place = depth(ranked, needed)
    assert all(piece & set(ranked[:place]) for piece in needed if piece & set(ranked))


def test_classes_are_those_whose_k_is_enough() -> None:
    # the plan takes 3, 5 and 7
    assert classes_of([1, 3, 4, 5, 6, 7, 20], Settings()).tolist() == [0, 0, 1, 1, 2, 2, 2]
    plans = tuple(ClassPlan(k=k, Q=1, K=1, S=1) for k in (1, 2, 4))
    assert classes_of([1, 2, 3], Settings(**{"plan.classes": plans})).tolist() == [0, 1, 2]


def test_pieces_are_spans_else_contexts_else_documents(index: Collection) -> None:
    view = index.seen_by(Filters())
    evidence = EvidenceIndex(view.every_chunk())
    start = (view.text_of("law.txt") or "").index(FEE)
    span = Span(document="law.txt", start=start, end=start + len(FEE))
    held = view.text_of("guide.md") or ""
    assert PERMIT in held
    quoted = f"Document 1: {FEE}\n\nDocument 2: {PERMIT}"
    by_span, by_context, by_name = (
        pieces(evidence, gold("Why?", **more))
        for more in (
            {"evidence": [span], "reference_context": quoted},
            {"reference_context": quoted},
            {"documents": ["guide.md"]},
        )
    )
    assert (len(by_span), len(by_context), len(by_name)) == (1, 2, 1)
    assert set(by_span[0]) == set(by_context[0])
    assert set(by_context[1]) <= set(by_name[0])
    assert pieces(evidence, gold("Why?")) == []
    assert (
        pieces(evidence, gold("Why?", question_type=OUT_OF_SCOPE, reference_context=quoted)) == []
    )


def test_questions_are_labelled_by_what_the_index_brings_up(index: Collection) -> None:
    asked = [
        gold("What does a winter permit cost?", reference_context=PERMIT),
        gold("Where is Chicago?", question_type=OUT_OF_SCOPE),
    ]
    rows = labelled(asked, index, Settings())
    assert rows.clean == ["What does a winter permit cost?"]
    assert rows.labels.tolist() == [0]
    with pytest.raises(InputError, match="any of the 1 questions"):
        labelled(asked[1:], index, Settings())


TOPICS = "penguins volcanoes harpsichords glaciers saffron zeppelins obsidian kettles".split()


def rows() -> LabelledQuestions:
    """Questions whose opening says how deep their answer lies."""
    openings = ("What is the fee of {}?", "List each rule on {}!", "Compare {} in all our laws.")
    texts = [opening.format(topic) for topic in TOPICS for opening in openings]
    return LabelledQuestions(texts, texts, np.array([0, 1, 2] * len(TOPICS)))


def test_what_is_plain_is_learnt() -> None:
    classifier = train(rows(), TEXT, 0)
    assert int(np.argmax(classifier.probabilities("List each rule on tulips!", 3))) == 1
    learnt, usual = measured(rows(), 0)
    assert (learnt.accuracy, learnt.f1) == (1.0, 1.0)
    # 8 of 24 are right; F1 of the one class that is ever said is 2 x 8 / (8 + 24)
    assert (usual.accuracy, usual.f1) == pytest.approx((1 / 3, 1 / 6))


def test_no_row_is_judged_by_what_saw_its_group() -> None:
    # each opening is one group: nothing that is seen tells of the class that is left out
    groups = np.array([0, 1, 2] * len(TOPICS))
    with pytest.raises(CorpusError, match="rows of the labels"):
        held_out(rows(), lambda kept: ours(train(kept, TEXT, 0)), [(3, "clean")], 0, groups)


def test_as_many_passages_as_asked_for_come_best_first(index: Collection) -> None:
    case = Case(question="What does a winter permit cost?")
    two, six = (retriever(index, Settings(), k)(case) for k in (2, 6))
    assert [passage["n"] for passage in six] == [1, 2, 3, 4, 5, 6]
    assert [passage["id"] for passage in six[:2]] == [passage["id"] for passage in two]
    assert "winter permit" in six[0]["text"]


def test_a_model_of_the_settings_is_not_asked(index: Collection) -> None:
    retrieve = retriever(index, Settings(model="openai:nobody"), 1)
    history = (Said(role="user", content="What does a winter permit cost?"),)
    case = Case(question="And who pays it?", conversation_history=history)
    assert len(retrieve(case)) == 1
