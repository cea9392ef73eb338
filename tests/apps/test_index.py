"""``lexloop index``, and its ``add | update | remove | verify | info``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.files import MANIFEST
from lexloop.graph.app import graph
from lexloop.store.manifest import FORMAT

Run = Callable[..., Any]
COST = "How much does a dog licence cost?"
ROWS = '{"id": "a", "text": "One may moor."}\nnonsense\n'


@pytest.fixture
def report(in_json: Run) -> Run:
    def told(*arguments: str | Path) -> Any:
        return in_json("index", *arguments)

    return told


@pytest.fixture
def answer(in_json: Run) -> Run:
    def asked(corpus: Path, question: str = COST, *options: str) -> Any:
        return in_json("ask", question, "--corpus", corpus, *options)

    return asked


def changes(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[f"files_{n}"] for n in ("added", "changed", "removed", "unchanged"))


def test_what_was_not_read_is_named_and_told_with_the_first_answer_of_a_conversation(
    run: Run, documents: Path, tmp_path: Path, answer: Run
) -> None:
    out = tmp_path / "built" / "index"
    (documents / "rows.jsonl").write_text(ROWS)
    made = run("index", str(documents), "--out", str(out), "--json")
    assert made.exit_code == 0  # a file that is read in part is no skipped one
    found = json.loads(made.stdout)
    (told,) = found["skipped"]
    assert (told["name"], told["indexed"], found["documents"]) == ("rows.jsonl", True, 3)
    assert told["reason"].startswith("Line 2: It is not JSON")
    assert set(found) == {
        "index", "documents", "chunks", "windows", "triplets", "files_added", "files_changed",
        "files_removed", "files_unchanged", "recall@10", "seconds", "skipped", "other_files"
    }  # fmt: skip
    (documents / "zero.txt").write_bytes(b"")
    (documents / "film.mp4").write_bytes(b"x")
    result = run("index", str(documents), "--out", str(out), "--force")
    assert result.exit_code == 3
    assert result.stdout.startswith("3 documents, ")
    assert f"-> {out}" in result.stdout
    assert "Skipped zero.txt: " in result.stderr
    assert "Not indexed, since their kinds are not read: 1 .mp4" in result.stderr
    first = answer(out)
    assert "40 euros" in first["answer"]
    told = {one["wanted"]: one["used"] for one in first["degraded"]}
    assert told == {"zero.txt": "nothing of it", "rows.jsonl": "the rest of it"}
    messages = [HumanMessage("May one moor?"), AIMessage("One may."), HumanMessage("At night?")]
    later = graph.invoke({"messages": messages}, context={"corpus": str(out)})
    assert later["degraded"] == []
    shown = run("index", "info", str(out)).stdout
    assert "Skipped zero.txt: It is empty." in shown
    assert "Note on rows.jsonl: Line 2: It is not JSON" in shown


def test_too_many_vectors_for_a_folder_are_told_with_the_package_of_engines(
    run: Run, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ("index", str(documents), "--out", str(tmp_path / "index"), "--force")
    assert "engine" not in run(*index).stderr
    monkeypatch.setattr("lexloop.store.folder.dense.MOST_WINDOWS", 1)
    assert 'Beyond 1 use an engine: `pip install "lexloop[engines]"`' in run(*index).stderr


def test_only_force_replaces_only_an_index(run: Run, documents: Path, index: Path) -> None:
    again = ("index", str(documents), "--out", str(index))
    refused = run(*again)
    assert refused.exit_code == 4
    assert "lexloop index update" in refused.stderr
    assert run(*again, "--force").exit_code == 0
    result = run("index", str(documents), "--out", str(documents), "--force")
    assert result.exit_code == 4
    assert "already exists and is not an index" in result.stderr
    assert (documents / "dogs.txt").is_file()


def test_an_index_is_not_a_folder_of_documents(run: Run, documents: Path, index: Path) -> None:
    for arguments in (
        (str(index), "--out", f"{index}2"),
        ("add", str(index), str(index)),
        ("update", str(index), "--source", str(index)),
    ):
        refused = run("index", *arguments)
        assert refused.exit_code == 4
        assert f"{index} is an index and no folder of documents." in refused.stderr
        assert f"--corpus {index}" in refused.stderr


def test_other_settings_are_refused(run: Run, documents: Path, index: Path, answer: Run) -> None:
    setting = ("--set", "chunking.tokens=256")
    refused = run("ask", COST, "--corpus", str(index), *setting)
    assert refused.exit_code == 2
    assert "was made with chunking.tokens=512, not 256" in refused.stderr
    assert f"lexloop index update {index} --set chunking.tokens=256" in refused.stderr
    assert "40 euros" in answer(documents, COST, *setting)["answer"]
    assert run("index", "update", str(index), *setting).exit_code == 0
    assert "40 euros" in answer(index, COST, *setting)["answer"]


def test_one_file_is_a_corpus(run: Run, documents: Path, answer: Run) -> None:
    file = documents / "dogs.txt"
    assert "40 euros" in answer(file)["answer"]
    file.write_text(file.read_text("utf-8").replace("40 euros", "50 euros"), "utf-8")
    assert "50 euros" in answer(file)["answer"]
    (documents / "metadata.csv").write_text("file,tags\ndogs.txt,board\n", "utf-8")
    assert answer(file)["abstained"]
    assert "50 euros" in answer(file, COST, "--tag", "board")["answer"]
    (documents / "film.mp4").write_bytes(b"x")
    unread = run("ask", "Why?", "--corpus", str(documents / "film.mp4"))
    assert unread.exit_code == 4
    assert "'.mp4' is unknown" in unread.stderr


def test_update_follows_the_folder(
    run: Run, report: Run, answer: Run, index: Path, documents: Path
) -> None:
    assert changes(report("update", index)) == (0, 0, 0, 2)
    (documents / "dogs.txt").write_text("§ 1 Fee. A dog licence costs 55 euros a year.\n")
    (documents / "birds.txt").write_text("§ 1 Birds. A parrot needs a permit of the mayor.\n")
    (documents / "cats.md").unlink()
    assert changes(report("update", index)) == (1, 1, 1, 0)
    assert "55 euros" in answer(index)["answer"]
    assert "permit" in answer(index, "What does a parrot need?")["answer"]
    assert "cat" not in answer(index, "Does a cat need a licence?")["answer"].lower()
    moved = documents.rename(documents.with_name("moved"))
    assert run("index", "update", str(index)).exit_code == 4
    assert changes(report("update", index, "--source", moved)) == (0, 0, 0, 2)
    other = ("--chunker", "characters", "--set", "chunking.chars=100", "--set")
    found = report("update", index, *other, "chunking.chars_overlap=10")
    assert changes(found) == (2, 0, 0, 0)
    assert "chars=100" in report("info", index)["chunker"]
    assert report("verify", index)["sound"]


def test_add_and_remove(
    run: Run, report: Run, answer: Run, index: Path, documents: Path, *, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "dogs.txt").write_text("§ 3 Collar. Every dog must wear a collar with a tag.\n")
    clash = run("index", "add", str(index), str(more))
    assert clash.exit_code == 4
    assert "would be named 'dogs.txt'" in clash.stderr
    assert changes(report("add", index, more, "--prefix", "town/")) == (1, 0, 0, 2)
    listed = report("info", index, "--documents")["list"]
    assert [row["document"] for row in listed] == ["cats.md", "dogs.txt", "town/dogs.txt"]
    found = answer(index, "What must every dog wear?")
    assert found["citations"][0]["document"] == "town/dogs.txt"
    assert changes(report("remove", index, "dogs.txt")) == (0, 0, 1, 2)
    assert answer(index)["abstained"]
    assert changes(report("update", index)) == (0, 0, 0, 2)
    missing = run("index", "remove", str(index), "dogs.txt")
    assert missing.exit_code == 4
    assert "holds no document 'dogs.txt'" in missing.stderr
    assert changes(report("add", index, documents / "dogs.txt")) == (1, 0, 0, 2)


def test_info_and_verify_of_a_damaged_index(
    run: Run, report: Run, index: Path, documents: Path
) -> None:
    found = report("info", index)
    assert found["sources"] == [{"path": str(documents), "prefix": ""}]
    assert (found["documents"], found["files"], found["dense_kind"]) == (2, 2, "flat")
    (texts,) = index.glob("generations/*/texts.sqlite")
    data = bytearray(texts.read_bytes())
    data[len(data) // 2] ^= 1
    texts.write_bytes(data)
    result = run("index", "verify", str(index))
    assert result.exit_code == 5
    assert "texts.sqlite is damaged" in result.stderr


def test_an_index_of_an_earlier_format_tells_how_to_make_it_anew(run: Run, index: Path) -> None:
    manifest = index / MANIFEST
    record = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**record, "format": 5}), encoding="utf-8")
    of_index = (("index", command, str(index)) for command in ("verify", "info", "update"))
    for arguments in (*of_index, ("ask", "Who?", "--corpus", str(index))):
        result = run(*arguments)
        assert result.exit_code == 5
        said = " ".join(result.stderr.split())
        assert f"has format 5, this is {FORMAT}." in said
        assert "`lexloop index DIR --out INDEX --force`" in said


def test_a_dry_run_only_tells_the_cost(report: Run, documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "index"
    found = report(documents, "--out", out, "--dry-run")
    assert (found["files_added"], found["documents"], found["model_calls"]) == (2, 2, 0)
    assert found["chunks"] >= 2
    assert found["embedded_tokens"] > found["embedded_texts"] > 0
    assert found["cost_usd"] == 0
    assert not out.exists()
