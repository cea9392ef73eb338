"""Train a small BERT on questions and provisions, and write it as a folder that settings name."""

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError, TrainingError, need_extra
from lexloop.core.files import CARD, replacing, sha256_of, write_text
from lexloop.finetune.checkpoints import STEADY, Say, alone, quietly, train_on
from lexloop.finetune.encoder_graph import export, exported, layers_of
from lexloop.finetune.late import PROJECTION, EmbedderRecipe, Trainee, batches
from lexloop.finetune.pairs import CLICKED, TrainingPair
from lexloop.finetune.retrieval_figures import figures_drawn, retrieval_figures
from lexloop.models.embedding import Vectors
from lexloop.models.minilm import MODEL, TOKENIZER, Card, genuine_folder, read_card

COSINE, LATE = "cosine, all MRR@10", "late, document hit@1"
"""The figures that training is stopped by: of sentence vectors alone, and of both."""
_SCALE = 20.0
_AT_ONCE = 16


def contrast(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    base: Path,
    state: Path,
    recipe: EmbedderRecipe,
    *,
    say: Say,
) -> dict[str, Any]:
    """Train by sentence-transformers, and return the encoder's best weights by their names.

    Each question's text is told from those of the others of its batch and from what was mined for
    them, the cross-entropy of 20 times the cosine: LQ-RAG's multiple negatives ranking. Over the
    titles and the bodies of clicked documents it is the InfoNCE of Sultania et al., appendix A.
    ``cached_mnrl`` takes the same step for a large batch a few pairs at a time.

    The recipe's runs, headings and projection play no part. Checkpoints are kept in ``state``; the
    same call goes on from the last, and stops where ``kept`` is found no better.

    Raises:
        InputError: The extra is not installed.
        TrainingError: The loss or a weight is no number.
    """
    need_extra("finetune", "accelerate", "datasets")
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import BatchSamplers
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )

    with quietly():
        model = SentenceTransformer(str(base), device="cpu", model_kwargs={"use_safetensors": True})
    model.max_seq_length = recipe.text_tokens
    model.model_card_data.widget = [{}]  # else it looks for examples, for a card that nobody reads
    loss: Any = MultipleNegativesRankingLoss(model, scale=_SCALE)
    if recipe.loss == "cached_mnrl":
        loss = CachedMultipleNegativesRankingLoss(model, scale=_SCALE, mini_batch_size=_AT_ONCE)
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            per_device_train_batch_size=recipe.batch,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            learning_rate=recipe.rate,
            warmup_steps=0.1,
            **_settings(recipe, state, COSINE),
        ),
        train_dataset=_columns(training),
        loss=loss,
        evaluator=_evaluator(kept),
    )
    return _best(trainer, recipe, state, COSINE, say)


def late(
    trainee: Trainee,
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    state: Path,
    say: Say,
) -> dict[str, Any]:
    """Train sentence and token vectors at once, and return the best weights by their names.

    Checkpoints and early stops are as with ``contrast``.

    Raises:
        InputError: The extra is not installed, or there are too few pairs for a batch.
        TrainingError: The loss or a weight is no number.
    """
    need_extra("finetune", "accelerate")
    from transformers import Trainer, TrainingArguments

    class Late(Trainer):
        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            found = {f"eval_{LATE}": retrieval_figures(kept, trainee.vectors)[LATE]}
            self.log(found)
            self.control = self.callback_handler.on_evaluate(
                self.args, self.state, self.control, found
            )
            return found

    recipe = trainee.recipe
    rows: Any = [*enumerate(islice(batches(training, recipe), recipe.steps))]
    trainer = Late(
        model=trainee,
        args=TrainingArguments(
            per_device_train_batch_size=1,  # a row is a batch
            train_sampling_strategy="sequential",
            remove_unused_columns=False,
            max_grad_norm=0.0,  # the optimiser's own matter
            **_settings(recipe, state, LATE),
        ),
        train_dataset=rows,
        eval_dataset=rows[:1],  # it asks for one, and evaluates without it
        data_collator=trainee.read,
        optimizers=trainee.optimisers(),
    )
    best = _best(trainer, recipe, state, LATE, say)
    trainee.load_state_dict(best)
    return trainee.weights()


