"""Train the complexity classifier and measure it beside the paper's (HyPA-RAG, tables 1 and 8)."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lexloop.core.checksums import CARD, sha256_of, write_sums
from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.finetune.classifier_data import Labelled, Text, folds, merged, near_duplicates, read
from lexloop.finetune.classifier_report import (
    CLASS_COUNTS,
    TASKS,
    Predict,
    Row,
    baselines,
    calibration_error,
    ours,
    score,
    table_of,
    table_row,
)
from lexloop.finetune.classifier_training import train
from lexloop.nodes.classify.linear import FILE_NAME, LinearClassifier

BOTH: tuple[Text, ...] = ("noisy", "clean")
NOISY: tuple[Text, ...] = ("noisy",)
OURS = "lexloop"
STRONGEST = "SVM, word + char"
CROSS_FOLDS = 5
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Work:
    """What is trained, and on what it is measured.

    Args:
        out: The folder of the trained file.
        data: A folder with ``train.csv`` and ``validation.csv``; None to train nothing.
        evaluate: A CSV file to score what ``out`` holds on; nothing is written then.
        cross_validate: Whether to score on grouped folds of the training rows, too.
        seed: Of folds, solvers and the bootstrap.
        base: The model to fine-tune as in the paper: ``minilm``, a folder or a hub id; None for
            none.
        zero_shot: A model of natural-language inference to measure; None for none.
    """

    out: Path
    data: Path | None = None
    evaluate: Path | None = None
    cross_validate: bool = False
    seed: int = 0
    base: str | None = None
    zero_shot: str | None = None


def run(work: Work, report: Report = lambda *_: None) -> Iterator[str]:
    """Train, write and measure; the lines of what there is to tell, as they come.

    Args:
        work: What to do.
        report: Told how many steps of a transformer's training are done.

    Raises:
        InputError: There is nothing to train on and nothing to score, or nowhere to write.
        CorpusError: A file of questions cannot be used, or has too few rows of a class.
        SettingsError: A model is not there, or is of another kind.
        DataError: What ``out`` holds is damaged.
        TrainingError: A transformer's training cannot go on.
    """
    data = work.data
    training = None if data is None else read(data / "train.csv")
    if work.evaluate is not None:
        held_out, tested = read(work.evaluate), work.evaluate
    elif data is not None and training is not None:
        held_out, tested = read(data / "validation.csv"), data / "validation.csv"
        written = save(train(training, BOTH, work.seed), work.out)
        yield f"wrote {written}, {written.stat().st_size:,} bytes"
    else:
        raise InputError(
            "There is nothing to train on and nothing to score.",
            "Give --data to train, or --evaluate to score a trained file.",
        )
    others = list(_others(work, training, report))
    # what is measured is the file as stored, in half precision
    classifier = LinearClassifier.load(work.out)
    rows = [*_rows(classifier, training, held_out, work.seed)]
    for name, predict in others:
        rows += score(name, predict, held_out, work.seed)
    told = [f"{len(held_out.labels)} rows:", "", *table_of(rows), ""]
    told += _calibration(classifier, held_out)
    if training is not None and work.cross_validate:
        told += ["", f"Grouped {CROSS_FOLDS}-fold cross-validation on the training rows:", ""]
        told += table_of(_cross_validated(training, work.seed))
    yield ""
    yield from told
    if data is not None and work.evaluate is None:
        write_card(work, [data / "train.csv", tested], rows)


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


def write_card(work: Work, files: Sequence[Path], rows: Sequence[Row]) -> None:
    """Say beside what was trained on what and how well it does.

    Args:
        work: What was done.
        files: What was read.
        rows: The figures.

    Raises:
        InputError: It cannot be written.
    """
    figures = [asdict(row) for row in rows]
    card = {
        "model": "complexity classifier",
        "base": work.base or "",
        "data": [{"file": path.name, "sha256": sha256_of(path)} for path in files],
        "licence": "that of the data, none of whose text is in the weights",
        "command": "lexloop finetune classifier",
        "seed": work.seed,
        "figures": figures,
    }
    try:
        write_text(work.out / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise InputError(
            f"{work.out} cannot be written: {error}.", "Name another folder."
        ) from error


def _others(work: Work, training: Labelled | None, report: Report) -> Iterator[tuple[str, Predict]]:
    """The transformers, by what the table calls them."""
    if work.base is not None:
        from lexloop.finetune.classifier_transformer import Tuning, predicting, tuned

        if training is not None and work.evaluate is None:
            for classes in CLASS_COUNTS:
                tuning = Tuning(work.base, seed=work.seed)
                tuned(training, BOTH, classes, tuning, out=work.out, report=report)
        yield f"{Path(work.base).name}, fine-tuned", predicting(work.out)
    if work.zero_shot is not None:
        from lexloop.nodes.classify.transformers import ZeroShotClassifier

        found = ZeroShotClassifier(work.zero_shot)
        yield f"{Path(work.zero_shot).name}, zero-shot", ours(found)


def _rows(
    classifier: LinearClassifier, training: Labelled | None, held_out: Labelled, seed: int
) -> Iterator[Row]:
    if training is not None:
        for kinds, note in ((BOTH, ""), (NOISY, " (noisy only)")):
            for name, predict in baselines(training, kinds, seed).items():
                if name != "random labels" or not note:
                    yield from score(name + note, predict, held_out, seed)
        alone = ours(train(training, NOISY, seed))
        yield from score(f"{OURS} (noisy only)", alone, held_out, seed)
    yield from score(OURS, ours(classifier), held_out, seed)


def _calibration(classifier: LinearClassifier, held_out: Labelled) -> Iterator[str]:
    for classes, text in TASKS:
        shares = np.array([classifier.probabilities(t, classes) for t in held_out.texts(text)])
        error = calibration_error(shares, merged(held_out.labels, classes))
        yield f"expected calibration error, {classes} classes, {text}: {error:.3f}"


def _cross_validated(training: Labelled, seed: int) -> list[Row]:
    """Score ours and the strongest baseline on folds that no near-duplicates cross."""
    names = (STRONGEST, OURS)
    n = len(training.labels)
    predicted = {(name, *task): np.zeros(n, np.int64) for name in names for task in TASKS}
    for fold in folds(near_duplicates(training), CROSS_FOLDS, seed + 1):
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
