"""Train the complexity classifier and measure it beside the paper's (HyPA-RAG, tables 1 and 8)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import InputError
from lexloop.core.files import CARD, sha256_of, write_sums
from lexloop.core.jsonl import write_checked
from lexloop.documents.reading.workers import Progress, silent
from lexloop.nodes.classify import FILE_NAME, LinearClassifier
from lexloop_eval.agreement import FIGURES
from lexloop_eval.report.tables import markdown_table
from lexloop_eval.score import resolved
from lexloop_eval.statistics import Estimate, interval_of
from lexloop_train.classifier import (
    CLASS_COUNTS,
    Classes,
    LabelledQuestions,
    Labels,
    Predict,
    Text,
    grouped_folds,
    merged,
    near_duplicates,
    ours,
    read,
    train,
)
from lexloop_train.transformer import Tuning, predicting, tuned

Task = tuple[Classes, Text]
TASKS: tuple[Task, ...] = ((3, "noisy"), (3, "clean"), (2, "noisy"), (2, "clean"))
BOTH: tuple[Text, ...] = ("noisy", "clean")
NOISY: tuple[Text, ...] = ("noisy",)
_RESAMPLES = 2000
OURS, STRONGEST, RANDOM = "lexloop", "SVM, word + char", "random labels"
CROSS_FOLDS = 5


@dataclass(frozen=True)
class ClassifierScores:
    """One line of the table: macro scores in [0, 1] with the interval of F1.

    Attributes:
        text: Which validation text it was scored on.
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


def train_and_measure(
    out: Path,
    data: Path | None = None,
    evaluate: Path | None = None,
    *,
    cross_validate: bool = False,
    seed: int = 0,
    base: str | None = None,
    zero_shot: str | None = None,
    report: Progress = silent,
) -> Iterator[str]:
    """Train, write and measure, and yield the lines of the report as they come.

    Args:
        out: The folder of the trained file.
        data: A folder with ``train.csv`` and ``validation.csv``, or None to train nothing.
        evaluate: A CSV file to score the classifier in ``out`` on. Nothing is written then.
        cross_validate: Whether to score on grouped folds of the training rows as well.
        seed: The seed of folds and solvers.
        base: The model to fine-tune as in the paper: ``minilm``, a folder or a hub id, or None.
        zero_shot: A model of natural-language inference to measure, or None.
        report: Called with the number of finished steps of a transformer's training.

    Raises:
        InputError: There is nothing to train on and nothing to score, or nowhere to write.
        CorpusError: A file of questions cannot be used, or has too few rows of a class.
        SettingsError: A model is missing, or of another kind.
        DataError: The classifier in ``out`` is damaged.
        TrainingError: A transformer's training cannot continue.
    """
    training = None if data is None else read(data / "train.csv")
    if evaluate is not None:
        held_out = read(evaluate)
    elif data is not None and training is not None:
        held_out = read(data / "validation.csv")
        file = save(train(training, BOTH, seed), out)
        yield f"wrote {file}, {file.stat().st_size:,} bytes"
    else:
        raise InputError(
            "There is nothing to train on and nothing to score.",
            "Give --data to train, or --evaluate to score a trained file.",
        )
    transformers: dict[str, Predict] = {}
    if base is not None:
        if training is not None and evaluate is None:
            for classes in CLASS_COUNTS:
                tuned(training, BOTH, classes, Tuning(base, seed=seed), out=out, report=report)
        transformers[f"{Path(base).name}, fine-tuned"] = predicting(out)
    if zero_shot is not None:
        from lexloop.nodes.classify import ZeroShotClassifier

        transformers[f"{Path(zero_shot).name}, zero-shot"] = ours(ZeroShotClassifier(zero_shot))
    # the measured file is the stored one, in half precision
    classifier = LinearClassifier.load(out)
    measured = {**_rivals(training, seed), OURS: ours(classifier), **transformers}
    rows, lines = _figures(classifier, measured, held_out)
    if training is not None and cross_validate:
        lines += ["", f"Grouped {CROSS_FOLDS}-fold cross-validation on the training rows:", ""]
        lines += table_of(_cross_validated(training, seed))
    yield ""
    yield from lines
    if data is not None and evaluate is None:
        write_card(out, [data / "train.csv", data / "validation.csv"], rows, seed, base or "")


def _figures(
    classifier: LinearClassifier,
    measured: Mapping[str, Predict],
    held_out: LabelledQuestions,
) -> tuple[list[ClassifierScores], list[str]]:
    """Return the scores of everything measured, and the lines that tell them."""
    rows = [
        scored for name, predict in measured.items() for scored in score(name, predict, held_out)
    ]
    lines = [f"{len(held_out.labels)} rows:", "", *table_of(rows), ""]
    for classes, text in TASKS:
        shares = np.array([classifier.probabilities(t, classes) for t in held_out.texts(text)])
        error = calibration_error(shares, merged(held_out.labels, classes))
        lines.append(f"expected calibration error, {classes} classes, {text}: {error:.3f}")
    return rows, lines


def save(classifier: LinearClassifier, out: Path) -> Path:
    """Write a classifier and its checksum into a folder, created if needed.

    Raises:
        InputError: It cannot be written.
    """
    try:
        file = classifier.save(out)
        write_sums(out, [FILE_NAME])
        return file
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another folder.") from error


