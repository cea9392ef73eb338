"""``lexloop index add | update | remove | verify | info``, and what a dry run says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.files import MANIFEST
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import FORMAT

Run = Callable[..., Any]
LEASH = "§ 3 Collar. Every dog must wear a collar with a tag.\n"


@pytest.fixture
def index(run: Run, documents: Path, tmp_path: Path) -> Path:
    """An index of the two small documents."""
    out = tmp_path / "index"
    assert run("index", str(documents), "--out", str(out)).exit_code == 0
    return out


def report(run: Run, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result = run("index", *map(str, arguments), "--json")
    assert result.exit_code == code, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def answer(run: Run, index: Path, question: str, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run("ask", question, "--json", "--corpus", str(index), *options).stdout
    )
    return found


def changes(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[f"files_{n}"] for n in ("added", "changed", "removed", "unchanged"))


def test_update_follows_the_folder(run: Run, index: Path, documents: Path) -> None:
    assert changes(report(run, "update", index)) == (0, 0, 0, 2)
    (documents / "dogs.txt").write_text("§ 1 Fee. A dog licence costs 55 euros a year.\n")
    (documents / "birds.txt").write_text("§ 1 Birds. A parrot needs a permit of the mayor.\n")
    (documents / "cats.md").unlink()
    assert changes(report(run, "update", index)) == (1, 1, 1, 0)
    assert "55 euros" in answer(run, index, "What does a dog licence cost?")["answer"]
    assert "permit" in answer(run, index, "What does a parrot need?")["answer"]
    assert "cat" not in answer(run, index, "Does a cat need a licence?")["answer"].lower()
    assert report(run, "verify", index)["sound"]


def test_update_finds_documents_that_moved(run: Run, index: Path, documents: Path) -> None:
    moved = documents.rename(documents.with_name("moved"))
    assert run("index", "update", str(index)).exit_code == 4
    assert changes(report(run, "update", index, "--source", moved)) == (0, 0, 0, 2)
    assert changes(report(run, "update", index)) == (0, 0, 0, 2)


def test_another_chunker_means_everything_anew(run: Run, index: Path) -> None:
    found = report(run, "update", index, "--chunker", "characters", "--set", "chunking.chars=100",
                   "--set", "chunking.chars_overlap=10")  # fmt: skip
    assert changes(found) == (2, 0, 0, 0)
    assert changes(report(run, "update", index)) == (0, 0, 0, 2)
    assert "chars=100" in report(run, "info", index)["chunker"]


def test_add_a_folder_and_a_file(run: Run, index: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "dogs.txt").write_text(LEASH)
    clash = run("index", "add", str(index), str(more))
    assert clash.exit_code == 4
    assert "would be named 'dogs.txt'" in clash.stderr
    assert changes(report(run, "add", index, more, "--prefix", "town/")) == (1, 0, 0, 2)
    single = tmp_path / "birds.txt"
    single.write_text("§ 1 Birds. A parrot needs a permit of the mayor.\n")
    assert changes(report(run, "add", index, single)) == (1, 0, 0, 3)
    listed = report(run, "info", index, "--documents")["list"]
    names = [row["document"] for row in listed]
    assert names == ["cats.md", "dogs.txt", "town/dogs.txt", "birds.txt"]
    found = answer(run, index, "What must every dog wear?")
    assert found["citations"][0]["document"] == "town/dogs.txt"


def test_remove_and_bring_back(run: Run, index: Path, documents: Path) -> None:
    assert changes(report(run, "remove", index, "dogs.txt")) == (0, 0, 1, 1)
    assert answer(run, index, "What does a dog licence cost?")["abstained"]
    assert changes(report(run, "update", index)) == (0, 0, 0, 1)
    missing = run("index", "remove", str(index), "dogs.txt")
    assert missing.exit_code == 4
    assert "holds no document 'dogs.txt'" in missing.stderr
    assert changes(report(run, "add", index, documents / "dogs.txt")) == (1, 0, 0, 1)
    assert "40 euros" in answer(run, index, "What does a dog licence cost?")["answer"]


def test_the_last_document_stays(run: Run, index: Path) -> None:
    result = run("index", "remove", str(index), "dogs.txt", "cats.md")
    assert result.exit_code == 4
    assert report(run, "verify", index)["documents"] == 2


def test_verify_refuses_a_damaged_index(run: Run, index: Path) -> None:
    (texts,) = index.glob("generations/*/texts.sqlite")
    data = bytearray(texts.read_bytes())
    data[len(data) // 2] ^= 1
    texts.write_bytes(data)
    result = run("index", "verify", str(index))
    assert result.exit_code == 5
    assert "texts.sqlite is damaged" in result.stderr


def test_info_says_what_an_index_is_made_with(run: Run, index: Path, documents: Path) -> None:
    found = report(run, "info", index)
    assert found["sources"] == [{"path": str(documents), "prefix": ""}]
    assert (found["documents"], found["files"], found["dense_kind"]) == (2, 2, "flat")
    assert found["embedder"] == load_shipped().name
    shown = run("index", "info", str(index), "--documents").stdout
    assert "dogs.txt" in shown


@pytest.mark.parametrize("command", ["verify", "info", "update"])
def test_an_index_of_an_earlier_format_is_refused_with_what_makes_it_anew(
    run: Run, index: Path, command: str
) -> None:
    manifest = index / MANIFEST
    record = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**record, "format": 5}), encoding="utf-8")
    for arguments in (("index", command, str(index)), ("ask", "Who?", "--corpus", str(index))):
        result = run(*arguments)
        assert result.exit_code == 5
        said = " ".join(result.stderr.split())
        assert f"has format 5, this is {FORMAT}." in said
        assert "`lexloop index DIR --out INDEX --force`" in said


@pytest.mark.parametrize("command", ["update", "verify", "info"])
def test_what_is_no_index_is_named(run: Run, documents: Path, command: str) -> None:
    result = run("index", command, str(documents))
    assert result.exit_code == 4
    assert "is no index" in result.stderr


def test_a_dry_run_says_what_it_would_take_and_does_nothing(
    run: Run, documents: Path, tmp_path: Path
) -> None:
    out = tmp_path / "index"
    found = report(run, documents, "--out", out, "--dry-run")
    assert (found["files_added"], found["documents"], found["model_calls"]) == (2, 2, 0)
    assert found["chunks"] >= 2
    assert found["embedded_tokens"] > found["embedded_texts"] > 0
    assert found["cost_usd"] == 0
    assert not out.exists()


def test_the_law_in_force_on_a_day(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "laws"
    folder.mkdir()
    old = "---\ntitle: Fee order\nin_force_from: 2020-01-01\n---\n"
    new = "---\ntitle: Fee order\nin_force_from: 2023-07-01\nsupersedes: old.md\n---\n"
    (folder / "old.md").write_text(old + "§ 1 Fee. The mooring fee is 10 euros a night.\n")
    (folder / "new.md").write_text(new + "§ 1 Fee. The mooring fee is 25 euros a night.\n")
    question = "How much is the mooring fee?"
    for day, euros, version in (
        ("2023-06-30", "10 euros", "in force from 2020-01-01 to 2023-06-30"),
        ("2023-07-01", "25 euros", "in force from 2023-07-01"),
        ("today", "25 euros", "in force from 2023-07-01"),
    ):
        found = answer(run, folder, question, "--as-of", day)
        assert euros in found["answer"]
        assert {citation["version"] for citation in found["citations"]} == {version}
    assert answer(run, folder, question, "--as-of", "2019-12-31")["abstained"]
    shown = run("ask", question, "--corpus", str(folder), "--as-of", "2021-05-05").stdout
    assert "in force from 2020-01-01 to 2023-06-30" in shown
