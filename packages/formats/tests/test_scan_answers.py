"""Answers from scans: what was recognised on a picture is cited as such."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scans import drawn, in_pdf

from lexloop_formats.recognising import is_available

ASKED = "What must every dog wear in the harbour?"


@pytest.mark.skipif(not is_available(), reason="needs lexloop-formats[ocr] or Tesseract")
@pytest.mark.usefixtures("own_data_folder", "reading_here")
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
