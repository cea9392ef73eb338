import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.index import collection as collections
from lexloop.corpus.index.collection import Collection, searched_text
from lexloop.corpus.index.dense import window_texts
from lexloop.corpus.load.document import Document
from lexloop.corpus.opening import build_collection
from lexloop.models.embedding import Vectors
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

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)


def first_words(chunks: list[Chunk]) -> list[Triplet]:
    return [
        {
            "subject": chunk["text"].split()[0],
            "predicate": "opens",
            "object": chunk["id"],
            "chunk_id": chunk["id"],
            "document": chunk["document"],
            "section": chunk["section"],
            "page": None,
            "start": chunk["start"],
            "end": chunk["end"],
            "quote": chunk["text"],
        }
        for chunk in chunks
    ]


def build(text: str = LAW, embedder: Counting | None = None) -> Collection:
    document = Document("law.txt", "Harbour law", text)
    return build_collection([document], embedder or load_minilm(), first_words)


@pytest.fixture(scope="module")
def law() -> Collection:
    return build()


def test_every_index_speaks_of_the_same_chunks(law: Collection) -> None:
    assert [chunk["section"] for chunk in law.chunks] == ["§ 1", "§ 1", "§ 2"]
    assert law.lexical.size == law.dense.size == len(law.chunks) == len(law.triplets)
    assert set(law.dense.owners.tolist()) == {0, 1, 2}
    for chunk in law.chunks:
        assert law.documents["law.txt"].text[chunk["start"] : chunk["end"]] == chunk["text"]
        assert law.chunk(chunk["id"]) is chunk
    with pytest.raises(KeyError):
        law.chunk("law.txt#none")


LINES = ["(a) ", "1. ", "§ 2 Fees.\n", "# Head\n", ". ", ":\n", ";\n", "\n", " ", "x" * 40]
WORDS = ["The owner must pay", " the fee", "Bias audit.", PAD, "The guest may not moor. "]
PIECES = st.sampled_from([*LINES, *WORDS])


@settings(max_examples=12, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip))
def test_statements_and_their_vectors_are_aligned(text: str) -> None:
    collection = build(text)
    for position, chunk in enumerate(collection.chunks):
        found, vectors = collection.statements(chunk["id"])
        windows = window_texts(chunk, collection.embedder)
        assert len(collection.dense.windows_of(position)) == len(windows)
        assert len(found) == len(vectors)
        if len(found) > 1:
            expected = collection.embedder.embed([statement.text for statement in found])
            np.testing.assert_allclose(vectors, expected, atol=5e-4)  # kept in half precision


def test_lexical_search_is_best_first_and_leaves_out_what_scores_nothing(law: Collection) -> None:
    hits, none = law.search_lexical(["bias audit of the auditor", "zeppelin"], 5)
    assert [chunk["section"] for chunk, _ in hits] == ["§ 2"]
    assert none == []
    assert law.search_lexical([], 5) == []
    assert len(law.search_lexical(["gazette audit time"], 2)[0]) == 2


def test_vector_search_is_best_first(law: Collection) -> None:
    (hits,) = law.search_vector(["Who publishes the fee in the gazette?"], 3)
    assert hits[0][0] is law.chunks[1]
    scores = [score for _, score in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(type(score) is float for score in scores)
    assert law.search_vector([], 3) == []


def test_without_takes_a_chunk_out_of_every_signal(law: Collection) -> None:
    gone = law.chunks[1]["id"]
    rest = law.without({gone})
    assert [chunk["section"] for chunk in rest.chunks] == ["§ 1", "§ 2"]
    assert rest.search_lexical(["gazette"], 5) == [[]]
    assert not rest.knows("gazett")
    assert law.knows("gazett")
    assert gone not in [chunk["id"] for chunk, _ in rest.search_vector(["gazette"], 5)[0]]
    assert gone not in [triplet["chunk_id"] for triplet in rest.triplets]
    assert rest.dense.owners.tolist() == sorted(rest.dense.owners.tolist())
    np.testing.assert_array_equal(rest.dense.windows_of(1), law.dense.windows_of(2))
    texts = [searched_text(chunk) for chunk in rest.chunks]
    assert rest.lexical.terms == type(law.lexical).build(texts).terms
    assert len(law.chunks) == 3


def test_without_every_chunk_nothing_is_found_and_nothing_fails(law: Collection) -> None:
    empty = law.without([chunk["id"] for chunk in law.chunks])
    assert (empty.chunks, empty.triplets) == ([], [])
    assert empty.search_vector(["fee"], 5) == [[]]
    assert empty.search_lexical(["fee"], 5) == [[]]
    assert empty.centre().tolist() == [0.0] * 384
    assert empty.rarity("fee") == 0.0
    assert law.without([]).chunks == law.chunks


def test_rarity_by_hand(law: Collection) -> None:
    # "must" stands in all three chunks, "gazett" in one, "zeppelin" in none
    assert law.rarity("must") == pytest.approx(math.log(1 + 3 / 3.5))
    assert law.rarity("gazett") == pytest.approx(math.log(1 + 3 / 1.5))
    assert law.rarity("zeppelin") == pytest.approx(math.log(1 + 3 / 0.5))


def test_the_centre_is_the_mean_direction(law: Collection) -> None:
    mean = law.dense.vectors().mean(axis=0)
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
