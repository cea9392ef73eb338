import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from relations import DOCUMENTS, NAMES, RELATIONS, relation
from triplet_list import TripletList, graph_of

from lexloop.core.errors import DataError
from lexloop.core.types import Triplet
from lexloop.knowledge.columns import FILES
from lexloop.knowledge.relations import entity_key
from lexloop.store.graph import KnowledgeGraph

SEEDS = st.dictionaries(NAMES.map(entity_key), st.floats(0.05, 1.0), max_size=4)
TRIPLETS = [
    relation("owner", "requires", "pay the fee", section="§ 1"),
    relation("fee", "defines", "sum due", section="§ 2", start=1),
    relation("fee", "defines", "sum due", section="§ 2", start=1),
    relation("FLS", "alias_of", "floating landing stage", document="e.txt"),
]


@given(RELATIONS, SEEDS, st.sets(st.sampled_from(DOCUMENTS)))
def test_a_stored_graph_walks_the_same(
    triplets: list[Triplet], seeds: dict[str, float], admitted: set[str]
) -> None:
    graph = graph_of(triplets)
    with tempfile.TemporaryDirectory() as name:
        graph.save(Path(name))
        opened = KnowledgeGraph.load(Path(name), TripletList(triplets))
        assert opened.entities == graph.entities
        assert opened.walk(seeds, 3, 20) == graph.walk(seeds, 3, 20)
        assert opened.match(["owner", "FLS"], 5) == graph.match(["owner", "FLS"], 5)
        view, other = (each.view(admitted.__contains__) for each in (opened, graph))
        assert view.look_up(["c1", "c3"], {}, 2, 9) == other.look_up(["c1", "c3"], {}, 2, 9)
        assert view.walk(seeds, 2, 20) == other.walk(seeds, 2, 20)


def saved(folder: Path) -> TripletList:
    source = TripletList(TRIPLETS)
    KnowledgeGraph.build(source).save(folder)
    return source


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [None, b"", b"[1, 2]"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes | None) -> None:
    source = saved(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        KnowledgeGraph.load(tmp_path, source)


def test_the_graph_of_another_source_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(DataError, match="more triplets than the 1"):
        KnowledgeGraph.load(tmp_path, TripletList(TRIPLETS[:1]))
