"""Claims and their support, by hand and with the shipped weights."""

from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from statute import LAW, RULE

from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import (
    ClaimFeatures,
    ClaimSupport,
)
from lexloop.nodes.weights import load_weights

PAYS = "A boat owner must pay the mooring fee within 10 business days of arrival."
LONGER = "Everybody agrees that a boat owner must pay the mooring fee within 10 business days."


@pytest.fixture(scope="module")
def statute() -> Evidence:
    return evidence_of([LAW, RULE], load_minilm().embed)


@pytest.fixture(scope="module")
def support() -> ClaimSupport:
    return ClaimSupport(load_minilm().embed)


def probability(support: ClaimSupport, statute: Evidence, claim: str) -> float:
    (found,) = support.of([claim], statute)
    return found.probability


@pytest.mark.parametrize(
    "claim",
    [
        PAYS,
        "A boat owner must pay  the mooring fee within 10\nbusiness days",
        "A hull inspection must include: a photograph of the keel",
    ],
)
def test_a_quote_is_certain(support: ClaimSupport, statute: Evidence, claim: str) -> None:
    pieces = evidence_of(
        [LAW, RULE, "A hull inspection must include: nothing."], load_minilm().embed
    )
    assert probability(support, pieces, claim) == 1.0


@pytest.mark.parametrize(
    "claim",
    [
        LONGER,
        "The mooring fee is paid to the harbour master by the boat owner.",
        "Notice of a new fee is given at least thirty days before it takes effect.",
    ],
)
def test_what_is_said_in_other_words_is_probable(
    support: ClaimSupport, statute: Evidence, claim: str
) -> None:
    assert probability(support, statute, claim) > 0.6


@pytest.mark.parametrize(
    "claim",
    [
        "The moon is made of green cheese.",
        LONGER.replace("10", "30"),  # of another provision
        LONGER.replace("must", "must not"),
        "So the exemption does not apply between December 31, 2022 and January 23, 2023.",
        "So an owner is liable for a civil penalty of more than $500 for a first violation.",
        "Under § 5-300, a boat shorter than 4 metres is exempt from the mooring fee.",  # elsewhere
    ],
)
def test_what_is_false_is_improbable(support: ClaimSupport, statute: Evidence, claim: str) -> None:
    assert probability(support, statute, claim) < 0.2


@settings(max_examples=examples(20))
@given(st.text(max_size=60))
def test_any_claim_has_a_probability(claim: str) -> None:
    # hypothesis wants no function-scoped fixture; the model is loaded once anyway
    embed = load_minilm().embed
    (found,) = ClaimSupport(embed).of([claim], evidence_of([PAYS], embed))
    assert 0.0 <= found.probability <= 1.0


def test_no_weight_speaks_against_its_direction() -> None:
    shipped = load_weights("judges/groundedness.json", "support", ClaimFeatures)
    named = dict(zip((f.name for f in fields(ClaimFeatures)), shipped.weights, strict=True))
    against = {"disagrees", "missing_names"}
    assert {name for name, weight in named.items() if weight < 0} == against
