"""The facts of a text, and evidence with its sentences and terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statute import LAW

from lexloop.documents.text.quantities import dates, facts, number_of, states
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import Evidence, disagreements, evidence_of, quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("within ten business days", {"10"}),
        ("within 10 business days", {"10"}),
        ("ten (10) days", {"10"}),
        ("a fine of $1,500", {"1500"}),
        ("a fine of $1,500.00", {"1500"}),
        ("a fine of $ 1500", {"1500"}),
        ("€2.50", {"2.5"}),
        ("1,234,567 boats", {"1234567"}),
        ("under § 20-871(b)(1) of the code", {"20-871(b)(1)"}),
        ("§ 5–300", {"5-300"}),
        ("section 5.30 and section 5.3", {"5.30", "5.3"}),
        ("on December 23, 2022", {"december", "23", "2022"}),
        ("on 23 December 2022", {"december", "23", "2022"}),
        ("on 2022-12-23", {"december", "23", "2022"}),
        ("on Dec. 23, 2022, or 3 Sept 2021", {"december", "23", "2022", "september", "3", "2021"}),
        ("the season 2022-23", {"2022-23"}),
        ("of up to 2% of the value", {"2"}),
        ("1.50 % or 1.5 percent", {"1.5"}),
        ("seventy per cent", {"70"}),
        ("twenty-five days", {"25"}),
        ("one hundred and eighty days", {"180"}),
        ("two thousand five hundred dollars", {"2500"}),
        ("between five and ten days", {"10"}),  # a number word counts before its unit alone
        ("sixteen hours", {"16"}),
        ("one of them may do so, and the first ten boats as well", set()),
        ("You may pay. A march is held.", set()),
        ("may 3 boats lie there", {"3"}),
        ("2023,2024", {"2023", "2024"}),
        ("1, 2 and 3", {"1", "2", "3"}),
        ("Local Law 144 of 2021", {"144", "2021"}),
        ("no numbers at all", set()),
        ("", set()),
    ],
)
def test_facts(text: str, expected: set[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "fact", "stated"),
    [
        ("within ten days", "10", True),
        ("within 100 days", "10", False),
        ("within 10 days", "100", False),
        ("$1,500", "1500", True),
        ("$15,000", "1500", False),
        ("§ 20-871(b)(1)", "20-871(b)(1)", True),
        ("§ 20-871(b)(1)", "20-871(b)", True),
        ("§ 20-871(b)(1)", "20-871", True),
        ("§ 20-871(b)(1)", "20-87", False),
        ("§ 20-871\n(b) A notice. 1. A date.", "20-871(b)(1)", True),
        ("§ 20-871\nb. A notice.", "20-871(b)", True),
        ("§ 20-871\n(b) A notice.", "20-871(c)", False),
        ("§ 20-871 and nothing below it", "20-871(b)(1)", False),
        ("", "10", False),
    ],
)
def test_states(text: str, fact: str, stated: bool) -> None:
    assert states(text, fact) is stated


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("December 23, 2022", {"december 23"}),
        ("23 Dec 2022 and 2023-01-05", {"december 23", "january 5"}),
        ("December 2022", set()),
        ("You may pay 5", set()),
        ("", set()),
    ],
)
def test_dates(text: str, days: set[str]) -> None:
    assert dates(text) == days


@pytest.mark.parametrize(
    ("word", "number"),
    [("12", "12"), ("1,500.00", "1500"), ("Three", "3"), ("one", None), ("9th", None), ("", None)],
)
def test_number_of(word: str, number: str | None) -> None:
    assert number_of(word) == number


PIECES = st.sampled_from(
    [
        "ten days",
        " $1,500.50",
        "§ 5-2(b)",
        " 2%",
        "May 3",
        ", ",
        "and ",
        "(a) ",
        "20",
        ".",
        "١٢",
        " ",
    ]
)
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=10).map("".join))


@given(TEXTS)
def test_a_text_states_its_own_facts(text: str) -> None:
    assert all(states(text, fact) for fact in facts(text))


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


def test_pairs_stay_inside_their_sentence() -> None:
    evidence = Evidence(["Red boats.", "Blue rafts."], np.zeros((2, 1), dtype=np.float32))
    assert evidence.pairs == {("red", "boat"), ("blue", "raft")}
    assert evidence.all_terms == {"red", "boat", "blue", "raft"}


def test_quantities_are_numbers_with_what_they_count() -> None:
    assert quantities("Two boats, 3 business days and one raft of 1,500 metres; 7.") == {
        ("2", "boat"),
        ("3", "day"),
        ("1500", "metr"),
    }


def test_another_count_of_the_same_thing_disagrees() -> None:
    evidence = evidence_of(["Each berth holds three boats in summer."], load_minilm().embed)
    assert disagreements("In summer a berth holds five boats.", evidence) == ["5 is 3 there"]
    assert disagreements("In summer a berth holds three boats.", evidence) == []
    assert disagreements("", evidence) == []
