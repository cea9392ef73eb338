"""An index made over a cluster is the one made without, whoever is killed meanwhile."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from indexes import content, letter_tools, sources
from on_workers import DEADLY, FAILING, LetterTools, related

from lexloop.core.errors import ClusterError, ModelError
from lexloop.store.cluster.ingesting import ClusterPreparer
from lexloop.store.writer import write_index

Prepare = Callable[..., ClusterPreparer]


def test_the_index_is_the_one_made_without_a_cluster(
    preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    one = write_index(here, sources(laws), letter_tools())
    stages = set[tuple[str, bool]]()
    other = write_index(
        there,
        sources(laws),
        letter_tools(),
        cluster=preparer(),
        progress=lambda stage, done, total: stages.add((stage, done == total)),
    )
    assert content(there) == content(here)
    assert (other.counts, other.skipped) == (one.counts, one.skipped)
    assert ("preparing", True) in stages


def test_a_document_that_kills_every_worker_is_skipped(
    preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write_index(here, sources(laws), letter_tools())
    (laws / "deadly.txt").write_text(f"The clerk {DEADLY}.", encoding="utf-8")
    outcome = write_index(there, sources(laws), letter_tools(), cluster=preparer())
    assert outcome.counts["documents"] == len(content(here)["documents"])
    reasons = {item.name: item.reason for item in outcome.skipped}
    assert reasons["deadly.txt"] == "It lost its worker 4 times: WorkerCrashedError."


def test_a_lost_node_costs_its_own_tasks_only(
    driver: Any, preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    extra = driver.add_node(num_cpus=1, node_ip_address="127.0.0.1", object_store_memory=80 << 20)
    here, there = tmp_path / "here", tmp_path / "there"
    write_index(here, sources(laws), letter_tools())
    removed = list[Any]()

    def remove(stage: str, done: int, total: int) -> None:
        if stage == "preparing" and not removed:
            removed.append(extra)
            driver.remove_node(extra, allow_graceful=False)

    write_index(there, sources(laws), letter_tools(), cluster=preparer(), progress=remove)
    assert removed
    assert content(there) == content(here)


def test_actors_embed_where_there_are_accelerators(
    driver: Any, preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    # Ray counts an accelerator that is said to be there; the embedder of tests needs none
    node = driver.add_node(
        num_cpus=0, num_gpus=1, node_ip_address="127.0.0.1", object_store_memory=80 << 20
    )
    driver.wait_for_nodes()
    here, there = tmp_path / "here", tmp_path / "there"
    try:
        (laws / "deadly.txt").write_text(f"The clerk {DEADLY}.", encoding="utf-8")
        outcome = write_index(there, sources(laws), letter_tools(), cluster=preparer())
    finally:
        driver.remove_node(node)
    (laws / "deadly.txt").unlink()
    write_index(here, sources(laws), letter_tools())
    wanted, found = content(here), content(there)
    assert [item.name for item in outcome.skipped][:2] == ["broken.pdf", "deadly.txt"]
    for part in ("files", "skipped"):
        wanted.pop(part)
        found.pop(part)
    assert found == wanted


def test_what_came_back_is_kept_when_the_run_fails(
    preparer: Prepare, laws: Path, tmp_path: Path, diary: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    bad = laws / "zzz.txt"
    bad.write_text(f"It {FAILING}.", encoding="utf-8")
    make = LetterTools(str(diary))
    with pytest.raises(ModelError, match=r"^The model is gone\. Ask again\.$") as failed:
        write_index(there, sources(laws), letter_tools(), cluster=preparer(make))
    assert failed.value.embedder == "letters"
    first = related(diary)
    bad.write_text("The clerk must be kind.", encoding="utf-8")
    write_index(here, sources(laws), letter_tools())
    write_index(there, sources(laws), letter_tools(), cluster=preparer(make))
    assert content(there) == content(here)
    again = [name for name, count in related(diary).items() if count != first.get(name, 0)]
    assert len(first) - len(again) >= 10  # all but what was under way
    assert "zzz.txt" in again


def test_a_damaged_kept_file_is_made_again(preparer: Prepare, laws: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    cluster = preparer()
    write_index(here, sources(laws), letter_tools(), cluster=cluster)
    kept = sorted((tmp_path / "staging").rglob("*.kept"))
    for path in kept[:3]:
        path.write_bytes(path.read_bytes()[:-40])
    again = preparer()
    write_index(there, sources(laws), letter_tools(), cluster=again)
    assert (len(kept), again.made) == (14, 3)
    assert content(there) == content(here)


def test_a_cluster_with_other_models_is_refused(preparer: Prepare, laws: Path) -> None:
    index = laws.parent / "index"
    with pytest.raises(ClusterError, match=r"A machine of the cluster makes .*other-letters"):
        write_index(
            index, sources(laws), letter_tools(), cluster=preparer(LetterTools("", "other-letters"))
        )
    assert not (index / "manifest.json").exists()
