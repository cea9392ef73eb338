"""Hit rate, MRR and nDCG by hand, and the plot beside a trained embedder's card."""

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import pytest

from lexloop.models.embedding import Vectors
from lexloop_train.pairs import TrainingPair
from lexloop_train.retrieval_figures import (
    TITLE,
    figures_drawn,
    figures_listed,
    figures_of,
    places_of,
    retrieval_figures,
)


def test_figures_by_hand() -> None:
    figures = figures_of({"late, all": [0, 2, 20]})
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
        TrainingPair("ab", "abz", "", "one"),
        TrainingPair("cd", "cyyy", "", "one"),
        TrainingPair("ef", "efg", "", "two"),
        TrainingPair("xx", "cd", "", "two"),
    ]
    places = places_of(pairs, letters)
    assert places["late, all"][:3] == [0, 1, 0]  # cd of the other document comes before cyyy
    assert places["late, document"][:3] == [0, 0, 0]
    assert places["cosine, all"][1] == 1


def test_any_text_that_answers_the_same_question_is_right() -> None:
    pairs = [
        TrainingPair("ab", "zz", "", "one"),
        TrainingPair("ab", "ab", "", "one"),
        TrainingPair("c", "c", "", "one"),
    ]
    assert places_of(pairs, letters)["late, all"] == [0, 0, 0]


def test_a_model_without_numbers_or_for_which_all_is_alike_finds_nothing() -> None:
    def broken(texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
        vectors, tokens = letters(texts, most)
        return vectors * np.nan, [rows * np.nan for rows in tokens]

    def alike(texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
        return letters(["a"] * len(texts), most)

    pairs = [TrainingPair(f"{n}", f"text {n}", "", "one") for n in range(3)]
    every = [f"{signal}, {scope}" for signal in ("cosine", "late") for scope in ("all", "document")]
    assert places_of(pairs, alike) == {name: [2, 2, 2] for name in every}
    pairs = [TrainingPair("ab", "abz", "", "one"), TrainingPair("c", "c", "", "one")]
    assert retrieval_figures(pairs, broken)["cosine, all hit@1"] == 0
    assert retrieval_figures(pairs, broken)["late, all hit@1"] == 0


BEFORE = {"cosine, all": [0, 4, 20], "late, all": [1, 1, 1]}
AFTER = {"cosine, all": [0, 0, 2], "late, all": [0, 0, 0]}


FIGURES = {
    f"{when}: {name}": value
    for when, places in (
        ("before", {**BEFORE, "cosine, document": [1], "late, document": [1]}),
        ("after", {**AFTER, "cosine, document": [0], "late, document": [2]}),
    )
    for name, value in figures_of(places).items()
}


def test_a_line_for_each_measure_of_each_signal() -> None:
    lines = [*figures_listed(FIGURES)]
    assert lines[0] == "| before -> after, K = | 1 | 3 | 5 | 10 | 15 |"
    assert len(lines) == 2 + 2 * 2 * 3
    cells = " | ".join(["0.000 -> 0.000", *["0.500 -> 0.333"] * 4])
    assert f"| late, document: MRR | {cells} |" in lines


def test_three_measures_of_two_signals_before_and_after() -> None:
    text = figures_drawn(FIGURES)
    root = ET.fromstring(text)
    assert root.get("aria-label") == TITLE
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"hit rate", "MRR", "nDCG"} <= {*texts}
    assert [texts.count(depth) for depth in ("3", "5", "10", "15")] == [3, 3, 3, 3]
    for signal in ("cosine", "late"):
        assert {f"{signal}, before", f"{signal}, after"} <= {*texts}
    assert figures_drawn(FIGURES) == text
