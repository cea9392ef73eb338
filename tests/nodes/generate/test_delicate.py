"""Questions that name crimes or sex, without the words that the documents lack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.generate.guard import plainer

KNOWN = frozenset(
    "must a tool that scores for jobs have an audit may employer keep record of conviction the sex "
    "who is".split()
)


def knows(word: str) -> bool:
    return word.lower() in KNOWN


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        (
            "Must a tool that scores strippers for jobs have an audit?",
            "Must a tool that scores for jobs have an audit?",
        ),
        (
            "May the employer keep a record of a conviction for rape or murder?",
            "May the employer keep a record of a conviction?",
        ),
        ("Who is sex-trafficked?", "Who is?"),
        ("May the employer keep a record of sex?", "May the employer keep a record of sex?"),
        ("What is the boiling point of molybdenum?", "What is the boiling point of molybdenum?"),
        ("Is therapy drapery?", "Is therapy drapery?"),
        ("", ""),
    ],
)
def test_only_words_that_the_documents_lack_go(question: str, plain: str) -> None:
    assert plainer(question, knows) == plain


@given(st.text(max_size=200))
def test_any_text_is_read_and_nothing_is_added(text: str) -> None:
    assert len(plainer(text, lambda _: False)) <= len(text)
    assert plainer(text, lambda _: True).split() == text.split() or "rap" in text.lower()
