"""Baselines of the complexity classifier and the table that compares them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lexloop.finetune.classifier_data import Labelled, Text, merged
from lexloop.nodes.context import ComplexityClassifier

Labels = NDArray[np.int64]
Classes = Literal[2, 3]
Predict = Callable[[list[str], Classes], Labels]
CLASS_COUNTS: tuple[Classes, ...] = (3, 2)
TASKS: tuple[tuple[Classes, Text], ...] = ((3, "noisy"), (3, "clean"), (2, "noisy"), (2, "clean"))
RESAMPLES = 2000


@dataclass(frozen=True)
class Row:
    """One line of the table: macro scores in [0, 1] with the interval of F1.

    Attributes:
        name: The classifier.
        classes: 2 or 3.
        text: Which validation text it was scored on.
        accuracy: The share of right classes.
        precision: Macro precision.
        recall: Macro recall.
        f1: Macro F1.
        low: Lower end of the 95 % bootstrap interval of F1.
        high: Upper end.
    """

    name: str
    classes: Classes
    text: Text
    accuracy: float
    precision: float
    recall: float
    f1: float
    low: float
    high: float


def macro(labels: Labels, predicted: Labels, classes: Classes) -> tuple[float, float, float]:
    """Average precision, recall and F1 over the classes, each weighing the same.

    Args:
        labels: True classes, shape (n,).
        predicted: Predicted classes, shape (n,).
        classes: How many classes there are; one neither true nor predicted is left out, as
            scikit-learn does.

    Returns:
        Macro precision, recall and F1, each in [0, 1]; 0 without any rows.
    """
    table = np.bincount(labels * classes + predicted, minlength=classes**2)
    table = table.reshape(classes, classes)
    hits, true, given = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    precision = hits / np.maximum(given, 1)
    recall = hits / np.maximum(true, 1)
    f1 = 2 * hits / np.maximum(true + given, 1)
    occurring = max(np.count_nonzero(true + given), 1)
    return (
        float(precision.sum() / occurring),
        float(recall.sum() / occurring),
        float(f1.sum() / occurring),
    )


def score(name: str, predict: Predict, rows: Labelled, seed: int) -> list[Row]:
    """Score one classifier on both texts and both tasks.

    Args:
        name: What the table calls it.
        predict: Texts and class count to classes.
        rows: What to score on.
        seed: Of the bootstrap, which draws rows 2,000 times.

    Returns:
        One row for each of ``TASKS``.
    """
    found = []
    for classes, text in TASKS:
        predicted = predict(rows.texts(text), classes)
        labels = merged(rows.labels, classes)
        found.append(table_row((name, classes, text), labels, predicted, seed))
    return found


def table_row(of: tuple[str, Classes, Text], labels: Labels, predicted: Labels, seed: int) -> Row:
    """Score given predictions.

    Args:
        of: Name of the classifier, class count and kind of text.
        labels: True classes, shape (n,).
        predicted: Predicted classes, shape (n,).
        seed: Of the bootstrap.

    Returns:
        One row of the table.
    """
    name, classes, text = of
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(labels), size=(RESAMPLES, len(labels)))
    resampled = [macro(labels[draw], predicted[draw], classes)[2] for draw in drawn]
    low, high = np.quantile(resampled, [0.025, 0.975])
    precision, recall, f1 = macro(labels, predicted, classes)
    accuracy = float(np.mean(labels == predicted))
    return Row(name, classes, text, accuracy, precision, recall, f1, float(low), float(high))


def table_of(rows: Sequence[Row]) -> Iterator[str]:
    """Lay the rows out as a Markdown table, one line for each classifier and task."""
    yield "| classifier | classes | text | accuracy | P | R | F1 | 95 % interval of F1 |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: -row.classes):
        figures = (row.accuracy, row.precision, row.recall, row.f1)
        shown = " | ".join(f"{figure:.3f}" for figure in figures)
        told = f"| {row.name} | {row.classes} | {row.text} | {shown} "
        yield f"{told}| {row.low:.3f} - {row.high:.3f} |"


def calibration_error(probabilities: NDArray[np.float64], labels: Labels, bins: int = 10) -> float:
    """Measure how far the top probability is from the share of correct answers.

    Args:
        probabilities: Shape (n, classes).
        labels: Shape (n,).
        bins: Equally wide bins over [0, 1].

    Returns:
        Expected calibration error in [0, 1]: the gap of each bin, weighted by its rows.
    """
    top, hit = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    place = np.minimum((top * bins).astype(int), bins - 1)
    gaps = [
        abs(top[place == b].mean() - hit[place == b].mean()) * (place == b).mean()
        for b in np.unique(place)
    ]
    return float(sum(gaps))


def ours(classifier: ComplexityClassifier) -> Predict:
    """Take the likeliest class of a classifier that the graph can use."""

    def predict(texts: list[str], classes: Classes) -> Labels:
        shares = [classifier.probabilities(text, classes) for text in texts]
        likeliest: Labels = np.array(shares).argmax(axis=1)
        return likeliest

    return predict


def baselines(train: Labelled, kinds: tuple[Text, ...], seed: int) -> dict[str, Predict]:
    """Fit the baselines of HyPA-RAG (section 4) and the word + char SVM.

    Args:
        train: Labelled questions.
        kinds: Which texts of a row to learn from.
        seed: Of the random labels and of the SVMs; LR has random state 5 as in the paper.

    Returns:
        A predictor for each baseline, by its name in the table.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_union
    from sklearn.svm import LinearSVC

    def word_and_char() -> Any:
        return make_union(
            TfidfVectorizer(ngram_range=(1, 2)),
            TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5)),
        )

    logistic = LogisticRegression(random_state=5, max_iter=1000)
    machine = LinearSVC(random_state=seed)
    texts = [text for kind in kinds for text in train.texts(kind)]
    labels = np.tile(train.labels, len(kinds))
    return {
        "random labels": _random_labels(seed),
        "LR, TF-IDF": _pipeline(TfidfVectorizer(), logistic, texts, labels),
        "SVM, TF-IDF": _pipeline(TfidfVectorizer(), machine, texts, labels),
        "SVM, word + char": _pipeline(word_and_char(), machine, texts, labels),
    }


def _random_labels(seed: int) -> Predict:
    def predict(texts: list[str], classes: Classes) -> Labels:
        drawn: Labels = np.random.default_rng(seed).integers(0, classes, len(texts))
        return drawn

    return predict


def _pipeline(vectors: Any, model: Any, texts: list[str], labels: Labels) -> Predict:
    from sklearn.base import clone

    inputs = vectors.fit_transform(texts)
    fitted = {}
    for classes in CLASS_COUNTS:
        copy: Any = clone(model)
        fitted[classes] = copy.fit(inputs, merged(labels, classes))

    def predict(questions: list[str], classes: Classes) -> Labels:
        predicted: Labels = fitted[classes].predict(vectors.transform(questions))
        return predicted

    return predict
