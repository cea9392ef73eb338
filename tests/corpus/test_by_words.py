"""A collection whose own vectors are of no use."""

from pathlib import Path

import numpy as np
import pytest
from indexes import ANYBODY, letter_tools
from statute import LAW

from lexloop.corpus.by_words import WordsView
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.view import View
from lexloop.corpus.opening import open_corpus
from lexloop.models.minilm import load_minilm

SHORT = "The fee is due."


@pytest.fixture(params=["statements", "whole"])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    (tmp_path / "law.txt").write_text(LAW, encoding="utf-8")
    (tmp_path / "short.txt").write_text(SHORT, encoding="utf-8")
    return open_corpus(str(tmp_path), letter_tools(**{"index.windows": request.param}))[0]


def by_words(collection: Collection) -> View:
    return collection.embedded_by(load_minilm(), WordsView).seen_by(ANYBODY)


def test_words_find_what_they_found_before(collection: Collection) -> None:
    alone = by_words(collection)
    queries = ["mooring fee", "harbour master", "zebra"]
    found = alone.search_lexical(queries, 5)
    assert found == collection.seen_by(ANYBODY).search_lexical(queries, 5)
    assert found[0]
    assert alone.search_vector(queries, 5) == [[], [], []]
    assert alone.search_vector([], 5) == []
    assert alone.text_of("short.txt") == SHORT


def test_vectors_of_statements_are_made_anew(collection: Collection) -> None:
    alone = by_words(collection)
    for chunk in collection.seen_by(ANYBODY).every_chunk():
        found, vectors = alone.statements(chunk["id"])
        assert found == collection.seen_by(ANYBODY).statements(chunk["id"])[0]
        expected = load_minilm().embed([statement.text for statement in found])
        np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert collection.embedder.embed(["a"]).shape == (1, 27)  # the other one is as it was


def test_no_direction_draws_a_vague_question(collection: Collection) -> None:
    alone = by_words(collection)
    np.testing.assert_array_equal(alone.centre(), np.zeros(384))
