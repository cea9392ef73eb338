"""Answers from scans: what was recognised on a picture is cited as such, in every shape."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import citation, record
from scans import drawn, in_pdf

from lexloop.apps.shapes.files import as_markdown
from lexloop.apps.shapes.outline import outline_of
from lexloop.apps.shapes.text import as_text, places
from lexloop.documents.reading.recognising import is_available
from lexloop_server.shapes.tools import Source

ASKED = "What must every dog wear in the harbour?"
READ = "read from a picture, 93% sure"


@pytest.mark.skipif(not is_available(), reason="needs lexloop[ocr] or Tesseract")
def test_an_answer_from_a_scan_says_how_surely_it_was_read(
    run: Callable[..., Any], in_json: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "laws"
    folder.mkdir()
    (folder / "law.pdf").write_bytes(in_pdf("Article 1 The keeper of a cat pays 7 euros.", drawn()))
    answer = in_json("ask", ASKED, "--corpus", folder)
    (cited,) = answer["citations"]
    assert cited["quote"].startswith("Every dog must wear a collar in the harbour. The fine is")
    assert (cited["page"], cited["section"]) == (2, "Section 5")
    assert 0.8 < cited["read_from_picture"] <= 1
    told = " ".join(run("ask", ASKED, "--corpus", str(folder)).stdout.split())
    assert re.search(r"law\.pdf · Section 5 · page 2 · read from a picture, \d+% sure", told)
    written = in_json("ask", "What does the keeper of a cat pay?", "--corpus", folder)
    assert "read_from_picture" not in written["citations"][0]


def test_every_shape_of_an_answer_says_it() -> None:
    read = citation(read_from_picture=0.934)
    assert READ in places(read)
    assert READ not in places(citation())
    answer = record(citations=[read])
    assert f", {READ}" in as_text(answer)
    assert READ in as_markdown(outline_of([answer], ""))
    source = Source.of({"collection": "laws", **read})
    assert (source.read_from_picture, READ in source.place) == (0.934, True)
    assert Source.of({"collection": "laws", **citation()}).read_from_picture is None
