import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fake_openai import letter_counts

from lexloop.core.errors import CorpusError, DataError
from lexloop.core.types import Chunk, Degradation, Triplet
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.store import MANIFEST, write_index
from lexloop.corpus.load import folder as load
from lexloop.corpus.opening import corpus_stamp, open_corpus, sample_folder
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import load_minilm


class Counting:
    """The real model, with a record of what it embeds."""

    def __init__(self) -> None:
        model = load_minilm()
        self._model = model
        self.name, self.dimension, self.window = model.name, model.dimension, model.window
        self.embedded: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        return self._model.embed(texts)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "indexes"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "fees.txt").write_text("§ 1 Fees\nThe owner must pay the berth fee in time.\n")
    (folder / "audits.md").write_text("# Audits\nAn auditor must do a bias audit each year.\n")
    return folder


def nothing(chunks: list[Chunk]) -> list[Triplet]:
    return []


def opened(
    source: Path | str, embedder: Counting, extractor: str = "none"
) -> tuple[Collection, list[Degradation]]:
    return open_corpus(str(source), embedder, nothing, extractor)


def test_a_source_folder_is_indexed_once(source: Path, embedder: Counting, cache: Path) -> None:
    first, degraded = opened(source, embedder)
    assert degraded == []
    assert embedder.embedded
    assert len(list(cache.iterdir())) == 1
    embedder.embedded.clear()
    second, degraded = opened(source, embedder)
    assert (degraded, embedder.embedded) == ([], [])
    assert second.chunks == first.chunks
    np.testing.assert_array_equal(second.dense.vectors(), first.dense.vectors())


@pytest.mark.parametrize("change", ["edited", "added", "removed", "renamed", "extractor"])
def test_what_changes_the_index_makes_a_new_one(
    source: Path, embedder: Counting, cache: Path, change: str
) -> None:
    opened(source, embedder)
    embedder.embedded.clear()
    if change == "edited":
        (source / "fees.txt").write_text("§ 1 Fees\nThe guest must pay the berth fee in time.\n")
    elif change == "added":
        (source / "more.txt").write_text("A vessel may moor at night.")
    elif change == "removed":
        (source / "audits.md").unlink()
    elif change == "renamed":
        (source / "fees.txt").rename(source / "dues.txt")
    opened(source, embedder, "model" if change == "extractor" else "none")
    assert embedder.embedded
    assert len(list(cache.iterdir())) == 2


def test_a_copy_of_the_folder_shares_its_index(
    source: Path, embedder: Counting, cache: Path, tmp_path: Path
) -> None:
    opened(source, embedder)
    shutil.copytree(source, tmp_path / "copy")
    embedder.embedded.clear()
    opened(tmp_path / "copy", embedder)
    assert embedder.embedded == []


@pytest.mark.parametrize("damaged", ["chunks.jsonl", "vectors.faiss", MANIFEST])
def test_a_damaged_cached_index_is_made_again_and_that_is_said(
    source: Path, embedder: Counting, cache: Path, damaged: str
) -> None:
    expected, _ = opened(source, embedder)
    (kept,) = cache.iterdir()
    (kept / damaged).write_bytes(b"damaged")
    embedder.embedded.clear()
    found, (trouble,) = opened(source, embedder)
    assert embedder.embedded
    assert found.chunks == expected.chunks
    assert (trouble["node"], trouble["wanted"]) == ("index", "a cached index")
    assert damaged in trouble["reason"]
    embedder.embedded.clear()
    assert opened(source, embedder)[1] == []
    assert embedder.embedded == []
    assert list(cache.iterdir()) == [kept]


