"""An index follows its sources: only what changed is read, and it is the one made anew."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, Letters, content, letter_tools, sources
from laws import examples
from sets import write_texts

from lexloop.core.errors import CorpusError
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.store.folder.generations import GENERATIONS, LOCK
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import open_index, verify_index
from lexloop.store.writer import IndexUpdate, remove_documents, write_index

Write = Callable[..., IndexUpdate]


def fresh(folder: Path, place: Path, **options: object) -> dict[str, object]:
    write_index(place, sources(folder), letter_tools(), **options)
    return content(place)


def test_nothing_to_do_reads_embeds_and_writes_nothing(
    index: Path, write: Write, parsed: list[str], embedder: Letters
) -> None:
    first = write()
    assert (first.counts["documents"], len(first.difference.added)) == (2, 2)
    assert sorted(parsed) == ["fees.txt", "notices.md"]
    generation = Manifest.read(index).generation
    second = write()
    assert second.difference.nothing
    assert (parsed, embedder.embedded) == ([], [])
    assert (second.counts, second.skipped) == (first.counts, first.skipped)
    assert Manifest.read(index).generation == generation


def test_a_changed_file_embeds_only_its_changed_chunks(
    index: Path, folder: Path, write: Write, parsed: list[str], embedder: Letters
) -> None:
    write()
    text = (folder / "fees.txt").read_text()
    (folder / "fees.txt").write_text(text.replace("in time", "at once"))
    outcome = write()
    assert outcome.difference.changed == parsed == ["fees.txt"]
    assert outcome.difference.unchanged == ["notices.md"]
    assert embedder.embedded
    assert all("at once" in text for text in embedder.embedded)
    found = content(index)
    assert found == fresh(folder, index.with_name("fresh"))
    verify_index(index, embedder)


def test_several_sources_under_prefixes(
    index: Path, folder: Path, tmp_path: Path, write: Write, parsed: list[str]
) -> None:
    other = write_texts(tmp_path / "other", {"fees.txt": "The guest may not moor at night."})
    with pytest.raises(CorpusError, match=r"would be named 'fees\.txt'.*--prefix"):
        write(IndexSource(str(other)))
    assert not index.exists()
    write()
    with pytest.raises(CorpusError, match="--prefix"):
        write(IndexSource(str(other)))
    both = [
        IndexSource(str(other), "town/"),
        IndexSource(str(folder / "fees.txt")),
        IndexSource(str(folder)),
    ]
    assert write(*both).difference.added == ["town/fees.txt"]
    assert len(parsed) == 1
    held = Manifest.read(index)
    assert held.sources == (IndexSource(str(folder)), *both)
    assert sorted(held.fingerprints) == ["fees.txt", "notices.md", "town/fees.txt"]
    assert write(*both).difference.nothing
    assert write().difference.removed == ["town/fees.txt"]
    assert content(index) == fresh(folder, index.with_name("fresh"))


def test_one_file_heeds_the_sidecar_beside_it_and_no_other(
    index: Path, folder: Path, parsed: list[str]
) -> None:
    (folder / "metadata.csv").write_text("file,tags\nfees.txt,board\ngone.txt,x\n")
    write_texts(folder / "deep", {"metadata.csv": "nonsense"})
    outcome = write_index(index, sources(folder / "fees.txt"), letter_tools())
    assert outcome.skipped == []
    assert content(index)["metadata"] == {"fees.txt": {"tags": ["board"]}}
    (folder / "metadata.csv").write_text("nonsense")
    with pytest.raises(CorpusError, match="who may see it is unknown"):
        write_index(index, sources(folder / "fees.txt"), letter_tools())
    assert content(index)["metadata"] == {"fees.txt": {"tags": ["board"]}}


def test_what_is_removed_is_gone_from_every_signal_and_stays_out(
    index: Path, folder: Path, write: Write, embedder: Letters, parsed: list[str]
) -> None:
    write()
    before = content(index)
    (folder / "bad.txt").write_bytes(b"")
    write()
    outcome = remove_documents(index, ["fees.txt"], letter_tools(embedder))
    assert (outcome.difference.removed, outcome.counts["documents"]) == (["fees.txt"], 1)
    found = open_index(index, embedder)
    view = found.seen_by(ANYBODY)
    assert view.documents == ["notices.md"]
    assert view.search_lexical(["bias audit of the auditor"], 9) == [[]]
    assert not view.knows("audit")
    (hits,) = view.search_vector(["bias audit"], 9)
    assert {hit.document for hit in hits} == {"notices.md"}
    assert "audit" in before["entities"]
    assert not {"audit", "fee"} & {*view.graph.entities}
    assert [item.name for item in view.access.skipped()] == ["bad.txt"]
    found.close()
    verify_index(index, embedder)
    excluded = Manifest.read(index).excluded
    assert excluded == ("fees.txt",)
    (folder / "fees.txt").write_text("The owner must pay.")
    assert write(excluded=excluded).difference.nothing
    (folder / "notices.md").write_text("The auditor must give notice.")
    assert write(excluded=excluded).difference.changed == ["notices.md"]
    assert write().difference.added == ["fees.txt"]
    (folder / "bad.txt").unlink()
    write()
    assert content(index) == fresh(folder, index.with_name("fresh"))


def test_of_a_changed_file_the_same_documents_are_kept(
    index: Path, folder: Path, write: Write, embedder: Letters
) -> None:
    rows = [f'{{"id": "{n}", "text": "The owner must pay fee {n}."}}' for n in range(6)]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    write()
    related: list[str] = []
    tools = letter_tools(embedder)

    def extract(document: Document, chunks: Sequence[Chunk]) -> list[Triplet]:
        related.append(document.name)
        return tools.extract(document, chunks)

    rows[3] = rows[3].replace("owner", "guest")
    (folder / "rows.jsonl").write_text("\n".join([rows[0], *rows[2:]]))
    embedder.embedded.clear()
    write_index(index, sources(folder), replace(tools, extract=extract))
    assert related == ["rows.jsonl/3"]
    assert embedder.embedded == ["The guest must pay fee 3."]
    assert content(index) == fresh(folder, index.with_name("fresh"))


def test_another_recipe_or_force_indexes_everything_anew(
    index: Path, folder: Path, write: Write, parsed: list[str], embedder: Letters
) -> None:
    write()
    write(fresh=True)
    assert len(parsed) == 2
    assert embedder.embedded
    whole = letter_tools(embedder, **{"index.windows": "whole"})
    parsed.clear()
    assert len(write_index(index, sources(folder), whole).difference.added) == 2
    assert len(parsed) == 2
    assert Manifest.read(index).recipe.windows == "whole"


def test_a_source_that_is_missing_or_empty_leaves_nothing_behind(
    index: Path, tmp_path: Path, folder: Path, parsed: list[str]
) -> None:
    for name in ("nowhere", "void"):
        (tmp_path / "void").mkdir(exist_ok=True)
        with pytest.raises(CorpusError, match=name):
            write_index(index, sources(tmp_path / name), letter_tools())
        assert not index.exists()
    (tmp_path / "void" / "empty.txt").write_bytes(b"")
    with pytest.raises(CorpusError, match=r"No document could be read \(empty\.txt"):
        write_index(index, sources(tmp_path / "void"), letter_tools())
    assert not index.exists()
    (index / "mine").mkdir(parents=True)
    with pytest.raises(CorpusError):
        write_index(index, sources(tmp_path / "void"), letter_tools())
    assert [path.name for path in index.iterdir()] in (["mine"], ["mine", LOCK], [LOCK, "mine"])


NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
NAMES = st.sampled_from(["a.txt", "b.txt", "c/d.md", "rows.jsonl"])
TEXTS = st.sampled_from(
    [
        "The owner must pay the fee.",
        "§ 1 Fees\nThe guest may not moor.\n\n§ 2 Fines\nA fine is $500.\n",
        "The auditor must do an audit under § 1.",
        "",
    ]
)
EDITS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.lists(TEXTS, min_size=1, max_size=3)),
    st.tuples(st.just("delete"), NAMES, st.just([])),
    st.tuples(st.just("tag"), NAMES, st.just([])),
)


def edit(folder: Path, kind: str, name: str, texts: list[str]) -> None:
    path = folder / name
    if kind == "delete":
        path.unlink(missing_ok=True)
    elif kind == "tag":
        (folder / "metadata.csv").write_text(f"file,tags,in_force_from\n{name},x,2024-01-01\n")
    elif name.endswith(".jsonl"):
        rows = [f'{{"id": "{i}", "text": "{t[:20].strip()}"}}' for i, t in enumerate(texts)]
        path.write_text("\n".join(rows))
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n\n".join(texts))


@settings(
    max_examples=examples(12),
    phases=NO_SHRINKING,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_an_updated_index_equals_a_fresh_one(
    parsed: list[str], steps: list[list[tuple[str, str, list[str]]]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder, index = Path(place, "source"), Path(place, "index")
        write_texts(folder, {"base.txt": "A vessel may lie at a berth."})
        write_index(index, sources(folder), letter_tools())
        for step in steps:
            for change in step:
                edit(folder, *change)
            parsed.clear()
            outcome = write_index(index, sources(folder), letter_tools())
            changes = outcome.difference
            assert sorted(parsed) == sorted(changes.added + changes.changed)
        write_index(Path(place, "fresh"), sources(folder), letter_tools())
        assert content(index) == content(Path(place, "fresh"))
        verify_index(index, Letters())
        assert len(list((index / GENERATIONS).iterdir())) == 1
        shutil.rmtree(index)
