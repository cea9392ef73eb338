"""Running heads of a printed text stand in no statement, and offsets stay those of its file."""

import re
from functools import partial
from pathlib import Path

import pytest
from reading import read_document
from sets import whole_text

from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import line_in_file, span_in_file
from lexloop.documents.reading.plain import furniture
from lexloop.documents.structure.markers import page_numbers
from lexloop.graph.app import graph

_CLAUSES = whole_text("moorings_bill.txt")


def _printed() -> str:
    first, *others = _CLAUSES.split("@")
    heads = (
        f"{n} Bill" if n % 2 == 0 else f"Moorings {n}" for n in range(42, 42 + 2 * len(others))
    )
    extra = "".join(f"\n\n{next(heads)}\n\n{part}" for part in others)
    rest = "".join(
        f"\n\n{head}\n\n{n}. It is so.\n\nAs said.\n\nNo more." for n, head in enumerate(heads, 5)
    )
    return first + extra + rest


_read = partial(read_document, "bill.txt")


def _trimmed(text: str) -> str:
    """Return a text without the spaces that stand for what was left out."""
    return re.sub(r" +\n", "\n", text)


def test_running_heads_are_in_no_statement() -> None:
    printed = _printed()
    document = _read(printed)
    assert "44 Bill" in printed
    assert "Bill\n" not in document.text.removeprefix("Moorings Bill\n")
    said = [one.text for one in statements(document.tree, document.text)]
    assert (
        "A person may not moor a boat at a public berth unless the harbour office has given a "
        "licence for that berth and the fee for the year has been paid in full."
    ) in said
    assert any(one.endswith("the boat is not insured against fire;") for one in said)
    (listed,) = [one for one in statements(document.tree, document.text) if one.points]
    assert listed.points == 3
    assert document.text[listed.start : listed.end].endswith("an earlier fee.")


def test_what_goes_on_behind_a_head_is_placed_in_its_file() -> None:
    printed = _printed()
    document = _read(printed)
    start = document.text.index("insured against")
    begin, end = span_in_file(document, start, start + 7) or (0, 0)
    assert printed[begin:end] == "insured"
    assert line_in_file(document, start, start + 7) == printed.count("\n", 0, begin) + 1
    assert start == begin


def test_lines_that_are_no_heads_stay() -> None:
    text = "Prices\n\n3 crowns\n\n5 crowns\n\n9 crowns\n\nThe fee\n\n7\n\nis due."
    assert furniture(text) == []
    assert _read(text).text == text


def test_a_foot_with_the_word_page_numbers_each_page() -> None:
    lines = [
        line
        for n in range(1, 5)
        for line in ("The office", "keeps a", "list", "of", f"Berths | page {n} of 9")
    ]
    assert page_numbers(lines) == {4, 9, 14, 19}


def test_an_answer_quotes_no_head(tmp_path: Path) -> None:
    (tmp_path / "bill.txt").write_text(_printed(), encoding="utf-8")
    asked = "When may the harbour office refuse a licence?"
    done = graph.invoke({"question": asked}, context={"corpus": str(tmp_path)})
    assert "an earlier fee" in done["answer"]
    assert not any(head in done["answer"] for head in ("Bill", "Moorings", "Repairs"))


@pytest.mark.parametrize(
    ("before", "gap", "after", "together"),
    [
        ("The fee shall be", 4, "paid in May.", True),
        ("The fee shall be", 3, "paid in May.", False),
        ("The fee is due.", 4, "paid in May.", False),
        ("The fee shall be", 4, "Paid in May.", False),
        ("The fee shall be", 4, "b) paid in May.", False),
        ("The fee shall be", 4, "o paid in May.", False),
    ],
)
def test_a_sentence_goes_on_behind_the_end_of_a_page_without_a_number(
    before: str, gap: int, after: str, together: bool
) -> None:
    blank = "\n" * gap
    document = _read(f"1. Fee.\n{before}{blank}{after}\n")
    assert (f"{before}\n{after}" in _trimmed(document.text)) is together
    assert document.text.index(after) == len(f"1. Fee.\n{before}{blank}")


def test_a_line_that_comes_again_runs_along_the_pages_if_it_has_cut_two_sentences() -> None:
    foot, halves = "Filed by the Harbour", ("The fee shall be", "paid in May.")
    page = f"\n\n{foot}\n\n\n".join(halves)
    whole = "\n".join(halves)
    read = _read(f"{page}\n\nA\n\n{page}\n\n{foot}\n").text
    assert _trimmed(read) == f"{whole}\n\nA\n\n{whole}\n\n"
    assert furniture(f"{page}\n\nA\n\n{foot}\n\nB\n\n{foot}\n") == []
