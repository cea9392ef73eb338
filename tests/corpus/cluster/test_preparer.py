"""An index made over a cluster is the one made without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from indexes import Letters, content, letter_tools, sources
from on_workers import DEADLY, FAILING, ONCE, LetterTools

from lexloop.core.errors import ClusterError, CorpusError, ModelError
from lexloop.corpus.cluster.preparer import ClusterPreparer
from lexloop.corpus.index.manifest import IndexSource
from lexloop.corpus.index.writer import estimate, write_index

Prepare = Callable[..., ClusterPreparer]


def test_the_index_is_the_one_made_without_a_cluster(
    preparer: Prepare, laws: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    one = write_index(here, sources(laws), letter_tools())
    stages = set()
    other = write_index(
        there,
        sources(laws),
        letter_tools(),
        cluster=preparer(),
        progress=lambda stage, done, total: stages.add((stage, done == total)),
    )
    assert content(there, Letters()) == content(here, Letters())
    assert (other.counts, other.skipped) == (one.counts, one.skipped)
    assert ("preparing", True) in stages
