"""What ``benchmarks/law.py`` asks, where an answer lies, and how ranks are fused, by hand."""

import json
from pathlib import Path

import pytest
from _law import as_format, words_of
from law import quotes

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
