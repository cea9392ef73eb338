"""One question in its several forms."""

import pytest

from lexloop.evaluation.testset.ask import Ask, core_noun, is_many, lowered, with_article

NOTICE = Ask("What", "must", "the written notice", "include", "Where a tool is used")


def test_a_question_is_put_directly_and_indirectly() -> None:
    assert NOTICE.direct() == "Where a tool is used, what must the written notice include?"
    assert NOTICE.indirect() == "what the written notice must include, where a tool is used"


def test_a_subject_becomes_a_pronoun_or_loses_its_qualifiers() -> None:
    assert NOTICE.of_it() == "Where a tool is used, what must it include?"
    assert NOTICE.vague() == "What must the notice include?"
    assert Ask("What", "must", "employers", "keep").of_it() == "What must they keep?"
    assert Ask("What", "is", "historical data").of_it() == "What is it?"


def test_do_gives_its_ending_to_the_verb() -> None:
    assert Ask("What", "does", "the law", "say").indirect() == "what the law says"
    assert Ask("What", "does", "the mill", "supply").indirect() == "what the mill supplies"
    assert Ask("What two parts", "does", "it", "have").indirect() == "what two parts it has"
    assert Ask("When", "did", "the hearing", "take place").indirect() == (
        "when the hearing took place"
    )
    assert Ask("When", "did", "the city", "adopt it").indirect() == "when the city adopted it"


def test_a_time_is_asked_vaguely_as_when() -> None:
    ask = Ask("How long before the tool is used", "must", "the notice of its use", "be given")
    assert ask.vague() == "When must the notice be given?"


def test_ones_own_things_lose_their_qualifiers() -> None:
    ask = Ask("For how long", "do", "you", "keep my old account data")
    assert ask.vague() == "For how long do you keep my data?"


@pytest.mark.parametrize(
    ("noun", "named"),
    [
        ("auditor", "an auditor"),
        ("note", "a note"),
        ("hearing", "a hearing"),
        ("user", "a user"),
        ("AEDT", "an AEDT"),
        ("hour", "an hour"),
        ("late fee", "a late fee"),
    ],
)
def test_articles(noun: str, named: str) -> None:
    assert with_article(noun) == named


def test_number_and_case() -> None:
    assert is_many("the summary of results and the date") is False
    assert is_many("the summary and the date")
    assert is_many("employers")
    assert not is_many("an employer that keeps records")
    assert lowered("The rule") == "the rule"
    assert lowered("AEDTs are") == "AEDTs are"
    assert lowered("I need") == "I need"
    assert core_noun("the summary of results") == "the summary"
    assert core_noun("an independent auditor of a tool") == "an auditor"