def write_card(
    out: Path, files: Sequence[Path], rows: Sequence[ClassifierScores], seed: int, base: str = ""
) -> None:
    """Write a card that says what was trained on what, and how well it does.

    Raises:
        InputError: It cannot be written.
    """
    card = {
        "model": "complexity classifier",
        "base": base,
        "data": [{"file": path.name, "sha256": sha256_of(path)} for path in files],
        "licence": "that of the data, none of whose text is in the weights",
        "command": "lexloop finetune classifier",
        "seed": seed,
        "figures": [asdict(row) for row in rows],
    }
    write_checked(out / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")


def _rivals(training: LabelledQuestions | None, seed: int) -> dict[str, Predict]:
    """The baselines, learnt from both texts and from the noisy ones, and ours from the latter."""
    if training is None:
        return {}
    noisy = {
        f"{name} (noisy only)": predict
        for name, predict in baselines(training, NOISY, seed).items()
        if name != RANDOM
    }
    alone = {f"{OURS} (noisy only)": ours(train(training, NOISY, seed))}
    return {**baselines(training, BOTH, seed), **noisy, **alone}


def _cross_validated(training: LabelledQuestions, seed: int) -> list[ClassifierScores]:
    """Score ours and the strongest baseline on folds that no near-duplicates cross."""
    learners: dict[str, Callable[[LabelledQuestions], Predict]] = {
        STRONGEST: lambda rows: baselines(rows, BOTH, seed)[STRONGEST],
        OURS: lambda rows: ours(train(rows, BOTH, seed)),
    }
    groups = near_duplicates(training)
    return [
        table_row((name, *task), merged(training.labels, task[0]), labels)
        for name, learn in learners.items()
        for task, labels in held_out(training, learn, TASKS, seed, groups).items()
    ]


def held_out(
    rows: LabelledQuestions,
    learn: Callable[[LabelledQuestions], Predict],
    tasks: Sequence[Task],
    seed: int,
    groups: Labels | None = None,
) -> dict[Task, Labels]:
    """Return for each task the class of each row by a model that saw none of its group, shape (n,).

    Groups are those of near-duplicates unless they are given.

    Raises:
        CorpusError: The rows do not have every class in enough different groups.
    """
    predicted = {task: np.zeros(len(rows.labels), np.int64) for task in tasks}
    together = near_duplicates(rows) if groups is None else groups
    for fold in grouped_folds(together, CROSS_FOLDS, seed + 1):
        predict = learn(rows.rows(np.setdiff1d(np.arange(len(rows.labels)), fold)))
        for (classes, text), labels in predicted.items():
            labels[fold] = predict(rows.rows(fold).texts(text), classes)
    return predicted


def score(name: str, predict: Predict, rows: LabelledQuestions) -> list[ClassifierScores]:
    """Return the scores of one classifier, one for each of ``TASKS``."""
    return [
        table_row((name, n, text), merged(rows.labels, n), predict(rows.texts(text), n))
        for n, text in TASKS
    ]


def table_row(of: tuple[str, Classes, Text], labels: Labels, predicted: Labels) -> ClassifierScores:
    """Return the scores of given predictions.

    ``of`` are the name of the classifier, the class count and the kind of text.
    """
    pairs = list(zip(predicted.tolist(), labels.tolist(), strict=True))
    names = ("agreement", "precision", "recall", "f1")
    accuracy, precision, recall, f1 = resolved(FIGURES[name](pairs) for name in names)
    interval = interval_of(FIGURES["f1"], pairs, resamples=_RESAMPLES)
    low, high = (interval.low, interval.high) if isinstance(interval, Estimate) else (f1, f1)
    return ClassifierScores(*of, accuracy, precision, recall, f1, low, high)


def table_of(rows: Sequence[ClassifierScores]) -> list[str]:
    """Return the lines of a Markdown table, one for each classifier and task."""
    lines: list[list[object]] = []
    for row in sorted(rows, key=lambda row: -row.classes):
        figures = (row.accuracy, row.precision, row.recall, row.f1)
        shown = [*(f"{figure:.3f}" for figure in figures), f"{row.low:.3f} - {row.high:.3f}"]
        lines.append([row.name, row.classes, row.text, *shown])
    names = ("classifier", "classes", "text", "accuracy", "P", "R", "F1", "95 % interval of F1")
    return markdown_table(names, lines)


def calibration_error(probabilities: Any, labels: Labels) -> float:
    """Return the expected calibration error of the likeliest class over ten bins, in [0, 1]."""
    highest, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == labels
    bins = np.minimum((highest * 10).astype(int), 9)
    return float(np.abs(np.bincount(bins, weights=highest - right)).sum() / len(labels))


def baselines(train: LabelledQuestions, kinds: tuple[Text, ...], seed: int) -> dict[str, Predict]:
    """Fit the baselines of HyPA-RAG (section 4) and the word + char SVM.

    Returns:
        A predictor for each baseline, by its name in the table.
    """
    from sklearn import clone
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union
    from sklearn.svm import LinearSVC

    texts = [text for kind in kinds for text in train.texts(kind)]
    labels = np.tile(train.labels, len(kinds))
    machine = LinearSVC(random_state=seed)
    word_and_char = make_union(
        TfidfVectorizer(ngram_range=(1, 2)),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5)),
    )
    pipelines: dict[str, Any] = {
        "LR, TF-IDF": make_pipeline(
            TfidfVectorizer(), LogisticRegression(random_state=5, max_iter=1000)
        ),
        "SVM, TF-IDF": make_pipeline(TfidfVectorizer(), machine),
        STRONGEST: make_pipeline(word_and_char, machine),
    }

    def fitted(pipeline: Any) -> Predict:
        fresh: dict[Classes, Any] = {n: clone(pipeline) for n in CLASS_COUNTS}
        models = {
            number: model.fit(texts, merged(labels, number)) for number, model in fresh.items()
        }
        return lambda questions, classes: np.asarray(models[classes].predict(questions))

    def drawn(questions: list[str], classes: Classes) -> Labels:
        return np.random.default_rng(seed).integers(0, classes, len(questions))

    return {RANDOM: drawn, **{name: fitted(pipeline) for name, pipeline in pipelines.items()}}
