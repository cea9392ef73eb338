"""A row whose key is asked for is the answer, and a key that no row has is said to be missing."""

from pathlib import Path

import pytest

from lexloop.graph.app import graph

_HEADS = "Berth,Length,Fee,Keeper"
_ROWS = [f"{quay}-{n:02d},{n % 7 + 6} m,{n * 3} crowns,{'Ada' if n % 2 else 'Bo'}"
         for quay in ("NK", "SK") for n in range(1, 31)]  # fmt: skip
_HIRE = """# Hire of rooms

Rooms are hired by the day.

| Room | Day | Rate | Seats |
|---|---|---|---|
| Great hall | Weekday | 45 | 220 |
| Great hall | Weekend | 80 | 220 |
| Music room | Weekday | 18 | 35 |
| Music room | Weekend | 26 | 35 |
| Kitchen | Weekday | 12 | 8 |
"""
_NOTES = """Notes on the harbour

Berth NK-77 was given up in spring. The fee of a berth is due in May.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rows")
    (made / "berths.csv").write_text("\n".join([_HEADS, *_ROWS]), encoding="utf-8")
    duties = [f"10{n:02d}.40.{n + 7:02d},{n} crowns" for n in range(1, 20)]
    (made / "duties.csv").write_text("\n".join(["Code,Duty", *duties]), encoding="utf-8")
    (made / "notes.txt").write_text(_NOTES, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def hire(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hire")
    (made / "hire.md").write_text(_HIRE, encoding="utf-8")
    return made


def _asked(folder: Path, question: str) -> tuple[str, bool, list[str]]:
    done = graph.invoke({"question": question}, context={"corpus": str(folder)})
    quotes = [citation["quote"] for citation in done["citations"]]
    return done["answer"], done["evaluation"]["passed"], quotes


_NK07 = "Row: 8; Berth: NK-07; Length: 6 m; Fee: 21 crowns; Keeper: Ada"
_SK20 = "Row: 51; Berth: SK-20; Length: 12 m; Fee: 60 crowns; Keeper: Bo"


@pytest.mark.parametrize(
    ("question", "answer", "rows"),
    [
        ("What is the fee for NK-07?", f"{_NK07} [1]", 1),
        ("Which length does berth NK-07 have?", f"{_NK07} [1]", 1),
        ("What are the fees for nk-07 and SK-20?", f"{_NK07} [1]\n{_SK20} [2]", 2),
    ],
)
def test_a_row_is_told_by_its_key(folder: Path, question: str, answer: str, rows: int) -> None:
    said, passed, quotes = _asked(folder, question)
    assert (said, passed, len(quotes)) == (answer, True, rows)
    assert all(quote.split(" | ")[1] in answer for quote in quotes)


def test_a_key_that_no_row_has_is_missing(folder: Path) -> None:
    said, passed, _ = _asked(folder, "What is the duty for 1012.40.09?")
    assert (said, passed) == ("No row of duties.csv has 1012.40.09.", False)
    # one that can be nothing but a name is looked for in all documents first
    done = graph.invoke({"question": "What is the fee for NK-48?"}, context={"corpus": str(folder)})
    assert (done["abstained"], done["evaluation"]["reasons"]) == (
        True,
        ["No document names NK-48."],
    )


@pytest.mark.parametrize(
    "question",
    [
        "Who gave up berth NK-77?",  # in prose alone
        "Who may moor a tug at NK-07 by night?",  # of no column
        "What is the fee for 21?",  # a sum, and no key
    ],
)
def test_other_questions_are_asked_as_before(folder: Path, question: str) -> None:
    said, _, _ = _asked(folder, question)
    assert "No row" not in said
    assert said != f"{_NK07} [1]"


def _row(*cells: str) -> str:
    named = zip(("Room", "Day", "Rate", "Seats"), cells, strict=True)
    return "; ".join(f"{name}: {cell}" for name, cell in named)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many seats does the kitchen have?", [_row("Kitchen", "Weekday", "12", "8")]),
        (
            "What is the rate of the music room at the weekend?",
            [_row("Music room", "Weekend", "26", "35")],
        ),
        (
            "What is the rate of the great hall?",  # it comes twice
            [
                _row("Great hall", "Weekday", "45", "220"),
                _row("Great hall", "Weekend", "80", "220"),
            ],
        ),
    ],
)
def test_a_row_is_told_by_names_of_one_column_or_several(
    hire: Path, question: str, rows: list[str]
) -> None:
    said, passed, _ = _asked(hire, question)
    assert (said, passed) == ("\n".join(f"{row} [{n}]" for n, row in enumerate(rows, 1)), True)


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("What is the rate of the sauna?", "sauna"),
        # each is in a row, and no row has both
        ("What is the rate of the kitchen at the weekend?", "kitchen weekend"),
    ],
)
def test_names_that_no_row_has_are_missing(hire: Path, question: str, lacking: str) -> None:
    said, passed, _ = _asked(hire, question)
    assert (said, passed) == (f"No row of hire.md has {lacking}.", False)


@pytest.mark.parametrize(
    "question",
    [
        "Which room has seats for more than 35?",  # compares
        "What is the total rate of the kitchen?",
        "What is the rate of rooms other than the kitchen?",
        "What is the rate of the kitchen by candlelight?",
    ],
)
def test_what_a_row_does_not_answer_is_not_told(hire: Path, question: str) -> None:
    said, passed, _ = _asked(hire, question)
    assert "No row" not in said
    assert not passed
