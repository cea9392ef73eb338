import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.corpus.text.statements import statements

LINES = ["§ 2 Fees.", "# Head\n", "Bias audit.", "(ii) the name of the vessel", "| a | b |", "- "]
WORDS = [
    "The owner must pay",
    " the fee",
    "(a) ",
    "1. ",
    ". ",
    ":\n",
    ";\n",
    "\n",
    "\n\n",
    " ",
    "法",
]
PIECES = st.sampled_from([*LINES, *WORDS, "😀"])
LEGAL = st.lists(PIECES, max_size=30).map("".join)


@given(st.one_of(LEGAL, st.text(max_size=200)))
def test_statements_are_ordered_disjoint_spans_of_the_text(text: str) -> None:
    position = 0
    for found in statements(text):
        assert position <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.own
        position = found.end


@given(LEGAL)
def test_a_lead_stands_before_its_statement_where_it_says(text: str) -> None:
    for found in statements(text):
        assert text[found.lead_start :].startswith(found.lead)
        assert found.lead_start + len(found.lead) <= found.start
        assert (found.lead_start == found.start) == (not found.lead)
        assert found.text == f"{found.lead} {found.own}".strip()


@given(st.one_of(LEGAL, st.text(max_size=200)))
def test_blanks_around_a_text_change_no_statement(text: str) -> None:
    assert [s.text for s in statements(f"\n \n{text}\n ")] == [s.text for s in statements(text)]


@given(LEGAL)
def test_a_text_that_says_anything_has_a_statement(text: str) -> None:
    assert bool(statements(text)) == bool(text.strip())


def test_each_list_item_carries_the_clause_that_introduces_it() -> None:
    text = (
        "§ 4 Notices.\nThe notice must state:\n(a) the vessel that is moored; and\n"
        "(b) the fee that is due.\nThe owner must sign the notice by hand."
    )
    first, second, third = statements(text)
    assert first.lead == second.lead == "The notice must state:"
    assert text[first.lead_start :].startswith("The notice must state:")
    assert first.text == "The notice must state: (a) the vessel that is moored; and"
    assert second.own == "(b) the fee that is due."
    assert (third.lead, third.lead_start) == ("", third.start)


@pytest.mark.parametrize("label", ["# Scope", "§ 20-870 Definitions.", "Bias audit.", "Fees"])
def test_headings_and_labels_state_nothing_beside_a_statement(label: str) -> None:
    found = statements(f"{label}\nThe owner must pay the fee within ten days.")
    assert [item.own for item in found] == ["The owner must pay the fee within ten days."]


@pytest.mark.parametrize("text", ["Bias audit.", "The notice must state:", "# Scope\nFees:"])
def test_a_text_of_labels_alone_is_one_statement(text: str) -> None:
    found = statements(f" {text}\n")
    assert [(item.own, item.start, item.end) for item in found] == [(text, 1, 1 + len(text))]


@pytest.mark.parametrize("text", ["", " ", "\n \n"])
def test_blank_text_states_nothing(text: str) -> None:
    assert statements(text) == []
