"""What a text denies, and when two texts are at odds over it."""

import pytest

from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.evaluate.disagreements import contradicts, denied, negated, turned

PAYS = "The owner must pay the fee."


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The owner need not pay.", {"pay"}),
        ("Nobody pays.", {"pay"}),
        ("He doesn't ever sail.", {"ever"}),
        ("A boat without a keel.", {"keel"}),
        ("not more than 5 days", set()),
        ("not only boats but rafts", set()),
        ("No. The owner pays.", set()),
        ("Bill No. 17 passed.", set()),
        ("The owner pays.", set()),
        ("not", set()),
        ("", set()),
    ],
)
def test_denied(text: str, terms: set[str]) -> None:
    assert denied(text) == terms


def test_a_word_can_deny_by_itself() -> None:
    assert negated("The boat is exempt.")
    assert negated("It is never moored.")
    assert not negated(PAYS)


@pytest.mark.parametrize(
    ("claim", "sentence", "term"),
    [
        ("The owner must not pay the fee.", PAYS, "pay"),
        ("The owner pays the fee.", "The owner must not pay the fee.", "pay"),
        ("The owner does not pay the fee.", "No owner pays the fee.", None),
        ("The owner need not pay the fee.", "The owner is exempt from the fee.", None),
        ("The owner is exempt from paying the fee.", "The owner does not pay the fee.", None),
        ("The owner pays the fee.", "The owner pays the fee, not the guest.", None),
        ("The owner pays the fee.", PAYS, None),
    ],
)
def test_contradicts(claim: str, sentence: str, term: str | None) -> None:
    assert contradicts(claim, [sentence], frozenset(tokenize(claim))) == term


@pytest.mark.parametrize(
    ("claim", "sentence", "term"),
    [
        ("The owner must not pay the fee.", PAYS, "pay"),
        ("The owner may sail.", "The owner may not sail.", "sail"),
        ("It costs more than 5 coins.", "It costs not more than 5 coins.", "more than"),
        ("It is exempt.", "It is not covered.", None),
        (PAYS, PAYS, None),
    ],
)
def test_turned(claim: str, sentence: str, term: str | None) -> None:
    assert turned(claim, sentence, frozenset(tokenize(claim))) == term
