"""``lexloop index``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_json(run: Run, documents: Path, out: Path) -> None:
    report = json.loads(run("index", str(documents), "--out", str(out), "--json").stdout)
    assert report["documents"] == 2
    assert report["chunks"] >= 2
    assert report["skipped"] == []
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


def test_nothing_to_index(run: Run, tmp_path: Path, out: Path) -> None:
    assert run("index", str(tmp_path / "none"), "--out", str(out)).exit_code == 4
    assert not out.exists()


def test_the_model_extractor_needs_a_model(run: Run, documents: Path, out: Path) -> None:
    result = run("index", str(documents), "--out", str(out), "--set", "triplet_extractor=model")
    assert result.exit_code == 2
    assert "model is None" in result.stderr