def _settings(recipe: EmbedderRecipe, state: Path, figure: str) -> dict[str, Any]:
    every = min(recipe.every, recipe.steps)
    return {
        "output_dir": str(state),
        "max_steps": recipe.steps,
        "seed": recipe.seed,
        "eval_strategy": "steps",
        "eval_steps": every,
        "save_steps": every,
        "load_best_model_at_end": True,
        "metric_for_best_model": figure,
        "use_cpu": True,
        **STEADY,
    }


def _best(
    trainer: Any, recipe: EmbedderRecipe, state: Path, figure: str, say: Say
) -> dict[str, Any]:
    """Train until it is over or no better, and return the weights that were found best."""
    from safetensors.torch import load_file

    train_on(trainer, state, say, figure=f"eval_{figure}", named=figure, patience=recipe.patience)
    if trainer.state.global_step < recipe.steps:
        say(f"stops: no better for {recipe.patience} times")
    best: dict[str, Any] = load_file(Path(trainer.state.best_model_checkpoint) / _WEIGHTS)
    return best


def _columns(training: Sequence[TrainingPair]) -> Any:
    """The rows by kind, of which a batch holds one: mined negative or none, title or body."""
    from datasets import Dataset

    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for pair in training:
        part = pair.source if pair.source in CLICKED else "rows"
        row = {"question": pair.question, "text": pair.text}
        mined = {"negative": pair.negatives[0]} if pair.negatives else {}
        rows[f"{part}, mined" if mined else part].append(row | mined)
    return {kind: Dataset.from_list(found) for kind, found in rows.items()}


def _evaluator(kept: Sequence[TrainingPair]) -> Any:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class Kept(BaseEvaluator):
        def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
            return {COSINE: retrieval_figures(kept, partial(_vectors, model))[COSINE]}

    evaluator: Any = Kept
    return evaluator()


