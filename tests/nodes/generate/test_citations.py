"""Markers become citations with exact spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import passage

from lexloop.core.types import ABSTENTION
from lexloop.nodes.generate.citations import (
    abstains,
    citation_for,
    cited,
)

TEXT = (
    "The employer must publish a summary. The fee is $50. It is due on 1 May 2024. "
    "Appeals go to the board under § 5-303(b). The board sits in spring."
)


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("A summary must be published by the employer.", "The employer must publish a summary."),
        ("One pays $50.", "The fee is $50."),
        ("The fee of $50 is due on 1 May 2024.", "The fee is $50. It is due on 1 May 2024."),
        ("Appeal under § 5-303(b).", "Appeals go to the board under § 5-303(b)."),
        ("Unrelated words entirely.", TEXT),
    ],
)
def test_best_supporting_span(statement: str, quote: str) -> None:
    found = citation_for(statement, passage(3, TEXT, start=40))
    assert found["quote"] == quote
    assert found["n"] == 3
    document = "x" * 40 + TEXT
    assert document[found["start"] : found["end"]] == quote


def test_each_marker_of_each_sentence_has_its_citation() -> None:
    passages = [passage(1, TEXT), passage(2, "The fee is $50.")]
    draft = cited("The fee is $50 [1][2]. Appeals go to the board [1].", passages)
    assert [(c["n"], c["quote"]) for c in draft.citations] == [
        (1, "The fee is $50."),
        (2, "The fee is $50."),
        (1, "Appeals go to the board under § 5-303(b)."),
    ]


def test_same_support_is_cited_once() -> None:
    draft = cited("The fee is $50 [1]. Yes, the fee is $50 [1].", [passage(1, TEXT)])
    assert len(draft.citations) == 1


def test_marker_that_names_no_passage_stays_without_citation() -> None:
    draft = cited("The fee is $50 [1][7].", [passage(1, TEXT)])
    assert draft.answer == "The fee is $50 [1][7]."
    assert [citation["n"] for citation in draft.citations] == [1]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ABSTENTION, True),
        (f"Sorry. {ABSTENTION.upper()} Ask elsewhere.", True),
        ("The provided documents do not answer this question.", True),
        ("The documents provided do not answer the question [1].", True),
        ("The documents don’t answer this question.", True),
        ("The documents provided do answer this question.", False),
        ("The documents provided do not name a fee [1].", False),
        ("The rule does not apply [1].", False),
        ("", False),
    ],
)
def test_abstentions(answer: str, expected: bool) -> None:
    assert abstains(answer) is expected


WORDS = st.sampled_from(["fee", "$50", "[1]", "[2]", "[9]", ".", "\n", "§ 5-303(b)", "board", "["])


@given(answer=st.lists(WORDS).map(" ".join), start=st.integers(0, 500))
def test_every_citation_quotes_its_document_exactly(answer: str, start: int) -> None:
    passages = [passage(1, TEXT, start=start), passage(2, "The fee\nis due.", start=start)]
    for citation in cited(answer, passages).citations:
        document = " " * start + passages[citation["n"] - 1]["text"]
        assert document[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["quote"]
