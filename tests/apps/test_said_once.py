"""Each quote is shown once, scans are marked, and what was lost is told in sentences."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import citation, record
from sets import rows

from lexloop.apps.shapes.files import as_markdown
from lexloop.apps.shapes.outline import outline_of
from lexloop.apps.shapes.record import lost_in_words
from lexloop.apps.shapes.text import as_text, is_said, places
from lexloop_server.shapes.tools import Source

Run = Callable[..., Any]


@pytest.mark.parametrize(("quote", "answer", "said"), rows("said_once"))
def test_whether_an_answer_says_a_quote(quote: str, answer: str, said: bool) -> None:
    assert is_said(quote, answer, 1) is said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "yard.txt").write_text(
        "Yard rules\n\nThe deposit for a dog is 75 euros a year.\n\nCats may enter the yard.\n"
    )
    (folder / "bad.docx").write_bytes(b"PK\x03\x04 no archive")
    return folder


QUESTION, QUOTE = "What is the deposit for a dog?", "The deposit for a dog is 75 euros a year."


def test_a_quote_is_printed_once_and_what_was_skipped_told(run: Run, folder: Path) -> None:
    said = run("ask", QUESTION, "--corpus", str(folder)).stdout
    assert said.count("75 euros") == 1
    assert "[1] yard.txt · line 3\n" in said
    assert re.search(r"^Skipped bad\.docx: It is a damaged Word document \(.+\)\.$", said, re.M)
    assert "Degraded" not in said
    assert "nothing of it" not in said


@pytest.mark.parametrize(("form", "more"), [("md", ()), ("eml", ()), ("md", ("--memo",))])
def test_a_file_of_an_answer_has_the_quote_once(
    run: Run, folder: Path, tmp_path: Path, form: str, more: tuple[str, ...]
) -> None:
    file = tmp_path / f"answer.{form}"
    run("ask", QUESTION, "--corpus", str(folder), "--out", str(file), *more)
    text, _, _ = file.read_text("utf-8").partition("application/vnd.openxml")
    assert text.count("75 euros") == 1
    assert "yard.txt, line 3." in text
    assert not re.search(r"characters \d", text)


def test_a_model_s_answer_has_its_quotes_below_it() -> None:
    source = {"n": 1, "document": "yard.txt", "section": "", "page": None, "at": {"line": 3}}
    record = {
        "answer": "Seventy-five euros. [1]",
        "citations": [{**source, "quote": QUOTE}],
        "near": [],
        "warning": "",
    }
    assert as_text(record) == (
        f"Seventy-five euros. [1]\n\nSources:\n- [1] yard.txt, line 3: “{QUOTE}”"
    )
    keyless = {**record, "answer": f"{QUOTE} [1]"}
    assert as_text(keyless) == f"{QUOTE} [1]\n\nSources:\n- [1] yard.txt, line 3"
    near = {**record, "answer": "Nothing.", "citations": [], "near": record["citations"]}
    assert as_text(near).endswith(f"- yard.txt, line 3: “{QUOTE}”")


@pytest.mark.parametrize(("node", "wanted", "used", "collection", "said"), rows("lost"))
def test_what_was_lost_is_a_sentence(
    node: str, wanted: str, used: str, collection: str, said: str
) -> None:
    lost = {"node": node, "wanted": wanted, "used": used, "reason": "Why."}
    assert lost_in_words({**lost, **({"collection": collection} if collection else {})}) == said


READ = "read from a picture, 93% sure"


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
