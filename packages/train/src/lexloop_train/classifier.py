"""The embedded classifier of questions: labelled questions, and how it is fitted to them.

Only training needs scikit-learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from lexloop.core.errors import CorpusError, InputError
from lexloop.nodes.classify import (
    BUCKETS,
    FAMILIES,
    N_PAIRED,
    LinearClassifier,
    bags,
    measures,
    paired,
    standardise,
)
from lexloop.nodes.context import ComplexityClassifier
from lexloop_train.rows import read_csv

SVM_C = 0.5
CALIBRATION_FOLDS = 5
# One deal of the folds moves the two-class score on 299 rows by a point; four even it out.
CALIBRATION_REPEATS = 4
Text = Literal["noisy", "clean"]
Classes = Literal[2, 3]
Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
Predict = Callable[[list[str], Classes], Labels]
CLASS_COUNTS: tuple[Classes, ...] = (3, 2)


@dataclass(frozen=True)
class LabelledQuestions:
    """Rows of one file, or some of them.

    Attributes:
        labels: 0 for one piece of context, 1 for two, 2 for three or more; shape (n,).
    """

    noisy: list[str]
    clean: list[str]
    labels: Labels

    def rows(self, chosen: Labels) -> Self:
        """Return the rows of the given indices, in their order."""
        return type(self)(
            [self.noisy[i] for i in chosen], [self.clean[i] for i in chosen], self.labels[chosen]
        )

    def texts(self, which: Text) -> list[str]:
        """Return the questions with or without their noise."""
        return self.noisy if which == "noisy" else self.clean


class _Row(BaseModel):
    """A row of a training file, unchanged."""

    question: str
    label: Literal["0", "1", "2"]
    question_clean: str


COLUMNS = tuple(_Row.model_fields)


def read(path: Path) -> LabelledQuestions:
    """Return the rows of a CSV file with the columns question, label and question_clean.

    Raises:
        CorpusError: The file cannot be read, holds no rows, or one is malformed.
    """
    try:
        rows = read_csv(path, _Row)
    except InputError as error:
        raise CorpusError(error.what, error.hint) from error
    if not rows:
        raise CorpusError(f"{path} holds no rows.", f"Give the columns {', '.join(COLUMNS)}.")
    labels = np.array([int(row.label) for row in rows], dtype=np.int64)
    return LabelledQuestions(
        [row.question for row in rows], [row.question_clean for row in rows], labels
    )


def merged(labels: Labels, classes: Classes) -> Labels:
    """Merge labels 1 and 2 for the two-class task (HyPA-RAG, section 4)."""
    return labels if classes == 3 else np.minimum(labels, 1)


def near_duplicates(rows: LabelledQuestions) -> Labels:
    """Find the groups of rows that nearly repeat each other.

    Two rows belong together when the cosine of their character 3-5-grams (TF-IDF) is at least
    0.80 between the clean or 0.85 between the noisy texts; groups are the connected components.
    """
    from scipy.sparse.csgraph import connected_components

    linked = _alike(rows.clean, 0.80) + _alike(rows.noisy, 0.85)
    return np.asarray(connected_components(linked, directed=False)[1], dtype=np.int64)


def grouped_folds(groups: Labels, n_folds: int, seed: int) -> list[Labels]:
    """Deal whole groups to folds at random, and return the row indices of each fold."""
    names = np.random.default_rng(seed).permutation(np.unique(groups))
    fold_of = {int(name): place % n_folds for place, name in enumerate(names)}
    dealt = np.array([fold_of[int(group)] for group in groups])
    return [np.flatnonzero(dealt == fold) for fold in range(n_folds)]


def _alike(texts: list[str], cosine: float) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5)).fit_transform(texts)
    return (grams @ grams.T) >= cosine


class _Examples:
    """The features of some texts, computed once and cut into folds.

    Attributes:
        counts: Damped n-gram counts, one sparse matrix (texts, buckets) for each family.
        surface: Paired measures, shape (texts, 465).
        labels: 0, 1 or 2; shape (texts,).
    """

    def __init__(self, texts: list[str], labels: Labels) -> None:
        from scipy.sparse import csr_matrix

        hashed = [bags(text) for text in texts]
        self.counts = []
        for family in FAMILIES:
            buckets = [bag[family][0] for bag in hashed]
            ends = np.cumsum([0, *map(len, buckets)])
            values = np.concatenate([bag[family][1] for bag in hashed])
            self.counts.append(
                csr_matrix((values, np.concatenate(buckets), ends), (len(texts), BUCKETS))
            )
        self.surface = np.stack([paired(measures(text)) for text in texts])
        self.labels = labels


def train(rows: LabelledQuestions, kinds: tuple[Text, ...], seed: int) -> LinearClassifier:
    """Fit the wording and the frame model, then calibrate them on held-out folds.

    Returns:
        The classifier, with probabilities fitted to the scores that models trained on four fifths
        of the groups of near-duplicates gave to the other fifth.

    Raises:
        CorpusError: The rows do not hold every label in enough different groups.
    """
    _require_enough(rows)
    texts = [text for kind in kinds for text in rows.texts(kind)]
    examples = _Examples(texts, np.tile(rows.labels, len(kinds)))
    everything = np.arange(len(texts))
    groups = near_duplicates(rows)
    held_out, labels = [], []
    for repeat in range(CALIBRATION_REPEATS):
        for fold in grouped_folds(groups, CALIBRATION_FOLDS, seed + repeat):
            test_rows = np.concatenate([fold + len(rows.labels) * i for i in range(len(kinds))])
            training_rows = np.setdiff1d(everything, test_rows)
            _require_every_label(examples.labels[training_rows])
            held_out.append(_scores(_fit(examples, training_rows, seed), examples, test_rows))
            labels.append(examples.labels[test_rows])
    scores, truth = np.concatenate(held_out), np.concatenate(labels)
    calibration_3, calibration_2 = (_calibrate(scores, merged(truth, n)) for n in (3, 2))
    fitted = _fit(examples, everything, seed)
    return LinearClassifier(**fitted, calibration_3=calibration_3, calibration_2=calibration_2)


def _require_enough(rows: LabelledQuestions) -> None:
    counts = np.bincount(rows.labels, minlength=3)
    if counts.min() < CALIBRATION_FOLDS:
        raise CorpusError(
            f"The training file has {counts.tolist()} rows of the labels 0, 1 and 2.",
            f"Give at least {CALIBRATION_FOLDS} rows of each.",
        )


def _require_every_label(labels: Labels) -> None:
    if len(np.unique(labels)) < 3:
        raise CorpusError(
            "One label of the training file occurs only among near-duplicates of one question.",
            "Give rows of that label that differ more.",
        )


def _fit(examples: _Examples, rows: Labels, seed: int) -> dict[str, NDArray[Any]]:
    idf = np.stack([_idf(counts[rows]) for counts in examples.counts])
    mean = examples.surface[rows].mean(axis=0)
    scale = examples.surface[rows].std(axis=0)
    fitted = {
        "idf": idf,
        "gram_weights": np.zeros((len(FAMILIES), BUCKETS, 3)),
        "measure_mean": mean,
        "measure_scale": np.where(scale > 0, scale, 1.0),
        "measure_weights": np.zeros((N_PAIRED, 3)),
        "bias": np.zeros((2, 3)),
    }
    wording, frame = _inputs(examples, rows, fitted)
    labels = examples.labels[rows]
    weights, fitted["bias"][0] = _support_vectors(wording, labels, seed)
    fitted["gram_weights"][0], fitted["gram_weights"][1] = np.split(weights, 2)
    weights, fitted["bias"][1] = _support_vectors(frame, labels, seed)
    fitted["gram_weights"][2] = weights[:BUCKETS]
    fitted["measure_weights"] = weights[BUCKETS:]
    return fitted


def _idf(counts: Any) -> Floats:
    met = np.bincount(counts.indices, minlength=BUCKETS)
    return np.where(met > 0, np.log((1 + counts.shape[0]) / (1 + met)) + 1.0, 0.0)


def _inputs(examples: _Examples, rows: Labels, fitted: dict[str, Any]) -> Any:
    """Give the inputs of the wording and of the frame model as sparse matrices."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.preprocessing import normalize

    word, char, frame = (
        normalize(counts[rows].multiply(idf).tocsr())
        for counts, idf in zip(examples.counts, fitted["idf"], strict=True)
    )
    surface = standardise(examples.surface[rows], fitted["measure_mean"], fitted["measure_scale"])
    return hstack([word, char], "csr"), hstack([frame, csr_matrix(surface)], "csr")


