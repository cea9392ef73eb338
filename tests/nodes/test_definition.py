"""Questions for a definition, and texts that give one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.nodes.relevance import asked_definition, defines


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a bias audit?", "bias audit"),
        ("What are hull inspections?", "hull inspections"),
        ("What is a mooring fee?", None),  # a fee is more often an amount than a term
        ('What does "net tonnage" mean?', "net tonnage"),
        ("Define the term berth", "berth"),
        ("What is the definition of harbour master?", "harbour master"),
        ("How is a hull inspection defined?", "hull inspection"),
        ("What is the meaning of 'independent auditor' in the rule?", "independent auditor"),
        ("What are the requirements?", None),
        ("What is the penalty for a late fee?", None),
        ("Who pays the fee?", None),
        ("What is it?", None),
        ("What is a berth and who must keep it?", "berth"),
        ("What is a boat and tender?", "boat and tender"),
        ("What is a berth here?", "berth"),
        ("What are the moorings?", None),  # of those that were spoken of
        ("", None),
    ],
)
def test_the_term_asked_for(question: str, term: str | None) -> None:
    assert asked_definition(question) == term


@pytest.mark.parametrize(
    ("term", "text", "given"),
    [
        ("mooring fee", '"Mooring fee" means the sum that an owner pays.', True),
        ("mooring fees", "A mooring fee is the sum that an owner pays.", True),
        ("mooring fee", "The term “mooring fee” refers to a sum.", True),
        ("mooring fee", "The owner pays the mooring fee.", False),
        ("fee", "The mooring fee is due.", False),
        ("berth", "A boat lies in its berth.", False),
        ("c++ (x)", "C++ (x) means nothing.", True),
        ("berth", "", False),
    ],
)
def test_texts_that_define(term: str, text: str, given: bool) -> None:
    assert defines(term, text) is given


@given(st.text(max_size=120), st.text(min_size=1, max_size=40))
def test_any_text_can_be_asked(text: str, term: str) -> None:
    found = asked_definition(text)
    assert found is None or found in text
    assert defines(term, text) in (True, False)