def test_without_a_cache_the_collection_still_works_and_that_is_said(
    source: Path, embedder: Counting, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the cache should be")
    collection, (trouble,) = opened(source, embedder)
    assert collection.search_vector(["berth fee"], 1)[0][0][0]["document"] == "fees.txt"
    assert (trouble["node"], trouble["used"]) == ("index", "memory only")
    assert "cannot be written" in trouble["reason"]


@pytest.fixture
def barred(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that its user may not search; root, who may search any, becomes another user."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    (folder / "cache").mkdir(mode=0)
    (folder / "source").mkdir()
    (folder / "source" / "fees.txt").write_text("The owner must pay the berth fee in time.")
    load_minilm()
    if root:
        for path in (folder, folder / "cache", folder / "source"):
            os.chown(path, 65534, 65534)
        try:
            os.seteuid(65534)
        except PermissionError:
            pytest.skip("root without the power to become another user")
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        (folder / "cache").chmod(0o700)
        shutil.rmtree(folder)


def test_a_cache_that_may_not_be_searched_is_no_failure(
    barred: Path, embedder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXLOOP_CACHE", str(barred / "cache"))
    collection, (trouble,) = opened(barred / "source", embedder)
    assert len(collection.chunks) == 1
    assert "Permission denied" in trouble["reason"]


def test_two_threads_that_open_a_source_at_once_both_succeed(
    source: Path, embedder: Counting, cache: Path
) -> None:
    together = threading.Barrier(2)

    def extract(chunks: list[Chunk]) -> list[Triplet]:
        together.wait(timeout=30)
        return []

    def open_it(_: int) -> tuple[Collection, list[Degradation]]:
        return open_corpus(str(source), embedder, extract, "none")

    with ThreadPoolExecutor(2) as pool:
        (first, lost_first), (second, lost_second) = pool.map(open_it, range(2))
    assert first.chunks == second.chunks
    assert lost_first == lost_second == []
    assert len(list(cache.iterdir())) == 1
    embedder.embedded.clear()
    opened(source, embedder)
    assert embedder.embedded == []


def test_bad_files_are_left_out_with_their_reason(
    source: Path, embedder: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = {
        "zero.txt": (b"", "is empty"),
        "nul.txt": (b"a\x00b", "NUL bytes"),
        "latin.txt": ("Maß und Größe".encode("latin-1"), "is not UTF-8 text (byte 2)"),
        "picture.md": (b"\x89PNG\r\n\x1a\n", "is not UTF-8 text (byte 0)"),
        "large.txt": (b"x" * 5000, "is larger than"),
    }
    monkeypatch.setattr(load, "_MAX_BYTES", 4096)
    for name, (content, _) in bad.items():
        (source / name).write_bytes(content)
    for _ in range(2):  # built, then from the cache
        collection, degraded = opened(source, embedder)
        assert collection.documents.keys() == {"fees.txt", "audits.md"}
        reasons = {item["wanted"]: item["reason"] for item in degraded}
        assert reasons.keys() == bad.keys()
        assert all(bad[name][1] in reason for name, reason in reasons.items())


def test_a_name_that_is_no_text_can_be_kept(source: Path, embedder: Counting, cache: Path) -> None:
    (source / os.fsdecode(b"\xff.txt")).write_text("A vessel may moor at night.")
    opened(source, embedder)
    embedder.embedded.clear()
    collection, degraded = opened(source, embedder)
    assert (degraded, embedder.embedded) == ([], [])
    assert "\\xff.txt" in collection.documents


def test_an_index_is_opened_as_it_is(source: Path, embedder: Counting, tmp_path: Path) -> None:
    built, _ = opened(source, embedder)
    write_index(built, tmp_path / "index")
    embedder.embedded.clear()
    found, degraded = opened(tmp_path / "index", embedder)
    assert (found.chunks, degraded, embedder.embedded) == (built.chunks, [], [])
    (tmp_path / "index" / "chunks.jsonl").write_bytes(b"")
    with pytest.raises(DataError, match=r"chunks\.jsonl is damaged"):
        opened(tmp_path / "index", embedder)


@pytest.mark.parametrize(
    ("corpus", "reason"),
    [
        ("missing", "does not exist"),
        ("n" * 300, "cannot be listed"),
        ("a\x00b", "cannot be listed"),
        ("~no-such-user-here/x", "has no home"),
    ],
)
def test_a_corpus_that_is_none_is_named(embedder: Counting, corpus: str, reason: str) -> None:
    for use in (lambda: opened(corpus, embedder), lambda: corpus_stamp(corpus)):
        with pytest.raises(CorpusError, match=reason) as raised:
            use()
        assert corpus in raised.value.what
    assert embedder.embedded == []


class Letters:
    """How often each letter occurs: enough to see that everything was embedded."""

    name, dimension, window = "letters", 26, 256

    def embed(self, texts: list[str]) -> Vectors:
        return np.array([letter_counts(text) for text in texts], dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def test_the_sample_opens_and_is_searched() -> None:
    collection, degraded = open_corpus("sample", Letters(), nothing, "none")
    assert degraded == []
    assert {path.name for path in sample_folder().glob("*.txt")} == collection.documents.keys()
    assert all(document.text.strip() for document in collection.documents.values())
    (hits,) = collection.search_lexical(["bias audit"], 3)
    assert all("audit" in chunk["text"].lower() for chunk, _ in hits)


def test_the_stamp_changes_with_the_files(source: Path) -> None:
    stamps = {corpus_stamp(str(source)), corpus_stamp("sample")}
    (source / "fees.txt").write_text("Changed.")
    stamps.add(corpus_stamp(str(source)))
    (source / "more.txt").write_text("More.")
    stamps.add(corpus_stamp(str(source)))
    (source / "gone.txt").symlink_to(source / "nowhere")
    stamps.add(corpus_stamp(str(source)))
    assert len(stamps) == 5
    assert corpus_stamp(str(source)) in stamps


def test_the_stamp_of_an_index_is_that_of_its_manifest(
    source: Path, embedder: Counting, tmp_path: Path
) -> None:
    built, _ = opened(source, embedder)
    write_index(built, tmp_path / "index")
    before = corpus_stamp(str(tmp_path / "index"))
    assert corpus_stamp(str(tmp_path / "index")) == before
    write_index(built, tmp_path / "index", replace=True)
    assert corpus_stamp(str(tmp_path / "index")) != before