def _vectors(model: Any, texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
    """Sentence vectors, each of which stands for the vectors of its tokens, too."""
    longest, model.max_seq_length = model.max_seq_length, most
    vectors: Vectors = model.encode([*texts], normalize_embeddings=True, show_progress_bar=False)
    model.max_seq_length = longest
    return vectors, [*vectors[:, None]]


PLOT = "figures.svg"
_BEST, _ENCODER, _STATE = "best.safetensors", "encoder.safetensors", ".training-"
_WEIGHTS, _CONFIG = "model.safetensors", "config.json"


@dataclass(frozen=True)
class Origin:
    """The origin of a model, for its card.

    Args:
        base: The folder of the weights before, or a folder that training wrote.
        data: Each set with its licence, rows and SHA-256.
    """

    base: Path
    model: str
    data: list[dict[str, str | int]]
    licence: str
    command: str


def train_embedder(
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    out: Path,
    recipe: EmbedderRecipe,
    origin: Origin,
    *,
    told: Say,
) -> dict[str, float]:
    """Train, average with the weights before, and write ``out``.

    Killed, the same call goes on where it last kept its state; one with another recipe, base or
    pairs begins anew. It stops early where the kept pairs are found no better, and what was best
    is taken.

    Returns:
        Figures of the kept pairs, named ``before ...`` and ``after ...``.

    Raises:
        InputError: A library is missing, there are too few pairs, the base cannot be trained,
            ``out`` is no folder, or another training with the same pairs and settings writes to it.
        TrainingError: The loss is no number, or a file cannot be written meanwhile.
    """
    need_extra("finetune", "onnx")
    sides = [[asdict(pair) for pair in side] for side in (training, kept)]
    said = json.dumps([asdict(recipe), sha256_of(_weights_of(origin.base)), sides])
    state = out / f"{_STATE}{hashlib.sha256(said.encode()).hexdigest()[:12]}"
    try:
        with alone(state):
            base = _trainable(origin.base, state / "base")
            trainee = Trainee(base, recipe)
            first, before = trainee.weights(), retrieval_figures(kept, trainee.vectors)
            if not (state / _BEST).exists():
                if recipe.loss == "late":
                    best = late(trainee, training, kept, state, told)
                else:
                    best = contrast(training, kept, base, state, recipe, say=told)
                _save({**first, **best}, state / _BEST)
            trainee.take(_averaged(first, state / _BEST, recipe.share))
            after = retrieval_figures(kept, trainee.vectors)
            figures = {f"before: {name}": value for name, value in before.items()}
            figures |= {f"after: {name}": value for name, value in after.items()}
            _write(trainee, state, out, origin, figures)
            for old in out.glob(f"{_STATE}*"):
                shutil.rmtree(old)
    except OSError as error:
        raise TrainingError(
            f"A file cannot be read or written: {error}.", "See to it; the same command goes on."
        ) from error
    return figures


def _trainable(base: Path, folder: Path) -> Path:
    """The base, or ``folder`` with the weights of one that training wrote."""
    if not (base / MODEL).is_file():
        return base
    from safetensors.numpy import save

    weights = exported(base / MODEL)
    projection = weights.pop("projection")
    genuine = genuine_folder()
    shutil.copytree(genuine, folder, dirs_exist_ok=True)
    config = json.loads((genuine / _CONFIG).read_bytes())
    write_text(folder / _CONFIG, json.dumps(config | {"num_hidden_layers": layers_of(weights)}))
    made = (_WEIGHTS, weights), (f"{PROJECTION}.safetensors", {PROJECTION: projection})
    for name, held in made:
        with replacing(folder / name) as sink:
            sink.write(save(held))
    return folder


def _weights_of(base: Path) -> Path:
    """The file of the base's weights."""
    for name in (MODEL, _WEIGHTS):
        if (base / name).is_file():
            return base / name
    raise InputError(
        f"The base model {base} cannot be loaded: it holds no {_WEIGHTS}.",
        "Name a folder that holds model.safetensors and tokenizer.json.",
    )


def _averaged(first: Mapping[str, Any], best: Path, share: float) -> dict[str, Any]:
    from safetensors.torch import load_file

    trained = load_file(best)
    return {name: (1 - share) * first[name] + share * trained[name] for name in first}


def _write(
    trainee: Trainee, state: Path, out: Path, origin: Origin, figures: dict[str, float]
) -> None:
    """The folder: the graph, the tokenizer, a plot, and last the card, which makes it whole."""
    weights, before = trainee.weights(), _weights_of(origin.base)
    encoder = {name: tensor for name, tensor in weights.items() if name != PROJECTION}
    _save(encoder, state / _ENCODER)
    export(state / _ENCODER, weights[PROJECTION].numpy(), out / MODEL)
    with replacing(out / TOKENIZER) as sink:
        sink.write((genuine_folder() / TOKENIZER).read_bytes())
    name = origin.base.name
    if before.name == MODEL:
        name = read_card(origin.base).model
    elif origin.base == genuine_folder():
        name = "all-MiniLM-L6-v2"
    card = Card(
        model=origin.model,
        base=f"{name}@{sha256_of(before)[:12]}",
        sha256={name: sha256_of(out / name) for name in (MODEL, TOKENIZER)},
        licence=origin.licence,
        data=origin.data,
        command=origin.command,
        seed=trainee.recipe.seed,
        figures=figures,
    )
    write_text(out / PLOT, figures_drawn(figures))
    write_text(out / CARD, card.model_dump_json(indent=2) + "\n")


def _save(weights: Mapping[str, Any], path: Path) -> None:
    """Replace a file by weights, as safetensors."""
    from safetensors.torch import save

    with replacing(path) as sink:
        sink.write(save({name: tensor.contiguous() for name, tensor in weights.items()}))
