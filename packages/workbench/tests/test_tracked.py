"""Tracked changes: who accepts all has the new text, who rejects all the old one."""

import io
import re
import shutil
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
import pytest
from compared import comparison
from docx.oxml.ns import qn
from hypothesis import given
from hypothesis import strategies as st
from sets import whole_text

from lexloop_workbench.shapes.tracked import as_tracked

MADE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OLD = whole_text("tracked_old.txt")
NEW = whole_text("tracked_new.txt")
ADDED, REMOVED = {qn("w:ins"), qn("w:moveTo")}, {qn("w:del"), qn("w:moveFrom")}


def body(old: str, new: str) -> Any:
    return docx.Document(io.BytesIO(as_tracked(comparison(old, new), MADE))).element.body


def settled(body: Any, dropped: set[str]) -> str:
    """The text of a document without the runs and ends of paragraphs that are dropped."""
    text = ""
    for paragraph in body.iterchildren(qn("w:p")):
        for run in paragraph.iter(qn("w:r")):
            if not dropped & {up.tag for up in run.iterancestors()}:
                text += "".join(said.text or "" for said in run)
        marks = paragraph.findall(f"{qn('w:pPr')}/{qn('w:rPr')}/*")
        text += "" if dropped & {mark.tag for mark in marks} else "\n"
    return text


def said_in(run: Any) -> str:
    return "".join(said.text for said in run.iter(qn("w:t")))


def lines(text: str) -> list[str]:
    shown = (re.sub(r"#{1,6}\s+", "", line, count=1).split() for line in text.splitlines())
    return [" ".join(words) for words in shown if words]


def test_all_accepted_is_the_new_text_and_all_rejected_the_old_one() -> None:
    made = body(OLD, NEW)
    assert lines(settled(made, REMOVED)) == lines(NEW)
    assert lines(settled(made, ADDED)) == lines(OLD)


def test_changes_are_tracked_with_author_and_day_and_moves_are_moves() -> None:
    made = body(OLD, NEW)
    tracked = [one for one in made.iter() if one.get(qn("w:author"))]
    assert {one.get(qn("w:author")) for one in tracked} == {"Lexloop"}
    assert {one.get(qn("w:date")) for one in tracked} == {"2026-01-02T03:04:05Z"}
    ids = [one.get(qn("w:id")) for one in tracked]
    assert len({*ids}) == len(ids)
    moves = {
        tag: [said_in(run).strip() for run in made.iter(qn(f"w:{tag}"))]
        for tag in ("moveFrom", "moveTo")
    }
    moved = ["The keeper may fine an owner who lights none."]
    assert moves == {"moveFrom": moved, "moveTo": moved}
    names = [
        [one.get(qn("w:name")) for one in made.iter(qn(f"w:{tag}RangeStart"))] for tag in moves
    ]
    assert names[0] == names[1]
    deleted = [run for run in made.iter(qn("w:del")) if run.getparent().tag == qn("w:p")]
    assert all(run.find(f"{qn('w:r')}/{qn('w:delText')}") is not None for run in deleted)
    styles = [one.get(qn("w:val")) for one in made.iter(qn("w:pStyle"))]
    assert {*styles} <= {"Heading1", "Heading2", "Heading3"}
    assert len(styles) == 4


texts = st.lists(
    st.text("ab <&\u202e\x1b.;(1)#", max_size=12)
    | st.sampled_from(
        [
            *("1. Fees", "2. Fees", "1.1 The owner pays a fee to the harbour.", "(a) each boat;"),
            *("(b) each raft.", "A lamp is lit on every boat at night.", "# Rules", "", ""),
        ]
    ),
    max_size=12,
).map("\n".join)


@given(texts, texts)
def test_no_word_is_lost_or_added(old: str, new: str) -> None:
    compared = comparison(old, new)
    made = docx.Document(io.BytesIO(as_tracked(compared, MADE))).element.body
    for text, pieces, dropped in ((old, compared.olds, ADDED), (new, compared.news, REMOVED)):
        said = "".join(text[piece.start : piece.end] for piece in pieces)
        written = settled(made, dropped)
        assert "".join(re.findall(r"[\w.;()<&]", written)) == "".join(
            re.findall(r"[\w.;()<&]", said)
        )
        assert not {"\u202e", "\x1b"} & {*written}


@pytest.mark.skipif(shutil.which("soffice") is None, reason="libreoffice-writer-nogui is missing")
def test_libreoffice_opens_it(tmp_path: Path) -> None:
    (tmp_path / "changes.docx").write_bytes(as_tracked(comparison(OLD, NEW), MADE))
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    command = ["soffice", home, "--headless", "--convert-to", "odt", "changes.docx"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    with zipfile.ZipFile(tmp_path / "changes.odt") as opened:
        content = opened.read("content.xml").decode()
    assert content.count("<text:insertion>") >= 4
    assert content.count("<text:deletion>") >= 3
    assert "<dc:creator>Lexloop</dc:creator>" in content
