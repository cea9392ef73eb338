"""``lexloop index``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.graph.app import graph

Run = Callable[..., Any]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "built" / "index"


def test_index_then_ask(run: Run, documents: Path, out: Path) -> None:
    made = run("index", str(documents), "--out", str(out))
    assert made.exit_code == 0
    assert made.stdout.startswith("2 documents, ")
    assert f"-> {out}" in made.stdout
    asked = run("ask", "How much does a dog licence cost?", "--json", "--corpus", str(out))
    assert "40 euros" in json.loads(asked.stdout)["answer"]


def test_skipped_files_are_named_and_give_code_3(run: Run, documents: Path, out: Path) -> None:
    (documents / "zero.txt").write_bytes(b"")
    (documents / "scan.pdf").write_bytes(b"%PDF")
    (documents / "sheet.xlsx").write_bytes(b"PK")
    result = run("index", str(documents), "--out", str(out))
    assert result.exit_code == 3
    assert "Skipped zero.txt: " in result.stderr
    assert "Skipped scan.pdf: " in result.stderr
    assert "Not indexed, since their kinds are not read: 1 .xlsx" in result.stderr
    assert (out / "manifest.json").is_file()


def test_a_report_has_its_fields_and_a_file_read_in_part_is_no_skipped_file(
    run: Run, documents: Path, out: Path
) -> None:
    (documents / "rows.jsonl").write_text('{"id": "a", "text": "One may moor."}\nnonsense\n')
    made = run("index", str(documents), "--out", str(out), "--json")
    assert made.exit_code == 0
    report = json.loads(made.stdout)
    (told,) = report["skipped"]
    assert (told["name"], told["indexed"]) == ("rows.jsonl", True)
    assert told["reason"].startswith("Line 2: It is no JSON")
    assert report["documents"] == 3
    assert set(report) == {
        "index", "documents", "chunks", "windows", "triplets", "files_added", "files_changed",
        "files_removed", "files_unchanged", "recall@10", "seconds", "skipped", "other_files"
    }  # fmt: skip


def test_an_index_is_replaced_only_by_force(run: Run, documents: Path, out: Path) -> None:
    arguments = ("index", str(documents), "--out", str(out))
    assert run(*arguments).exit_code == 0
    refused = run(*arguments)
    assert refused.exit_code == 4
    assert "lexloop index update" in refused.stderr
    assert run(*arguments, "--force").exit_code == 0


def test_a_folder_that_is_no_index_is_never_replaced(run: Run, documents: Path) -> None:
    result = run("index", str(documents), "--out", str(documents), "--force")
    assert result.exit_code == 4
    assert "already exists and is no index" in result.stderr
    assert (documents / "dogs.txt").is_file()


def test_an_index_is_no_source_of_another(run: Run, documents: Path, out: Path) -> None:
    assert run("index", str(documents), "--out", str(out)).exit_code == 0
    for arguments in (
        ("index", str(out), "--out", str(out) + "2"),
        ("index", "add", str(out), str(out)),
        ("index", "update", str(out), "--source", str(out)),
    ):
        refused = run(*arguments)
        assert refused.exit_code == 4
        assert f"{out} is an index and no folder of documents." in refused.stderr
        assert f"--corpus {out}" in refused.stderr


@pytest.mark.parametrize(
    ("setting", "held"),
    [
        ("chunking.tokens=256", "chunking.tokens=300, not 256"),
        ("chunking.tokens=512", "chunking.tokens=300, not 512"),
        ("index.windows=whole", "index.windows=statements, not whole"),
        ("chunking.method=characters", "chunking.method=sentence, not characters"),
    ],
)
def test_what_an_index_was_not_made_with_is_refused(
    run: Run, documents: Path, out: Path, setting: str, held: str
) -> None:
    made = ("--chunker", "sentence", "--set", "chunking.tokens=300")
    assert run("index", str(documents), "--out", str(out), *made).exit_code == 0
    asked = ("ask", "How much does a dog licence cost?", "--set", setting, "--corpus")
    refused = run(*asked, str(out))
    assert refused.exit_code == 2
    assert f"was made with {held}" in refused.stderr
    assert f"lexloop index update {out} --set {setting}" in refused.stderr
    assert "40 euros" in run(*asked, str(documents)).stdout
    same = run(*asked[:-2], "chunking.tokens=300", "--corpus", str(out))
    assert "40 euros" in same.stdout
    assert run("index", "update", str(out), "--set", setting).exit_code == 0
    assert "40 euros" in run(*asked, str(out)).stdout


def test_one_file_is_a_corpus(run: Run, documents: Path) -> None:
    file = documents / "dogs.txt"
    asked = ("ask", "How much does a dog licence cost?", "--json", "--corpus", str(file))
    assert "40 euros" in json.loads(run(*asked).stdout)["answer"]
    file.write_text(file.read_text("utf-8").replace("40 euros", "50 euros"), "utf-8")
    assert "50 euros" in json.loads(run(*asked).stdout)["answer"]
    shown = json.loads(run("graph", "show", "Licence", "--json", "--corpus", str(file)).stdout)
    assert {relation["document"] for relation in shown["relations"]} == {"dogs.txt"}
    (documents / "metadata.csv").write_text("file,tags\ndogs.txt,board\n", "utf-8")
    assert json.loads(run(*asked).stdout)["abstained"]
    assert "50 euros" in json.loads(run(*asked, "--tag", "board").stdout)["answer"]
    missing = run("ask", "Why?", "--corpus", str(file) + "x")
    assert missing.exit_code == 4
    assert "does not exist" in missing.stderr
    (documents / "sheet.xlsx").write_bytes(b"PK")
    unread = run("ask", "Why?", "--corpus", str(documents / "sheet.xlsx"))
    assert unread.exit_code == 4
    assert "'.xlsx' is unknown" in unread.stderr


def test_what_supersedes_a_law_that_is_not_there_is_in_force(run: Run, tmp_path: Path) -> None:
    folder, out = tmp_path / "laws", tmp_path / "index"
    folder.mkdir()
    (folder / "new.md").write_text(
        "---\nin_force_from: 2023-07-01\nsupersedes: gone.md\n---\n"
        "# Fees\n\n§ 1 Fee. The mooring fee is 25 euros a night.\n"
    )
    made = run("index", str(folder), "--out", str(out))
    assert made.exit_code == 0
    assert "Note on new.md: It supersedes 'gone.md', which is not among" in made.stderr
    assert "Note on new.md" in run("index", "info", str(out)).stdout
    for corpus in (folder, folder / "new.md", out):
        asked = ("ask", "How much is the mooring fee?", "--json", "--corpus", str(corpus))
        found = json.loads(run(*asked).stdout)
        assert "25 euros" in found["answer"]
        assert found["degraded"] == []


def test_what_was_not_read_is_told_with_the_first_answer_of_a_conversation(
    run: Run, documents: Path, out: Path
) -> None:
    (documents / "zero.txt").write_bytes(b"")
    (documents / "rows.jsonl").write_text('{"id": "a", "text": "One may moor."}\nnonsense\n')
    run("index", str(documents), "--out", str(out))
    asked = run("ask", "How much does a dog licence cost?", "--json", "--corpus", str(out))
    told = {one["wanted"]: one["used"] for one in json.loads(asked.stdout)["degraded"]}
    assert told == {"zero.txt": "nothing of it", "rows.jsonl": "the rest of it"}
    messages = [HumanMessage("May one moor?"), AIMessage("One may."), HumanMessage("At night?")]
    later = graph.invoke({"messages": messages}, context={"corpus": str(out)})
    assert later["degraded"] == []
    shown = run("index", "info", str(out)).stdout
    assert "Skipped zero.txt: It is empty." in shown
    assert "Note on rows.jsonl: Line 2: It is no JSON" in shown
