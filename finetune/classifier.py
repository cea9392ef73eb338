"""Train, measure and write the embedded complexity classifier.

python -m lexloop.finetune.classifier --data DIR --out data/classifier
python -m lexloop.finetune.classifier --out data/classifier --evaluate FILE.csv
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lexloop.core.errors import LexloopError
from lexloop.finetune.classifier_data import Labelled, Text, folds, merged, near_duplicates, read
from lexloop.finetune.classifier_report import (
    TASKS,
    Row,
    baselines,
    calibration_error,
    ours,
    score,
    table_row,
)
from lexloop.finetune.classifier_training import train
from lexloop.nodes.classify.linear import LinearClassifier

BOTH: tuple[Text, ...] = ("noisy", "clean")
NOISY: tuple[Text, ...] = ("noisy",)
OURS = "lexloop"
STRONGEST = "SVM, word + char"
CROSS_FOLDS = 5


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: Command line without the program's name; ``sys.argv`` when None.

    Returns:
        The exit status: 0, or that of the error, which is printed on standard error.
    """
    options = _parser().parse_args(arguments)
    try:
        for line in _run(options):
            print(line, flush=True)
    except LexloopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lexloop.finetune.classifier",
        description="Train, measure and write the embedded complexity classifier.",
    )
    parser.add_argument("--data", type=Path, help="folder with train.csv and validation.csv")
    parser.add_argument("--out", type=Path, required=True, help="folder of the trained file")
    parser.add_argument(
        "--evaluate", type=Path, help="score the file in --out on this CSV instead of writing it"
    )
    parser.add_argument(
        "--cross-validate", action="store_true", help="also score on grouped folds of train.csv"
    )
    parser.add_argument("--seed", type=int, default=0)
    return parser


def _run(options: argparse.Namespace) -> Iterator[str]:
    data: Path | None = options.data
    training = None if data is None else read(data / "train.csv")
    if options.evaluate is not None:
        classifier, held_out = LinearClassifier.load(options.out), read(options.evaluate)
    elif data is None or training is None:
        _parser().error("give --data to train, or --evaluate to score a trained file")
    else:
        held_out = read(data / "validation.csv")
        written = train(training, BOTH, options.seed).save(options.out)
        yield f"wrote {written}, {written.stat().st_size:,} bytes\n"
        # What is measured is the file as stored, in half precision.
        classifier = LinearClassifier.load(options.out)
    yield from _report(classifier, training, held_out, options.seed)
    if training is not None and options.cross_validate:
        yield f"\nGrouped {CROSS_FOLDS}-fold cross-validation on the training rows:"
        yield from _table(_cross_validated(training, options.seed))


def _report(
    classifier: LinearClassifier, training: Labelled | None, held_out: Labelled, seed: int
) -> Iterator[str]:
    rows: list[Row] = []
    if training is not None:
        for kinds, note in ((BOTH, ""), (NOISY, " (noisy only)")):
            for name, predict in baselines(training, kinds, seed).items():
                if name == "random labels" and note:
                    continue
                rows += score(name + note, predict, held_out, seed)
        rows += score(f"{OURS} (noisy only)", ours(train(training, NOISY, seed)), held_out, seed)
    rows += score(OURS, ours(classifier), held_out, seed)
    yield f"{len(held_out.labels)} rows:"
    yield from _table(rows)
    yield ""
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


def _table(rows: list[Row]) -> Iterator[str]:
    """Lay the rows out as a Markdown table, one line for each classifier and task."""
    yield "| classifier | classes | text | P | R | F1 | 95 % interval of F1 |"
    yield "|---|---|---|---|---|---|---|"
    for row in sorted(rows, key=lambda row: -row.classes):
        yield (
            f"| {row.name} | {row.classes} | {row.text} | {row.precision:.3f} | {row.recall:.3f} "
            f"| {row.f1:.3f} | {row.low:.3f} - {row.high:.3f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
