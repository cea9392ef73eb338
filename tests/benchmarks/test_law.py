"""The scoring of ``benchmarks/law.py`` on numbers worked by hand."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from _law_ablation import first_hit, fused
from _law_asking import quotes
from _law_files import as_format
from _law_scoring import Law, scored, words_of
from _law_timing import Checkout

from lexloop.documents.reading.folder import load_documents

DATA = Path(__file__).parents[1] / "data"
TEXT = (
    "(1) Boats should be kept well by those who use them on the river.\n"
    "Article 1\nDefinitions\n"
    "For this law: \n"
    "(1) ‘boat’ means a thing that floats on water;\n"
    "(2) ‘keeper’ means the person who uses the thing each day;\n"
    "Article 2\nDuties\n"
    "1. The keeper shall: \n"
    "(a) pay the yearly fee in the month of March;\n"
    "(b) paint the hull with the colour that the port names;\n"
    "2. The port may remit the fee in a hard case of want.\n"
)


def span(begin: str, end: str | None) -> dict[str, Any]:
    return {"start": TEXT.index(begin), "end": TEXT.index(end) if end else len(TEXT)}


STRUCTURE = [
    {
        "article": "1",
        **span("Article 1", "Article 2"),
        "paragraphs": [
            {
                "n": "",
                **span("For this law", "Article 2"),
                "points": [
                    {"p": "1", **span("(1) ‘boat", "(2) ‘keeper")},
                    {"p": "2", **span("(2) ‘keeper", "Article 2")},
                ],
            }
        ],
    },
    {
        "article": "2",
        **span("Article 2", None),
        "paragraphs": [
            {
                "n": "1",
                **span("1. The keeper", "2. The port"),
                "points": [
                    {"p": "a", **span("(a) pay", "(b) paint")},
                    {"p": "b", **span("(b) paint", "2. The port")},
                ],
            },
            {"n": "2", **span("2. The port", None), "points": []},
        ],
    },
]
LAW = Law(TEXT, STRUCTURE)


def answer(*quoted: str, said: str = "", abstained: bool = False) -> dict[str, Any]:
    citations = [{"quote": quote} for quote in quoted]
    return {"answer": said or " ".join(quoted), "abstained": abstained, "citations": citations}


def probe(kind: str, article: str = "", paragraph: str = "", point: str = "") -> dict[str, Any]:
    return {"kind": kind, "article": article, "paragraph": paragraph, "point": point}


def test_a_definition_is_that_of_the_term_and_no_other() -> None:
    boat, keeper = (LAW.provision("1", "", point).text for point in "12")
    asked = probe("definition", "1", "", "2")
    assert scored(asked, answer(keeper), LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(boat), LAW) == {"right": 0.0, "found": 0.0}
    both = answer(boat + keeper, said=keeper)
    assert scored(asked, both, LAW) == {"right": 1.0, "found": 1.0}
    assert scored(asked, answer(keeper, said="A person."), LAW) == {"right": 0.0, "found": 1.0}
    assert scored(asked, answer(abstained=True), LAW) == {"right": 0.0, "found": 0.0}


def test_a_list_is_scored_by_its_points() -> None:
    first, second = LAW.provision("2", "1").points
    asked = probe("list", "2", "1")
    assert scored(asked, answer(first, second), LAW) == {"right": 1.0, "items": 1.0}
    assert scored(asked, answer(first), LAW) == {"right": 0.0, "items": 0.5}
    # of its words longer than two letters, eight with "the" once, six are .75
    assert scored(asked, answer("paint the hull with colour that"), LAW)["items"] == 0.0
    assert scored(asked, answer(abstained=True), LAW) == {"right": 0.0, "items": 0.0}


def test_what_is_not_there_is_to_be_left_unanswered() -> None:
    assert scored(probe("not_there"), answer(abstained=True), LAW) == {"right": 1.0}
    assert scored(probe("not_there"), answer("x y z"), LAW) == {"right": 0.0}


@pytest.mark.parametrize("kind", ["docx", "pdf"])
def test_every_format_holds_the_words_of_the_text(tmp_path: Path, kind: str) -> None:
    law = DATA / "laws" / "directive.txt"
    (document,), skipped = load_documents(as_format(law, kind, tmp_path))
    assert skipped == []
    assert words_of(document.text) == words_of(law.read_text("utf-8"))


def test_every_gold_label_is_of_words_that_stand_once_in_their_document() -> None:
    folders = DATA / "asked_laws", DATA.parents[1] / "data" / "ll144"
    texts = {path.name: path.read_text("utf-8") for folder in folders for path in folder.iterdir()}
    questions = json.loads(texts["questions.json"])
    assert len(questions) == 63
    for row in questions:
        text = texts[row["document"]]
        if "value" in row:
            lines = [line for line in text.splitlines() if quotes(row, line)]
            assert len(lines) == 1, row
        else:
            assert text.count(row["words"]) == 1, row


def test_ranks_are_fused_by_their_reciprocals() -> None:
    # b: 1/62 + 1/61; a: 1/61 + 1/63; c: 1/62
    assert fused([["a", "b"], ["b", "c", "a"]]) == ["b", "a", "c"]
    assert fused([[], []]) == []


def test_a_chunk_hits_by_half_of_it_or_of_the_provision() -> None:
    def chunks(*spans: tuple[int, int]) -> list[Any]:
        return [{"start": start, "end": end} for start, end in spans]

    gold = [(100, 200)]
    assert first_hit(chunks((0, 100), (50, 150)), gold) == 1  # 50 of 100 characters
    assert first_hit(chunks((0, 149)), gold) > 1000  # 49 of them
    assert first_hit(chunks((0, 1000)), gold) == 0  # all of the provision
    assert first_hit(chunks((190, 210)), gold) == 0  # 10 of the chunk's 20
    assert first_hit([], gold) > 1000
    assert first_hit(chunks((0, 10), (300, 310)), [*gold, (300, 310)]) == 1


def test_a_checkout_indexes_and_answers(tmp_path: Path) -> None:
    checkout = Checkout(sys.executable)
    try:
        index = tmp_path / "index"
        law = DATA / "laws" / "contract.txt"
        assert checkout.seconds(index=str(law), out=str(index)) > 0
        assert checkout.seconds(ask="What are the Services?", corpus=str(index)) > 0
    finally:
        checkout.close()
    assert (index / "manifest.json").is_file()
