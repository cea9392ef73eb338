import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import EVERYTHING, letter_tools, states

from lexloop.core.metadata import Metadata
from lexloop.core.settings import Settings
from lexloop.corpus.index import collection as collections
from lexloop.corpus.index.assemble import build_collection
from lexloop.corpus.index.collection import Collection, searched_text
from lexloop.corpus.index.subset import every_chunk, without
from lexloop.corpus.index.windows import window_texts
from lexloop.corpus.load.document import Document
from lexloop.corpus.opening import tools_for
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.models.minilm import MiniLM, load_minilm

PAD = "The words of this sentence must stand here so that the paragraph is long enough to be cut. "
LAW = f"""§ 1 Fees
The owner must pay the berth fee in time. The guest may not moor at night. {PAD}
The harbour master must publish the fee in the gazette. {PAD}
§ 2 Audits
An independent auditor must do a bias audit each year. {PAD}
"""


class Counting:
    """The real model, with a record of what it embeds."""

    def __init__(self, model: MiniLM) -> None:
        self._model = model
        self.name, self.dimension, self.window = model.name, model.dimension, model.window
        self.embedded: list[str] = []

    def embed(self, texts: list[str]) -> Vectors:
        self.embedded += texts
        return self._model.embed(texts)

    def encode(self, texts: Sequence[str], progress: Progress) -> Halves:
        self.embedded += texts
        return self._model.encode(texts, progress)

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        return self._model.count_tokens_many(texts)


def build(
    text: str = LAW, embedder: Counting | MiniLM | None = None, windows: str = "statements"
) -> Collection:
    document = Document("law.txt", "Harbour law", text, pages=(0, 40))
    tools = tools_for(Settings(windows=windows), embedder or load_minilm())
    return build_collection([document], replace(tools, extract=states))


@pytest.fixture(scope="module")
def law() -> Collection:
    return build()


def ids(collection: Collection) -> list[str]:
    return [chunk["id"] for chunk in every_chunk(collection)]


def test_every_index_speaks_of_the_same_chunks(law: Collection) -> None:
    chunks = list(every_chunk(law))
    assert [chunk["section"] for chunk in chunks] == ["§ 1", "§ 1", "§ 2"]
    assert law.lexical.size == law.dense.size == len(law) == len(law.texts) == 3
    assert set(law.dense.owners.tolist()) == {0, 1, 2}
    for position, chunk in enumerate(chunks):
        assert str(law.text_of("law.txt"))[chunk["start"] : chunk["end"]] == chunk["text"]
        assert law.layout.position_of(chunk["id"]) == position
        assert law.layout.id_of(position) == chunk["id"]
        assert law.layout.document_of(position) == "law.txt"
        assert law.texts.fetch([position])[0]["chunk_id"] == chunk["id"]
    assert law.chunks([chunks[2]["id"], chunks[0]["id"]]) == [chunks[2], chunks[0]]
    assert law.text_of("none") is None
    assert chunks[0]["page_breaks"] == [40]


@pytest.mark.parametrize(
    "unknown", ["law.txt#1", "law.txt#", "law.txt", "#0", "", "law.txt#-1", "law.txt#²", "x#0"]
)
def test_a_chunk_that_is_not_there_is_a_key_error(law: Collection, unknown: str) -> None:
    with pytest.raises(KeyError):
        law.chunks([unknown])
    with pytest.raises(KeyError):
        law.statements(unknown)


def test_names_may_hold_what_separates_an_id() -> None:
    documents = [Document(name, "T", "One. Two.") for name in ("a#0", "a#0#0", "a")]
    found = build_collection(documents, tools_for(Settings(), load_minilm()))
    assert [chunk["document"] for chunk in found.chunks(ids(found))] == ["a#0", "a#0#0", "a"]


def test_a_chunk_says_its_version_where_it_has_one() -> None:
    known = Metadata.from_record({"in_force_from": "2020-01-01"})
    documents = [Document("a.txt", "T", "One.", known), Document("b.txt", "T", "Two.")]
    found = build_collection(documents, tools_for(Settings(), load_minilm()))
    first, second = found.chunks(ids(found))
    assert first["version"] == "in force from 2020-01-01"
    assert "version" not in second
    assert found.metadata(["a.txt", "b.txt", "c.txt"]) == {
        "a.txt": known, "b.txt": Metadata(), "c.txt": Metadata()
    }  # fmt: skip


LINES = ["(a) ", "1. ", "§ 2 Fees.\n", "# Head\n", ". ", ":\n", ";\n", "\n", " ", "x" * 40]
WORDS = ["The owner must pay", " the fee", "Bias audit.", PAD, "The guest may not moor. "]
PIECES = st.sampled_from([*LINES, *WORDS])


@settings(max_examples=12, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip))
def test_statements_and_their_vectors_are_aligned(text: str) -> None:
    collection = build(text)
    for position, chunk in enumerate(every_chunk(collection)):
        found, vectors = collection.statements(chunk["id"])
        windows = window_texts(chunk, collection.embedder)
        assert len(collection.dense.windows_of(position)) == len(windows)
        assert len(found) == len(vectors)
        if len(found) > 1:
            expected = collection.embedder.embed([statement.text for statement in found])
            np.testing.assert_allclose(vectors, expected, atol=5e-4)  # kept in half precision


def test_statements_of_whole_windows_are_embedded_when_asked_for() -> None:
    embedder = Counting(load_minilm())
    collection = build(embedder=embedder, windows="whole")
    assert collection.dense.owners.tolist() == [0, 1, 2]
    embedder.embedded.clear()
    found, vectors = collection.statements(ids(collection)[0])
    assert embedder.embedded == [statement.text for statement in found]
    assert len(found) == len(vectors) > 1