def _support_vectors(inputs: Any, labels: Labels, seed: int) -> tuple[Floats, Floats]:
    from sklearn.svm import LinearSVC

    # Buckets that training never met would only slow the solver down.
    met = np.unique(inputs.indices)
    machine: Any = LinearSVC(C=SVM_C, random_state=seed).fit(inputs[:, met], labels)
    weights = np.zeros((inputs.shape[1], 3))
    weights[met] = machine.coef_.T
    return weights, machine.intercept_


def _scores(fitted: dict[str, NDArray[Any]], examples: _Examples, rows: Labels) -> Floats:
    wording, frame = _inputs(examples, rows, fitted)
    grams = fitted["gram_weights"]
    from_wording = wording @ np.concatenate([grams[0], grams[1]]) + fitted["bias"][0]
    from_frame = frame @ np.concatenate([grams[2], fitted["measure_weights"]]) + fitted["bias"][1]
    return np.hstack([from_wording, from_frame])


def _calibrate(scores: Floats, labels: Labels) -> Floats:
    from sklearn.linear_model import LogisticRegression

    logistic: Any = LogisticRegression(max_iter=1000).fit(scores, labels)
    coefficients = np.vstack([logistic.coef_.T, logistic.intercept_])
    if coefficients.shape[1] == 1:
        # A softmax over (0, z) is the logistic function of z.
        coefficients = np.hstack([np.zeros_like(coefficients), coefficients])
    return coefficients


def ours(classifier: ComplexityClassifier) -> Predict:
    """Return the likeliest class of a classifier that the graph can use."""

    def predict(texts: list[str], classes: Classes) -> Labels:
        shares = [classifier.probabilities(text, classes) for text in texts]
        likeliest: Labels = np.array(shares).argmax(axis=1)
        return likeliest

    return predict
