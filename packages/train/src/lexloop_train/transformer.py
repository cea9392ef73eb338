"""The classifier as a transformer that is fine-tuned as in HyPA-RAG, section 4."""

import hashlib
import json
import shutil
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
)
from lexloop.core.files import CARD, check_sums, write_text
from lexloop.documents.reading.workers import Progress, silent
from lexloop.models.minilm import genuine_folder
from lexloop.nodes.classify import TransformerClassifier
from lexloop_train.checkpoints import GOES_ON, STEADY, alone, quietly, settle, train_on
from lexloop_train.classifier import (
    CLASS_COUNTS,
    Classes,
    LabelledQuestions,
    Predict,
    Text,
    merged,
    ours,
)

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
    report: Progress = silent,
) -> Path:
    """Return the folder of a model fine-tuned on some rows, reusing one of the same rows.

    A checkpoint is kept after every epoch until the last, and the same call continues from it.

    Returns:
        A folder that ``TransformerClassifier`` reads: safetensors, ``card.json`` and
        the SHA-256 of every file.

    Raises:
        CorpusError: All rows have the same class.
        SettingsError: The base model is missing, not safetensors, or of another architecture.
        TrainingError: The loss is not a number, or the memory of the GPU is used up.
        InputError: The folder cannot be written, or the extra is not installed.
    """
    texts = [text for kind in kinds for text in rows.texts(kind)]
    labels = np.tile(merged(rows.labels, classes), len(kinds)).tolist()
    if len(set(labels)) < 2:
        raise CorpusError(
            f"All {len(labels)} rows are of one class.", "Give rows of at least two classes."
        )
    identity = {"classes": classes, "rows": len(texts), **asdict(tuning)}
    digest = hashlib.sha256(json.dumps([identity, texts, labels]).encode()).hexdigest()
    folder, record = out / f"transformer-{classes}", {**identity, "sha256": digest}
    if _is_made(folder, record):
        return folder
    work = out / f".{folder.name}-{digest[:12]}"
    try:
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
    report: Progress,
) -> None:
    """Train into ``work/done``, from the last checkpoint in ``work`` if there is one."""
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
        for part in (model, tokenizer):
            part.save_pretrained(work / "done")


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
            raise ValueError("its tokenizer does not pad texts, like those of generative models.")
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise SettingsError(f"The base model {name} cannot be loaded: {error}", _HINT) from error
    return tokenizer, model
