"""Labelled questions for the classifier, and which of them nearly repeat each other."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import CorpusError

COLUMNS = ("question", "label", "question_clean")
Text = Literal["noisy", "clean"]


@dataclass(frozen=True)
class Labelled:
    """Rows of one file, or some of them.

    Attributes:
        noisy: Each question with its added noise.
        clean: The same question before noise.
        labels: 0 for one piece of context, 1 for two, 2 for three or more; shape (n,).
    """

    noisy: list[str]
    clean: list[str]
    labels: NDArray[np.int64]

    def rows(self, chosen: NDArray[np.int64]) -> Self:
        """Keep the rows of the given indices, in their order."""
        return type(self)(
            [self.noisy[i] for i in chosen], [self.clean[i] for i in chosen], self.labels[chosen]
        )

    def texts(self, which: Text) -> list[str]:
        """Give the questions with or without their noise."""
        return self.noisy if which == "noisy" else self.clean


def read(path: Path) -> Labelled:
    """Read a CSV file with the columns question, label and question_clean.

    Args:
        path: UTF-8 text with a header line; further columns are left alone.

    Returns:
        Its rows.

    Raises:
        CorpusError: The file is missing, no UTF-8 CSV, empty, lacks a column, or holds a label
            other than 0, 1 and 2.
    """
    hint = f"Give a UTF-8 CSV file with the columns {', '.join(COLUMNS)}."
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CorpusError(f"{path} cannot be read: {error}.", hint) from error
    if not rows:
        raise CorpusError(f"{path} holds no rows.", hint)
    for number, row in enumerate(rows, start=1):
        missing = [name for name in COLUMNS if row.get(name) is None]
        if missing:
            raise CorpusError(f"{path}, row {number}: no {', '.join(missing)}.", hint)
        if row["label"] not in {"0", "1", "2"}:
            what = f"{path}, row {number}: label {row['label']!r} is none of 0, 1 and 2."
            raise CorpusError(what, hint)
    labels = np.array([int(row["label"]) for row in rows], dtype=np.int64)
    return Labelled(
        [row["question"] for row in rows], [row["question_clean"] for row in rows], labels
    )


def merged(labels: NDArray[np.int64], classes: Literal[2, 3]) -> NDArray[np.int64]:
    """Merge labels 1 and 2 for the two-class task (HyPA-RAG, section 4)."""
    return labels if classes == 3 else np.minimum(labels, 1)


def near_duplicates(rows: Labelled) -> NDArray[np.int64]:
    """Find the groups of rows that nearly repeat each other.

    Two rows belong together when the cosine of their character 3-5-grams (TF-IDF) is at least
    0.80 between the clean or 0.85 between the noisy texts; groups are the connected components.

    Args:
        rows: Labelled questions.

    Returns:
        The group of each row, shape (n,).
    """
    from scipy.sparse.csgraph import connected_components

    linked = _alike(rows.clean, 0.80) + _alike(rows.noisy, 0.85)
    groups: NDArray[np.int64] = connected_components(linked, directed=False)[1].astype(np.int64)
    return groups


def folds(groups: NDArray[np.int64], n_folds: int, seed: int) -> list[NDArray[np.int64]]:
    """Deal whole groups to folds at random.

    Args:
        groups: The group of each row, shape (n,).
        n_folds: How many folds; every one gets at least one group where there are enough.
        seed: Of the random order.

    Returns:
        The row indices of each fold.
    """
    names = np.random.default_rng(seed).permutation(np.unique(groups))
    fold_of = {int(name): place % n_folds for place, name in enumerate(names)}
    dealt = np.array([fold_of[int(group)] for group in groups])
    return [np.flatnonzero(dealt == fold) for fold in range(n_folds)]


def _alike(texts: list[str], cosine: float) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).fit_transform(texts)
    return (grams @ grams.T) >= cosine
