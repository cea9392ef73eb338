import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from indexes import ANYBODY, Letters, content, letter_tools, sources

from lexloop.core.errors import CorpusError, SettingsError
from lexloop.core.settings import Settings
from lexloop.core.types import Degradation
from lexloop.store import manifest, opening
from lexloop.store.folder.generations import GENERATIONS
from lexloop.store.manifest import Manifest
from lexloop.store.opening import corpus_stamp, index_key, left_out, open_corpus, tools_for
from lexloop.store.view import Collection
from lexloop.store.writer import write_index

pytestmark = pytest.mark.usefixtures("parsed")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "indexes"


def opened(folder: Path | str, embedder: Letters) -> tuple[Collection, list[Degradation]]:
    tools = tools_for(Settings(), embedder)
    collection, troubles = open_corpus(str(folder), tools)
    return collection, [*left_out(collection.seen_by(ANYBODY)), *troubles]


def test_a_source_folder_is_indexed_once(
    folder: Path, embedder: Letters, cache: Path, parsed: list[str]
) -> None:
    first, degraded = opened(folder, embedder)
    assert degraded == []
    assert embedder.embedded
    assert len(list(cache.iterdir())) == 1
    embedder.embedded.clear()
    parsed.clear()
    second, degraded = opened(folder, embedder)
    assert (degraded, embedder.embedded, parsed) == ([], [], [])
    assert content(second) == content(first)


@pytest.mark.parametrize("change", ["edited", "removed", "tagged"])
def test_what_changes_in_the_sources_is_followed_in_the_same_place(
    folder: Path, embedder: Letters, cache: Path, parsed: list[str], change: str
) -> None:
    before, _ = opened(folder, embedder)
    parsed.clear()
    if change == "edited":
        (folder / "fees.txt").write_text("§ 1 Fees\nThe guest must pay the berth fee in time.\n")
    elif change == "removed":
        (folder / "notices.md").unlink()
    else:
        (folder / "metadata.csv").write_text("file,kind\nfees.txt,rule\n")
    after, degraded = opened(folder, embedder)
    assert degraded == []
    assert len(parsed) == (change != "removed")
    assert content(after) != content(before)
    assert len(list(cache.iterdir())) == 1


def test_a_damaged_cache_is_made_again_and_told(
    folder: Path, embedder: Letters, cache: Path
) -> None:
    first, _ = opened(folder, embedder)
    expected = content(first)
    first.close()
    (kept,) = cache.iterdir()
    vectors = kept / GENERATIONS / Manifest.read(kept).generation / "vectors.npy"
    vectors.write_bytes(b"damaged")
    embedder.embedded.clear()
    found, (trouble,) = opened(folder, embedder)
    assert embedder.embedded
    assert content(found) == expected
    assert (trouble["node"], trouble["wanted"]) == ("index", "a cached index")
    assert "vectors.npy" in trouble["reason"]
    embedder.embedded.clear()
    assert opened(folder, embedder)[1] == []
    assert embedder.embedded == []
    assert list(cache.iterdir()) == [kept]


def test_a_cached_index_of_another_format_is_left_alone(
    folder: Path, embedder: Letters, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = opened(folder, embedder)
    first.close()
    (kept,) = cache.iterdir()
    for module in (manifest, opening):
        monkeypatch.setattr(module, "FORMAT", manifest.FORMAT + 1)
    found, degraded = opened(folder, embedder)
    assert degraded == []
    (made,) = {*cache.iterdir()} - {kept}
    assert content(found) == content(made)


def test_a_damaged_shipped_index_is_said_and_costs_nothing_twice(
    folder: Path, embedder: Letters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = letter_tools(embedder)
    monkeypatch.setattr(opening, "sample_folder", lambda: folder)
    monkeypatch.setattr(opening, "shipped_indexes", lambda: tmp_path / "shipped")
    shipped = tmp_path / "shipped" / index_key(None, tools.recipe)
    write_index(shipped, sources(folder), tools)
    embedder.embedded.clear()
    collection, degraded = open_corpus("sample", tools)
    assert (degraded, embedder.embedded) == ([], [])
    collection.close()
    (shipped / GENERATIONS / Manifest.read(shipped).generation / "owners.npy").unlink()
    for costs in (True, False):
        embedder.embedded.clear()
        collection, (trouble,) = open_corpus("sample", tools)
        assert "owners.npy" in trouble["reason"]
        assert bool(embedder.embedded) is costs
        collection.close()


def test_without_a_cache_all_is_answered(folder: Path, embedder: Letters, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the cache should be")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "rows.jsonl").write_text('{"id": "a", "text": "One may moor."}\nnonsense\n')
    collection, (unread, partly, trouble) = opened(folder, embedder)
    (hits,) = collection.seen_by(ANYBODY).search_vector(["the owner must pay the berth fee"], 1)
    assert hits[0].document == "fees.txt"
    assert (unread["wanted"], unread["used"]) == ("empty.txt", "nothing of it")
    assert (partly["wanted"], partly["used"]) == ("rows.jsonl", "the rest of it")
    assert (trouble["node"], trouble["used"]) == ("index", "memory only")
    assert "cannot be written" in trouble["reason"]


def test_two_threads_open_a_source_at_once(folder: Path, embedder: Letters, cache: Path) -> None:
    together = threading.Barrier(2)

    def open_it(_: int) -> tuple[Collection, list[Degradation]]:
        together.wait(timeout=30)
        return opened(folder, embedder)

    with ThreadPoolExecutor(2) as pool:
        (first, lost_first), (second, lost_second) = pool.map(open_it, range(2))
    assert content(first) == content(second)
    assert lost_first == lost_second == []
    assert len(list(cache.iterdir())) == 1
    (kept,) = cache.iterdir()
    assert len(list((kept / GENERATIONS).iterdir())) == 1
    assert len(embedder.embedded) == len(set(embedder.embedded))


@pytest.mark.parametrize(
    ("corpus", "reason"), [("missing", "does not exist"), ("~no-such-user-here/x", "has no home")]
)
def test_no_corpus_is_named(embedder: Letters, corpus: str, reason: str, cache: Path) -> None:
    for use in (lambda: opened(corpus, embedder), lambda: corpus_stamp(corpus)):
        with pytest.raises(CorpusError, match=reason) as raised:
            use()
        assert corpus in raised.value.what
    assert embedder.embedded == []
    assert [*cache.glob("*")] == []


def test_the_stamp_changes_with_the_files(folder: Path) -> None:
    stamps = {corpus_stamp(str(folder)), corpus_stamp("sample")}
    for name, text in (
        ("fees.txt", "Changed."),
        ("more.txt", "More."),
        ("metadata.csv", "file,tags\nmore.txt,board\n"),
    ):
        (folder / name).write_text(text)
        stamps.add(corpus_stamp(str(folder)))
    assert len(stamps) == 5
    assert corpus_stamp(str(folder)) in stamps


def test_an_index_refuses_other_settings(folder: Path, tmp_path: Path, embedder: Letters) -> None:
    index = tmp_path / "index"
    write_index(index, sources(folder), letter_tools(embedder, **{"chunking.method": "sentence"}))
    opened(index, embedder)
    for settings in ({"chunking": "characters"}, {"index.windows": "whole"}):
        tools = letter_tools(embedder, **settings)
        with pytest.raises(SettingsError, match=r"update .* --set"):
            open_corpus(str(index), tools)
        open_corpus(str(folder), tools)
