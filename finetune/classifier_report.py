"""Train the complexity classifier and measure it beside the paper's (HyPA-RAG, tables 1 and 8)."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import (
    CorpusError,
    DataError,
    InputError,
    SettingsError,
    TrainingError,
    need_extra,
)
from lexloop.core.files import CARD, check_sums, sha256_of, write_sums, write_text
from lexloop.finetune.checkpoints import (
    GOES_ON,
    STEADY,
    Report,
    alone,
    quietly,
    settle,
    train_on,
)
from lexloop.finetune.classifier import (
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
from lexloop.finetune.logistic import calibration
from lexloop.models.minilm import genuine_folder
from lexloop.nodes.classify import FILE_NAME, LinearClassifier, TransformerClassifier

MINILM = "minilm"
_LONGEST = 256
_HINT = (
    "Name a folder or hub id of a model in safetensors form, or minilm, which comes with Lexloop."
)


@dataclass(frozen=True)
class Tuning:
    """The settings of fine-tuning a transformer.

    Args:
        base: ``minilm``, a folder, or a hub id that transformers can reach.
        rate: Learning rate, falling linearly to 0.
    """

    base: str = MINILM
    epochs: int = 10
    batch: int = 32
    rate: float = 2e-5
    decay: float = 0.01
    seed: int = 0


def tuned(
    rows: LabelledQuestions,
    kinds: tuple[Text, ...],
    classes: Classes,
    tuning: Tuning,
    *,
    out: Path,
    report: Report = lambda *_: None,
) -> Path:
    """Return the folder of a model fine-tuned on some rows; one of the same rows serves again.

    A checkpoint is kept after every epoch until the last, and the same call goes on from it.

    Returns:
        A folder that ``TransformerClassifier`` reads: safetensors, ``card.json`` and
        the SHA-256 of every file.

    Raises:
        CorpusError: The rows are all of one class.
        SettingsError: The base model is not there, no safetensors, or of another architecture.
        TrainingError: The loss is no number, or the memory of the GPU is used up.
        InputError: The folder cannot be written, or the extra is not installed.
    """
    need_extra("finetune", "accelerate")
    texts = [text for kind in kinds for text in rows.texts(kind)]
    labels = np.tile(merged(rows.labels, classes), len(kinds)).tolist()
    if len(set(labels)) < 2:
        raise CorpusError(
            f"All {len(labels)} rows are of one class.", "Give rows of at least two classes."
        )
    said = {"classes": classes, "rows": len(texts), **asdict(tuning)}
    digest = hashlib.sha256(json.dumps([said, texts, labels]).encode()).hexdigest()
    folder, record = out / f"transformer-{classes}", {**said, "sha256": digest}
    if _is_made(folder, record):
        return folder
    work = out / f".{folder.name}-{digest[:12]}"
    try:
        work.mkdir(parents=True, exist_ok=True)
        with alone(work):
            _fit(texts, labels, classes, tuning, work=work, report=report)
            write_text(work / "done" / CARD, json.dumps(record, indent=2) + "\n")
            settle(work / "done", folder)
            shutil.rmtree(work)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error}.", "Name another folder.") from error
    return folder


def predicting(folder: Path) -> Predict:
    """Return the likeliest class of fine-tuned models.

    Args:
        folder: Holds ``transformer-2`` and ``transformer-3``.

    Raises:
        SettingsError: A model cannot be loaded.
        DataError: Its files are not those that were trained.
    """
    models = {
        n: ours(TransformerClassifier(str(folder / f"transformer-{n}"))) for n in CLASS_COUNTS
    }
    return lambda texts, classes: models[classes](texts, classes)


def _is_made(folder: Path, record: dict[str, Any]) -> bool:
    try:
        check_sums(folder)
        return bool(json.loads((folder / CARD).read_text("utf-8")) == record)
    except (OSError, ValueError, DataError):
        return False


def _fit(
    texts: list[str],
    labels: list[int],
    classes: int,
    tuning: Tuning,
    *,
    work: Path,
    report: Report,
) -> None:
    """Train, from the last checkpoint in ``work`` where there is one, into ``work/done``."""
    import torch
    from transformers import (
        DataCollatorWithPadding,
        Trainer,
        TrainingArguments,
        set_seed,
    )

    set_seed(tuning.seed)  # the head's first weights
    tokenizer, model = _base(tuning.base, classes)
    encoded = tokenizer(texts, truncation=True, max_length=_LONGEST)["input_ids"]
    pairs = zip(encoded, labels, strict=True)
    rows: Any = [{"input_ids": ids, "labels": label} for ids, label in pairs]
    arguments = TrainingArguments(
        output_dir=str(work),
        num_train_epochs=tuning.epochs,
        per_device_train_batch_size=tuning.batch,
        learning_rate=tuning.rate,
        weight_decay=tuning.decay,
        seed=tuning.seed,
        save_strategy="epoch",
        use_cpu=not torch.cuda.is_available(),
        dataloader_pin_memory=torch.cuda.is_available(),
        **STEADY,
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=rows,
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    try:
        train_on(trainer, work, report=report)
    except torch.OutOfMemoryError as error:
        raise TrainingError(
            "The memory of the GPU is used up.", f"{GOES_ON}; end what else uses the GPU."
        ) from error
    with quietly():
        model.save_pretrained(work / "done")
        tokenizer.save_pretrained(work / "done")


def _base(name: str, classes: int) -> tuple[Any, Any]:
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place = str(genuine_folder()) if name == MINILM else name
    try:
        with quietly():  # that the head is new goes without saying
            tokenizer: Any = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
            model: Any = AutoModelForSequenceClassification.from_pretrained(
                place, num_labels=classes, trust_remote_code=False, use_safetensors=True
            )
        if tokenizer.pad_token_id is None:
            raise ValueError("its tokenizer pads no texts, as those of models that write do not.")
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise SettingsError(f"The base model {name} cannot be loaded: {error}", _HINT) from error
    return tokenizer, model


TASKS: tuple[tuple[Classes, Text], ...] = ((3, "noisy"), (3, "clean"), (2, "noisy"), (2, "clean"))
RESAMPLES = 2000
BOTH: tuple[Text, ...] = ("noisy", "clean")
NOISY: tuple[Text, ...] = ("noisy",)
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
    report: Report = lambda *_: None,
) -> Iterator[str]:
    """Train, write and measure, and yield the lines of what there is to tell, as they come.

    Args:
        out: The folder of the trained file.
        data: A folder with ``train.csv`` and ``validation.csv``; None to train nothing.
        evaluate: A CSV file to score what ``out`` holds on; nothing is written then.
        cross_validate: Whether to score on grouped folds of the training rows, too.
        seed: Of folds, solvers and the bootstrap.
        base: The model to fine-tune as in the paper: ``minilm``, a folder or a hub id; None for
            none.
        zero_shot: A model of natural-language inference to measure; None for none.
        report: Told how many steps of a transformer's training are done.

    Raises:
        InputError: There is nothing to train on and nothing to score, or nowhere to write.
        CorpusError: A file of questions cannot be used, or has too few rows of a class.
        SettingsError: A model is not there, or is of another kind.
        DataError: What ``out`` holds is damaged.
        TrainingError: A transformer's training cannot go on.
    """
    training = None if data is None else read(data / "train.csv")
    if evaluate is not None:
        held_out = read(evaluate)
    elif data is not None and training is not None:
        held_out = read(data / "validation.csv")
        written = save(train(training, BOTH, seed), out)
        yield f"wrote {written}, {written.stat().st_size:,} bytes"
    else:
        raise InputError(
            "There is nothing to train on and nothing to score.",
            "Give --data to train, or --evaluate to score a trained file.",
        )
    others: dict[str, Predict] = {}
    if base is not None:
        if training is not None and evaluate is None:
            for classes in CLASS_COUNTS:
                tuned(training, BOTH, classes, Tuning(base, seed=seed), out=out, report=report)
        others[f"{Path(base).name}, fine-tuned"] = predicting(out)
    if zero_shot is not None:
        from lexloop.nodes.classify import ZeroShotClassifier

        others[f"{Path(zero_shot).name}, zero-shot"] = ours(ZeroShotClassifier(zero_shot))
    # what is measured is the file as stored, in half precision
    classifier = LinearClassifier.load(out)
    measured = {**_rivals(training, seed), OURS: ours(classifier), **others}
    rows, told = _figures(classifier, measured, held_out, seed)
    if training is not None and cross_validate:
        told += ["", f"Grouped {CROSS_FOLDS}-fold cross-validation on the training rows:", ""]
        told += table_of(_cross_validated(training, seed))
    yield ""
    yield from told
    if data is not None and evaluate is None:
        write_card(out, [data / "train.csv", data / "validation.csv"], rows, seed, base or "")


def _figures(
    classifier: LinearClassifier,
    measured: Mapping[str, Predict],
    held_out: LabelledQuestions,
    seed: int,
) -> tuple[list[ClassifierScores], list[str]]:
    """Return the scores of everything measured, and the lines that tell them."""
    rows = [
        scored
        for name, predict in measured.items()
        for scored in score(name, predict, held_out, seed)
    ]
    told = [f"{len(held_out.labels)} rows:", "", *table_of(rows), ""]
    for classes, text in TASKS:
        shares = np.array([classifier.probabilities(t, classes) for t in held_out.texts(text)])
        error = calibration_error(shares, merged(held_out.labels, classes))
        told.append(f"expected calibration error, {classes} classes, {text}: {error:.3f}")
    return rows, told


def save(classifier: LinearClassifier, out: Path) -> Path:
    """Write a classifier and its checksum into a folder, which is made where there is none.

    Raises:
        InputError: It cannot be written.
    """
    try:
        written = classifier.save(out)
        write_sums(out, [FILE_NAME])
        return written
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another folder.") from error


def write_card(
    out: Path, files: Sequence[Path], rows: Sequence[ClassifierScores], seed: int, base: str = ""
) -> None:
    """Say beside what was trained on what and how well it does.

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
    try:
        write_text(out / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another folder.") from error


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
    names = (STRONGEST, OURS)
    n = len(training.labels)
    predicted = {(name, *task): np.zeros(n, np.int64) for name in names for task in TASKS}
    for fold in grouped_folds(near_duplicates(training), CROSS_FOLDS, seed + 1):
        kept = training.rows(np.setdiff1d(np.arange(n), fold))
        left = training.rows(fold)
        models = {
            STRONGEST: baselines(kept, BOTH, seed)[STRONGEST],
            OURS: ours(train(kept, BOTH, seed)),
        }
        for (name, classes, text), labels in predicted.items():
            labels[fold] = models[name](left.texts(text), classes)
    return [
        table_row(of, merged(training.labels, of[1]), labels, seed)
        for of, labels in predicted.items()
    ]


def macro(labels: Labels, predicted: Labels, classes: Classes) -> tuple[float, float, float]:
    """Return macro precision, recall and F1, each in [0, 1]; 0 without any rows.

    Args:
        labels: True classes, shape (n,).
        predicted: Predicted classes, shape (n,).
        classes: How many classes there are; one neither true nor predicted is left out, as
            scikit-learn does, whose own function takes a hundred times as long.
    """
    table = np.bincount(labels * classes + predicted, minlength=classes**2)
    table = table.reshape(classes, classes)
    hits, true, given = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    precision, recall = hits / np.maximum(given, 1), hits / np.maximum(true, 1)
    f1 = 2 * hits / np.maximum(true + given, 1)
    occurring = max(np.count_nonzero(true + given), 1)
    sums = (float(part.sum() / occurring) for part in (precision, recall, f1))
    return next(sums), next(sums), next(sums)


def score(
    name: str, predict: Predict, rows: LabelledQuestions, seed: int
) -> list[ClassifierScores]:
    """Return the scores of one classifier, one for each of ``TASKS``."""
    return [
        table_row((name, n, text), merged(rows.labels, n), predict(rows.texts(text), n), seed)
        for n, text in TASKS
    ]


def table_row(
    of: tuple[str, Classes, Text], labels: Labels, predicted: Labels, seed: int
) -> ClassifierScores:
    """Return the scores of given predictions.

    ``of`` are the name of the classifier, the class count and the kind of text; the interval is a
    bootstrap of 2,000 draws.
    """
    name, classes, text = of
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(labels), size=(RESAMPLES, len(labels)))
    resampled = [macro(labels[draw], predicted[draw], classes)[2] for draw in drawn]
    interval = map(float, np.quantile(resampled, [0.025, 0.975]))
    accuracy = float(np.mean(labels == predicted))
    figures = macro(labels, predicted, classes)
    return ClassifierScores(name, classes, text, accuracy, *figures, *interval)


def table_of(rows: Sequence[ClassifierScores]) -> Iterator[str]:
    """Yield the lines of a Markdown table, one for each classifier and task."""
    yield "| classifier | classes | text | accuracy | P | R | F1 | 95 % interval of F1 |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: -row.classes):
        figures = (row.accuracy, row.precision, row.recall, row.f1)
        shown = " | ".join(f"{figure:.3f}" for figure in figures)
        told = f"| {row.name} | {row.classes} | {row.text} | {shown} "
        yield f"{told}| {row.low:.3f} - {row.high:.3f} |"


def calibration_error(probabilities: Any, labels: Labels) -> float:
    """Return the expected calibration error of the likeliest class, in [0, 1]."""
    return calibration(probabilities.max(axis=1), probabilities.argmax(axis=1) == labels)[0]


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
        models = {n: one.fit(texts, merged(labels, n)) for n, one in fresh.items()}
        return lambda questions, classes: np.asarray(models[classes].predict(questions))

    def drawn(questions: list[str], classes: Classes) -> Labels:
        return np.random.default_rng(seed).integers(0, classes, len(questions))

    return {RANDOM: drawn, **{name: fitted(pipeline) for name, pipeline in pipelines.items()}}
