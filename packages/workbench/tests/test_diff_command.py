"""``lexloop diff``: what it prints, writes and refuses, as a command and in Python."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

import lexloop
from lexloop_workbench.diff import Version

Run = Callable[..., Any]
OLD = """# Rules

## 1. Fees

1.1 The owner must pay a fee of 10 euro.

## 2. Lamps

2.1 A lamp is lit on every boat as Section 1 says.
"""
NEW = OLD.replace("## 2", "## 3").replace("2.1 A", "3.1 A").replace("## 1.", "## 2.")
NEW = NEW.replace("1.1 The", "2.1 The").replace("10 euro", "12 euro")
NEW = NEW.replace("# Rules\n", "# Rules\n\n## 1. Rafts\n\n1.1 Rafts \x1b[31mare\u202e boats.\n")
QUOTE = "a fee of 10 euro"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "old.md").write_text(OLD)
    (tmp_path / "new.md").write_text(NEW)
    return str(tmp_path / "old.md"), str(tmp_path / "new.md")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    start = OLD.index(QUOTE)
    span = {"start": start, "end": start + len(QUOTE), "quote": QUOTE}
    citation = {"document": "old.md", "section": "Section 1.1", **span}
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"question": "What is the fee?", "citations": [citation]}))
    return file


def test_what_is_printed(run: Run, files: tuple[str, str], answers: Path) -> None:
    assert run("diff", *files, "--answers", str(answers)).stdout.splitlines() == [
        "old.md -> new.md: 1 changed, 2 renumbered, 1 new; 2 lines the same",
        "new: Section 1 Rafts: 1. Rafts 1.1 Rafts [31mare boats.",
        "renumbered: Section 1 Fees -> Section 2 Fees: 2. Fees",
        "changed: Section 1.1 -> Section 2.1: [-1.1-]{+2.1+} The owner must pay a fee of"
        " [-10-]{+12+} euro.",
        "renumbered: Section 2 Lamps -> Section 3 Lamps: 3. Lamps",
        "still refers: Section 3.1 says Section 1; Section 1 is Section 2 now",
        "answer: What is the fee?: Section 1.1 is changed and renumbered, Section 2.1 now;"
        " its words changed: a fee of [-10-]{+12+} euro",
    ]
    same = run("diff", files[0], files[0])
    assert same.stdout == "old.md -> old.md: nothing changed; 5 lines the same\n"
    assert same.exit_code == 0


def test_as_json_from_a_corpus_and_in_python(
    in_json: Run, files: tuple[str, str], answers: Path
) -> None:
    folder = str(Path(files[0]).parent)
    found = in_json("diff", "old.md", "new", "--corpus", folder, "--answers", answers)
    assert found["counts"] == {"changed": 1, "renumbered": 2, "new": 1}
    assert (found["old"], found["answers"][0]["became"]) == ("old.md", "changed")
    place = found["changes"][2]["old"]
    text = Version.read(files[0]).source.text
    assert text[place["start"] : place["end"]] == place["quote"]
    by_files = lexloop.diff(*files, answers=[answers]).model_dump(mode="json")
    assert by_files == found
    record = json.loads(answers.read_text())
    assert lexloop.diff("old.md", "new.md", folder, [record]).answers[0].question == (
        "What is the fee?"
    )
    tool = {one.name: one for one in lexloop.as_tools(folder)}["diff"]
    call = {"name": "diff", "args": {"old": "old", "new": "new"}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert message.artifact["counts"] == found["counts"]
    assert json.loads(message.content) == message.artifact
    missing = tool.invoke({**call, "args": {"old": "old", "new": "gone"}})
    assert missing.status == "error"
    assert "There is no document 'gone'." in missing.content


def test_tracked_changes_are_written_whole_and_over_nothing(
    run: Run, files: tuple[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "changes.docx"
    assert run("diff", *files, "--out", str(out)).exit_code == 0
    assert docx.Document(str(out)).paragraphs[0].text == "Rules"
    kept = out.read_bytes()
    refused = run("diff", *files, "--out", str(out))
    assert (refused.exit_code, out.read_bytes()) == (2, kept)
    assert "is there already" in refused.stderr
    assert run("diff", *files, "--out", str(out), "--overwrite").exit_code == 0
    markdown = run("diff", *files, "--out", str(tmp_path / "changes.md"))
    assert (markdown.exit_code, (tmp_path / "changes.md").exists()) == (2, False)
