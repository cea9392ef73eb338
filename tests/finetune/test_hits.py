"""Hit rate, MRR and nDCG by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from lexloop.finetune.hits import Hits, hits
from lexloop.finetune.pairs import Pair
from lexloop.models.embedding import Vectors


def test_figures_by_hand() -> None:
    figures = Hits({"late, all": [0, 2, 20]}).figures()
    assert figures["late, all hit@1"] == pytest.approx(1 / 3, abs=1e-4)
    assert figures["late, all hit@3"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["late, all MRR@3"] == pytest.approx((1 + 1 / 3) / 3, abs=1e-4)
    assert figures["late, all nDCG@5"] == pytest.approx((1 + 1 / 2) / 3, abs=1e-4)
    assert figures["late, all MRR@15"] == figures["late, all MRR@3"]


def letters(texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
    """One direction a letter: a text's tokens are its letters, its vector is their mean."""
    tokens = [np.eye(26, dtype=np.float32)[[ord(c) - 97 for c in text]] for text in texts]
    return np.stack([rows.mean(axis=0) for rows in tokens]), tokens


def test_places_within_the_document_and_over_all() -> None:
    pairs = [
        Pair("ab", "abz", "", "one"),
        Pair("cd", "cyyy", "", "one"),
        Pair("ef", "efg", "", "two"),
        Pair("xx", "cd", "", "two"),
    ]
    places = hits(pairs, letters).places
    assert places["late, all"][:3] == [0, 1, 0]  # cd of the other document comes before cyyy
    assert places["late, document"][:3] == [0, 0, 0]
    assert places["cosine, all"][1] == 1


def test_any_text_that_answers_the_same_question_is_right() -> None:
    pairs = [Pair("ab", "zz", "", "one"), Pair("ab", "ab", "", "one"), Pair("c", "c", "", "one")]
    assert hits(pairs, letters).places["late, all"] == [0, 0, 0]


def test_vectors_that_are_no_numbers_find_nothing() -> None:
    def broken(texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
        vectors, tokens = letters(texts, most)
        return vectors * np.nan, [rows * np.nan for rows in tokens]

    pairs = [Pair("ab", "abz", "", "one"), Pair("c", "c", "", "one")]
    assert hits(pairs, broken).figures()["cosine, all hit@1"] == 0
    assert hits(pairs, broken).figures()["late, all hit@1"] == 0


def test_a_model_for_which_all_texts_are_alike_finds_nothing() -> None:
    def alike(texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
        return letters(["a"] * len(texts), most)

    pairs = [Pair(f"{n}", f"text {n}", "", "one") for n in range(3)]
    assert hits(pairs, alike).places == {
        f"{signal}, {scope}": [2, 2, 2]
        for signal in ("cosine", "late")
        for scope in ("all", "document")
    }
