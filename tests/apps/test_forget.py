"""``lexloop forget``: a document's text is in no file afterwards, whenever it was killed before."""

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CANARY = "zanzibarite"
SECRET = (
    f"# Dog ordinance\n\n§ 1 Licence. A dog licence of the {CANARY} kennel costs 40 euros a year. "
    f"The owner must pay the {CANARY} fee of the dog licence by 31 March.\n\n"
    f"§ 2 Leash. Every {CANARY} dog must be kept on a leash in the town park.\n"
)
CATS = "# Cat notice\n\n§ 1 A cat needs no licence. Cats may enter the town park after 9 hours.\n"
ASKED = "What does a dog licence cost?"
OF_CATS = "Does a cat need a licence?"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Lexloop keeps: the cache and the data."""
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "kept" / "cache"))
    monkeypatch.setenv("LEXLOOP_DATA_DIR", str(tmp_path / "kept" / "data"))
    return tmp_path / "kept"


@pytest.fixture
def laws(tmp_path: Path, kept: Path) -> Path:
    """A folder of two documents."""
    folder = tmp_path / "laws"
    folder.mkdir()
    (folder / "dogs.txt").write_text(SECRET, "utf-8")
    (folder / "cats.txt").write_text(CATS, "utf-8")
    return folder


def holding(folder: Path, word: str = CANARY) -> list[str]:
    """The files with a word among their bytes."""
    files = (one for one in folder.rglob("*") if one.is_file())
    found = [one for one in files if word.encode() in one.read_bytes()]
    return sorted(str(one.relative_to(folder)) for one in found)


def filled(run: Run, laws: Path, kept: Path) -> None:
    """Fill every place: two recipes' indexes, a thread, opinions and the caches of models."""
    from lexloop.core.text_cache import TextCache

    asked = ("--corpus", str(laws))
    said = (
        f"{ASKED}\n/up the {CANARY} fee of the dog licence by 31 March is right\n{OF_CATS}\n/up\n"
    )
    told = run("chat", *asked, "--thread", "t", stdin=said)
    assert told.exit_code == 0, told.stderr
    assert run("ask", ASKED, *asked, "--set", "chunking.method=provisions").exit_code == 0
    for name in ("replies", "extractions"):
        cache = TextCache(kept / "cache" / f"{name}.sqlite", name)
        cache.put("key", json.dumps({"quote": SECRET}))
        cache.close()
    graphs = kept / "cache" / "graphs" / "old"
    graphs.mkdir(parents=True)
    (graphs / "texts.json").write_text(SECRET, "utf-8")
    gc.unfreeze()
    gc.collect()  # in one process who asked reads the indexes yet


def test_no_file_has_a_word_of_it_afterwards(
    run: Run, in_json: Run, laws: Path, kept: Path
) -> None:
    filled(run, laws, kept)
    before = holding(kept)
    assert len([one for one in before if one.endswith("texts.sqlite")]) == 2
    for name in ("replies.sqlite", "extractions.sqlite", "texts.json", "feedback.sqlite"):
        assert [one for one in before if name in one], before
    told = in_json("forget", "dogs.txt", "--corpus", laws, code=15)
    assert holding(kept) == []
    assert [one["where"] for one in told["left"]] == [str(laws / "dogs.txt")]
    kinds = {one["kind"] for one in told["touched"]}
    assert kinds == {"thread", "feedback", "cache"}
    assert (laws / "dogs.txt").exists()
    told = in_json("forget", "dogs.txt", "--corpus", laws, "--delete-file")
    assert told["touched"] == [{"kind": "file", "where": str(laws / "dogs.txt"), "done": "deleted"}]
    assert in_json("forget", "dogs.txt", "--corpus", laws) == {
        "document": "dogs.txt", "corpus": str(laws), "touched": [], "left": []
    }  # fmt: skip
    assert run("forget", "dogs.txt", "--corpus", str(laws)).stdout == (
        "Nothing is left of dogs.txt.\n"
    )
