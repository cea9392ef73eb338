"""The facts of a text, and evidence with its sentences and terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statute import LAW

from lexloop.documents.text.quantities import facts, states
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import disagreements, evidence_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("within ten business days", {"10"}),
        ("a fine of $1,500.00", {"1500"}),
        ("under § 20-871(b)(1) of the code", {"20-871(b)(1)"}),
        ("on December 23, 2022", {"december", "23", "2022"}),
        ("on Dec. 23, 2022, or 3 Sept 2021", {"december", "23", "2022", "september", "3", "2021"}),
        ("1.50 % or 1.5 percent", {"1.5"}),
        ("one hundred and eighty days", {"180"}),
        ("between five and ten days", {"10"}),  # a number word counts before its unit alone
        ("one of them may do so, and the first ten boats as well", set()),
        ("may 3 boats lie there", {"3"}),
        ("1, 2 and 3", {"1", "2", "3"}),
    ],
)
def test_facts(text: str, expected: set[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "fact", "stated"),
    [
        ("within ten days", "10", True),
        ("within 100 days", "10", False),
        ("§ 20-871(b)(1)", "20-871(b)(1)", True),
        ("§ 20-871(b)(1)", "20-871(b)", True),
        ("§ 20-871(b)(1)", "20-87", False),
        ("§ 20-871\n(b) A notice. 1. A date.", "20-871(b)(1)", True),
        ("§ 20-871 and nothing below it", "20-871(b)(1)", False),
    ],
)
def test_states(text: str, fact: str, stated: bool) -> None:
    assert states(text, fact) is stated


PIECES = st.sampled_from("ten days| $1,500.50|§ 5-2(b)| 2%|May 3|, |and |(a) |20|.|١٢| ".split("|"))
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=10).map("".join))


@given(TEXTS, TEXTS)
def test_a_longer_text_states_them_too(text: str, more: str) -> None:
    assert all(states(f"{more}\n{text}\n{more}", fact) for fact in facts(text))


def test_sentences_carry_their_section() -> None:
    evidence = evidence_of([LAW, "A boat sinks."], load_minilm().embed)
    places = dict(zip(evidence.sentences, evidence.places, strict=True))
    assert places["A boat sinks."] == ""
    assert places["A boat shorter than 4 metres is exempt from the mooring fee."] == "§ 10-3"
    assert [place for text, place in places.items() if '"Berth" means' in text] == [
        '§ 10-1 "Berth"'
    ]
    assert evidence.vectors.shape == (len(evidence.sentences), 384)
    assert "§ 10-2 Duties of owners." in evidence.text  # a heading is no sentence, but is read


def test_another_count_of_the_same_thing_disagrees() -> None:
    evidence = evidence_of(["Each berth holds three boats in summer."], load_minilm().embed)
    assert disagreements("In summer a berth holds five boats.", evidence) == ["5 is 3 there"]
    assert disagreements("In summer a berth holds three boats.", evidence) == []
    assert disagreements("", evidence) == []
