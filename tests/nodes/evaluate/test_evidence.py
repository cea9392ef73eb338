"""The claims of an answer beside what they cite: facts, alterations, and how likely they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statute import LAW, RULE

from lexloop.documents.text.quantities import facts, states
from lexloop.documents.text.tokens import tokenize
from lexloop.models.minilm import load_minilm
from lexloop.nodes.alignment import negated_terms
from lexloop.nodes.evaluate.evidence import alterations, disagreements, evidence_of, left_out
from lexloop.nodes.evaluate.judges import ClaimSupport


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("within ten business days", {"10"}),
        ("on Dec. 23, 2022, or 3 Sept 2021", {"december", "23", "2022", "september", "3", "2021"}),
        ("one hundred and eighty days", {"180"}),
    ],
)
def test_facts(text: str, expected: set[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "fact", "stated"),
    [
        ("within 100 days", "10", False),
        ("§ 20-871\n(b) A notice. 1. A date.", "20-871(b)(1)", True),
    ],
)
def test_states(text: str, fact: str, stated: bool) -> None:
    assert states(text, fact) is stated


PIECES = st.sampled_from("ten days| $1,500.50|§ 5-2(b)| 2%|May 3|, |and |(a) |20|.|١٢| ".split("|"))
TEXTS = st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=10).map("".join))


@given(TEXTS, TEXTS)
def test_a_longer_text_states_the_facts_of_a_text(text: str, more: str) -> None:
    assert all(states(f"{more}\n{text}\n{more}", fact) for fact in facts(text))


SOURCE = "The operator must notify the harbour master within ten days at least once a year."
EVIDENCE = f"{SOURCE} The master may close a berth. A skipper shall pay. Owners have duties."


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("must", "may", "it says “may”, where there is “must”"),
        ("at least", "at most", "it says “at most”"),
        ("operator", "skipper", "it says “skipper”, where there is “operator”"),
        ("operator", "company", ""),  # no party of these documents: a word for one perhaps
    ],
)
def test_one_word_that_says_otherwise(old: str, new: str, said: str) -> None:
    reasons = alterations(SOURCE.replace(old, new), (SOURCE,), EVIDENCE)
    assert len(reasons) == bool(said)
    assert said in "".join(reasons)


@pytest.mark.parametrize(
    ("claim", "text", "reason"),
    [
        (
            "The candidate must notify the employer that a tool is used.",
            "The employer must notify the candidate that a tool is used.",
            "it says of “the candidate” what is said of “the employer”",
        ),
        ("A keeper is exempt from the fee.", "A keeper must pay the fee.", "it exempts"),
        ("In summer a berth holds five boats.", "A berth holds three boats in summer.", "5 is 3"),
    ],
)
def test_what_is_said_otherwise(claim: str, text: str, reason: str) -> None:
    found = disagreements(claim, evidence_of([text], load_minilm().embed))
    assert any(one.startswith(reason) for one in found), found
    assert disagreements(text, evidence_of([text], load_minilm().embed)) == []


def test_a_condition_left_out() -> None:
    law = "The authority may refuse a licence only if the craft is not seaworthy."
    read = evidence_of([law], load_minilm().embed)
    claim, asked = "The authority may refuse a licence.", "May a craft, not seaworthy, be refused?"
    assert left_out(claim, frozenset(), read) == ["only if the craft is not seaworthy"]
    assert left_out(claim, frozenset(tokenize(asked)), read) == []


LONGER = "Everybody agrees that a boat owner must pay the mooring fee within 10 business days."


@pytest.mark.parametrize(
    ("claim", "least", "most"),
    [
        ("A boat owner must pay  the mooring fee within 10\nbusiness days", 1.0, 1.0),
        (LONGER, 0.6, 1.0),
        (LONGER.replace("10", "30"), 0.0, 0.2),  # of another provision
        (LONGER.replace("must", "must not"), 0.0, 0.2),
    ],
)
def test_how_likely_a_claim_holds(claim: str, least: float, most: float) -> None:
    embed = load_minilm().embed
    (found,) = ClaimSupport(embed).of([claim], evidence_of([LAW, RULE], embed))
    assert least <= found.probability <= most


def test_no_number_is_denied() -> None:
    assert negated_terms("The rule does not, under 167, cover boats.") == frozenset({"cover"})
