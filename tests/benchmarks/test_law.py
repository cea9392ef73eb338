"""What ``benchmarks/law.py`` asks, where an answer lies, and how ranks are fused, by hand."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from _law_ablation import first_hit, fused
from _law_asking import quotes
from _law_files import as_format
from _law_scoring import words_of
from _law_timing import Checkout

from lexloop.documents.reading.folder import load_documents

DATA = Path(__file__).parents[1] / "data"


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
