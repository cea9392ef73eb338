"""The authorities of a corpus, what an answer cites, and the known question that leads to each."""

import pytest
from sets import rows

from lexloop.store.view import View
from lexloop_eval.eval_rag.questions import (
    MOST_CHARS,
    Authority,
    CitedAuthorities,
    KnownAnswer,
    QuestionIndex,
    authorities_of,
    pair_entries,
)


@pytest.fixture(scope="module")
def authorities(acts: View) -> list[Authority]:
    return authorities_of(acts)


def labels(authorities: list[Authority], text: str) -> list[str]:
    return [authority.label for authority in CitedAuthorities(authorities).of(text)]


def test_the_sections_of_a_corpus_and_a_long_one_cut(authorities: list[Authority]) -> None:
    assert [authority.kind for authority in authorities if authority.kind == "case"] == ["case"]
    names = {authority.label for authority in authorities}
    assert {"dog_act.txt § 1", "dog_act.txt § 2", "cat_act.txt § 7"} <= names
    assert all(0 < len(authority.text) <= MOST_CHARS for authority in authorities)


@pytest.mark.parametrize(("answer", "cited"), rows("eval_rag_references"))
def test_references(authorities: list[Authority], answer: str, cited: list[str]) -> None:
    assert labels(authorities, answer) == cited


def test_a_pair_rests_on_what_its_answer_cites(authorities: list[Authority]) -> None:
    cited, alone = pair_entries(
        [
            KnownAnswer(question="How?", answer="By § 2 and § 7."),
            KnownAnswer(question="Why?", answer=" So. "),
        ],
        authorities,
    )
    assert cited.authority.origin == "cited"
    assert cited.authority.label == "dog_act.txt § 2, cat_act.txt § 7"
    assert cited.authority.documents == ("dog_act.txt", "cat_act.txt")
    assert "leash" in cited.authority.text
    assert "chip" in cited.authority.text
    assert (alone.authority.origin, alone.authority.text) == ("answer", "So.")
    assert alone.authority.documents == ()


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("How much is a licence for my dog?", "dog_act.txt § 1"),
        ("Does a cat outdoors need a chip?", "cat_act.txt § 7"),
        ("What does a chip cost?", "a known answer"),
        ("My dog died; do I get the fee back?", "2013MU2250.txt"),
    ],
)
def test_the_nearest_question_leads_to_the_authority(
    index: QuestionIndex, question: str, label: str
) -> None:
    (match,) = index.nearest([question], [None])
    assert match is not None
    assert match[0].authority.label == label
    assert 0.3 < match[1] <= 1.01


def test_a_known_question_finds_itself_and_only_documents_asked_for(index: QuestionIndex) -> None:
    questions = [entry.question for entry in index.entries]
    matches = index.nearest(questions, [None] * len(questions))
    assert [match[0].question for match in matches if match] == questions
    dog = "How much is a licence for my dog?"
    cats, nothing = index.nearest([dog, dog], [["cat_act.txt"], ["no_act.txt"]])
    assert cats is not None
    assert cats[0].authority.documents == ("cat_act.txt",)
    assert nothing is None
    assert index.nearest([], []) == []
