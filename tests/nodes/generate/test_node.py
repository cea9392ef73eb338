"""What code tells of the structure, after the draft."""

import pytest

from lexloop.core.types import ABSTENTION, Citation, Told
from lexloop.nodes.generate.node import Draft, with_told


def source(n: int, quote: str = "Article 1") -> Citation:
    at = {"start": 0, "end": len(quote)}
    return Citation(n=n, document="d.txt", section="Article 1", page=None, quote=quote, **at)


MISSING: Told = {"line": "There is no Article 9.", "citations": [source(0), source(0, "Article")]}
BARE: Told = {"line": "It has no annex.", "citations": []}


@pytest.mark.parametrize(
    ("draft", "answer", "numbers"),
    [
        (Draft("A. [1]", [source(1)]), "A. [1]\nThere is no Article 9. [2][3]", [1, 2, 3]),
        (Draft("A. [1][2]", [source(1)]), "A. [1][2]\nThere is no Article 9. [3][4]", [1, 3, 4]),
        (Draft("A. [1-3]", []), "A. [1-3]\nThere is no Article 9. [4][5]", [4, 5]),
        (Draft("A."), "A.\nThere is no Article 9. [1][2]", [1, 2]),
        (Draft(ABSTENTION), "There is no Article 9. [1][2]", [1, 2]),
    ],
)
def test_sources_go_on_after_all_markers_of_the_draft(
    draft: Draft, answer: str, numbers: list[int]
) -> None:
    told = with_told(draft, [MISSING])
    assert told.answer == answer
    assert [citation["n"] for citation in told.citations] == numbers
    assert told.told == [answer.rsplit("\n", maxsplit=1)[-1]]
    assert not told.abstained


def test_lines_go_on_after_each_other_and_after_what_was_told() -> None:
    draft = Draft("Article 1: [1]\nX. [1]", [source(1)], ["Article 1: [1]"])
    told = with_told(draft, [MISSING, BARE, MISSING])
    lines = ["There is no Article 9. [2][3]", "It has no annex.", "There is no Article 9. [4][5]"]
    assert told.answer.split("\n") == [*draft.answer.split("\n"), *lines]
    assert told.told == ["Article 1: [1]", *lines]
    assert [citation["n"] for citation in told.citations] == [1, 2, 3, 4, 5]


def test_where_nothing_is_told_the_draft_stays() -> None:
    draft = Draft("A. [1]", [source(1)])
    assert with_told(draft, []) is draft