def test_lexical_search_is_best_first_and_leaves_out_what_scores_nothing(law: Collection) -> None:
    queries = ["bias audit of the auditor", "zeppelin"]
    hits, none = law.search_lexical(queries, 5, EVERYTHING)
    assert [chunk["section"] for chunk in law.chunks([hit.chunk_id for hit in hits])] == ["§ 2"]
    assert none == []
    assert law.search_lexical([], 5, EVERYTHING) == []
    assert len(law.search_lexical(["gazette audit time"], 2, EVERYTHING)[0]) == 2
    assert law.search_lexical(["gazette"], 0, EVERYTHING) == [[]]


def test_vector_search_is_best_first(law: Collection) -> None:
    (hits,) = law.search_vector(["Who publishes the fee in the gazette?"], 3, EVERYTHING)
    assert hits[0].chunk_id == ids(law)[1]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(type(score) is float for score in scores)
    assert law.search_vector([], 3, EVERYTHING) == []


def test_without_takes_a_chunk_out_of_every_signal(law: Collection) -> None:
    gone = ids(law)[1]
    rest = without(law, {gone})
    chunks = list(every_chunk(rest))
    assert [chunk for chunk in every_chunk(law) if chunk["id"] != gone] == chunks
    assert rest.search_lexical(["gazette"], 5, EVERYTHING) == [[]]
    assert not rest.knows("gazett")
    assert law.knows("gazett")
    assert gone not in [hit.chunk_id for hit in rest.search_vector(["gazette"], 5, EVERYTHING)[0]]
    assert gone not in [triplet["chunk_id"] for triplet in rest.texts.fetch(range(2))]
    assert (len(rest.texts), len(rest.graph(EVERYTHING)), len(law.graph(EVERYTHING))) == (2, 2, 3)
    assert rest.dense.owners.tolist() == sorted(rest.dense.owners.tolist())
    np.testing.assert_array_equal(rest.dense.windows_of(1), law.dense.windows_of(2))
    texts = [searched_text(chunk) for chunk in chunks]
    assert rest.lexical.terms == type(law.lexical).build(texts).terms
    assert len(law) == 3


def test_without_embeds_nothing() -> None:
    embedder = Counting(load_minilm())
    law = build(embedder=embedder)
    embedder.embedded.clear()
    without(law, ids(law)[:1])
    assert embedder.embedded == []


def test_without_every_chunk_nothing_is_found_and_nothing_fails(law: Collection) -> None:
    empty = without(law, ids(law))
    assert (ids(empty), len(empty.texts)) == ([], 0)
    assert empty.search_vector(["fee"], 5, EVERYTHING) == [[]]
    assert empty.search_lexical(["fee"], 5, EVERYTHING) == [[]]
    assert empty.graph(EVERYTHING).entities == []
    assert empty.centre().tolist() == [0.0] * 384
    assert empty.rarity("fee") == 0.0
    assert list(every_chunk(without(law, []))) == list(every_chunk(law))


def test_many_chunks_are_fetched_in_the_order_asked_for() -> None:
    documents = [Document(f"{n:04}", "T", f"Text {n}.") for n in range(1100)]
    found = build_collection(documents, letter_tools())
    asked = [f"{n:04}#0" for n in (*range(1099, -1, -1), 5, 5)]
    assert [chunk["id"] for chunk in found.chunks(asked)] == asked


def test_rarity_by_hand(law: Collection) -> None:
    # "must" stands in all three chunks, "gazett" in one, "zeppelin" in none
    assert law.rarity("must") == pytest.approx(math.log(1 + 3 / 3.5))
    assert law.rarity("gazett") == pytest.approx(math.log(1 + 3 / 1.5))
    assert law.rarity("zeppelin") == pytest.approx(math.log(1 + 3 / 0.5))


def test_the_centre_is_the_mean_direction(law: Collection) -> None:
    mean = np.asarray(law.dense.vectors, dtype=np.float32).mean(axis=0)
    np.testing.assert_allclose(law.centre(), mean / np.linalg.norm(mean), atol=1e-6)


def test_recent_texts_are_embedded_once() -> None:
    embedder = Counting(load_minilm())
    collection = build(embedder=embedder)
    embedder.embedded.clear()
    first = collection.embed(["fee", "audit", "fee"])
    again = collection.embed(["audit", "night", "fee"])
    assert embedder.embedded == ["fee", "audit", "night"]
    np.testing.assert_array_equal(first[[1, 0]], again[[0, 2]])
    np.testing.assert_array_equal(first[0], first[2])
    np.testing.assert_allclose(again, load_minilm().embed(["audit", "night", "fee"]), atol=1e-5)
    again[:] = 0
    assert np.linalg.norm(collection.embed(["audit"])) == pytest.approx(1, abs=1e-5)


def test_no_text_has_no_vector(law: Collection) -> None:
    assert law.embed([]).shape == (0, 384)


def test_threads_that_embed_at_once_get_their_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "_RECENT", 3)
    collection = build()
    texts = ["fee", "audit", "night", "berth", "guest"]
    expected = dict(zip(texts, load_minilm().embed(texts), strict=True))

    def wrong(start: int) -> list[str]:
        asked = [texts[(start + step) % 5] for step in range(4)]
        vectors = collection.embed(asked)
        pairs = zip(asked, vectors, strict=True)
        return [
            text for text, vector in pairs if not np.allclose(vector, expected[text], atol=1e-5)
        ]

    with ThreadPoolExecutor(4) as pool:
        assert [found for found in pool.map(wrong, range(40)) if found] == []
