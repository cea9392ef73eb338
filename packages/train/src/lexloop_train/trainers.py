"""The two ways an embedder is trained: by sentence-transformers, and late as our own trainee is."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import InputError
from lexloop.models.embedding import Vectors, encoded
from lexloop_train.checkpoints import STEADY, Say, train_on
from lexloop_train.late import Trainee, batches
from lexloop_train.pairs import CLICKED, TrainingPair
from lexloop_train.recipe import EmbedderRecipe
from lexloop_train.retrieval_figures import retrieval_figures

COSINE, LATE = "cosine, all MRR@10", "late, document hit@1"
"""The figures that decide when to stop: for sentence vectors only, and for both."""
WEIGHTS = "model.safetensors"
_SCALE = 20.0
_AT_ONCE = 16


def device_of(wanted: str) -> str:
    """Return the device to train on: ``cpu`` or ``cuda``; ``auto`` takes the GPU if there is one.

    Raises:
        InputError: There is no GPU, or torch cannot use it.
    """
    import torch

    if wanted != "auto":
        if wanted == "cuda" and not torch.cuda.is_available():
            raise InputError("There is no GPU that torch can use.", "Give --device cpu.")
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def contrast(
    model: Any,
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    state: Path,
    recipe: EmbedderRecipe,
    *,
    say: Say,
) -> Path:
    """Train by sentence-transformers, and return the folder of the best checkpoint.

    Each question's text is distinguished from those of its batch and from their mined negatives, by
    the cross-entropy of 20 times the cosine: LQ-RAG's multiple negatives ranking. Over the titles
    and bodies of clicked documents it is the InfoNCE of Sultania et al., appendix A.
    ``cached-mnrl`` takes the same step for a large batch a few pairs at a time. A model with token
    vectors is trained by the same cross-entropy of MaxSim, as PyLate does.

    The recipe's runs and headings are not used. Checkpoints are kept in ``state``. The same call
    continues from the last one, and stops if ``kept`` is not found better.

    Args:
        model: A model from ``open_encoder``.
        training: The pairs to learn from.
        kept: The pairs to measure on.
        state: The folder of the checkpoints.
        recipe: The recipe. Its loss ``late`` is that of ``mnrl``, since the model decides what is
            compared.
        say: Called with a line for each check.

    Raises:
        InputError: The extra is not installed.
        TrainingError: The loss or a weight is not a number.
    """
    from sentence_transformers.base.sampler import BatchSamplers

    kind, arguments, loss = _parts(model, recipe)
    model.model_card_data.widget = [{}]  # else it looks for examples, for a card that nobody reads
    figure = LATE if is_multi_vector(model) else COSINE
    prompts = {name: model.prompts.get(name) or "" for name in ("query", "document")}
    trainer = kind(
        model=model,
        args=arguments(
            per_device_train_batch_size=recipe.batch,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            learning_rate=recipe.rate,
            warmup_steps=0.1,
            prompts={
                "question": prompts["query"],
                "text": prompts["document"],
                "negative": prompts["document"],
            },
            **_settings(recipe, state, figure),
        ),
        train_dataset=_columns(training),
        loss=loss,
        evaluator=_evaluator(kept, figure, longest := model.max_seq_length),
    )
    with _reading(model, min(longest or recipe.text_tokens, recipe.text_tokens)):
        return _best(trainer, recipe, state, figure, say)


@contextmanager
def _reading(model: Any, tokens: int | None) -> Iterator[None]:
    """Cut longer texts inside."""
    longest, model.max_seq_length = model.max_seq_length, tokens
    try:
        yield
    finally:
        model.max_seq_length = longest


def is_multi_vector(model: Any) -> bool:
    """Return whether a model of sentence-transformers gives vectors of tokens."""
    return bool(getattr(model, "model_type", "") == "MultiVectorEncoder")


def _parts(model: Any, recipe: EmbedderRecipe) -> tuple[Any, Any, Any]:
    """The trainer, its arguments and the loss for a model."""
    import sentence_transformers as them

    cached = recipe.loss == "cached-mnrl"
    if is_multi_vector(model):
        from sentence_transformers.multi_vector_encoder import losses as of_tokens

        late: Any = of_tokens.MultiVectorMultipleNegativesRankingLoss(model)
        if cached:
            late = of_tokens.CachedMultiVectorMultipleNegativesRankingLoss(
                model, mini_batch_size=_AT_ONCE
            )
        lengths = {"document": recipe.text_tokens}  # the folder's own would go before
        arguments = partial(them.MultiVectorEncoderTrainingArguments, max_length=lengths)
        return them.MultiVectorEncoderTrainer, arguments, late
    from sentence_transformers.sentence_transformer import losses as of_texts

    loss: Any = of_texts.MultipleNegativesRankingLoss(model, scale=_SCALE)
    if cached:
        loss = of_texts.CachedMultipleNegativesRankingLoss(
            model, scale=_SCALE, mini_batch_size=_AT_ONCE
        )
    return (
        them.SentenceTransformerTrainer,
        them.SentenceTransformerTrainingArguments,
        loss,
    )


def late(
    trainee: Trainee,
    training: Sequence[TrainingPair],
    kept: Sequence[TrainingPair],
    state: Path,
    say: Say,
) -> dict[str, Any]:
    """Train sentence and token vectors together, and return the best weights by name.

    Checkpoints and early stops are as with ``contrast``.

    Raises:
        InputError: The extra is not installed, or there are too few pairs for a batch.
        TrainingError: The loss or a weight is not a number.
    """
    from safetensors.torch import load_file
    from transformers import Trainer, TrainingArguments

    class Late(Trainer):
        def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
            metrics = {f"eval_{LATE}": retrieval_figures(kept, trainee.vectors)[LATE]}
            self.log(metrics)
            self.control = self.callback_handler.on_evaluate(
                self.args, self.state, self.control, metrics
            )
            return metrics

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
    trainee.load_state_dict(load_file(best / WEIGHTS))
    return trainee.weights()


def _settings(recipe: EmbedderRecipe, state: Path, figure: str) -> dict[str, Any]:
    interval = min(recipe.every, recipe.steps)
    return {
        "output_dir": str(state),
        "max_steps": recipe.steps,
        "seed": recipe.seed,
        "eval_strategy": "steps",
        "eval_steps": interval,
        "save_steps": interval,
        "load_best_model_at_end": True,
        "metric_for_best_model": figure,
        "use_cpu": recipe.device == "cpu",
        "bf16": recipe.device != "cpu",
        **STEADY,
    }


def _best(trainer: Any, recipe: EmbedderRecipe, state: Path, figure: str, say: Say) -> Path:
    """Train until it is over or no better, and return the checkpoint that was found best."""
    train_on(trainer, state, say, figure=f"eval_{figure}", named=figure, patience=recipe.patience)
    if trainer.state.global_step < recipe.steps:
        say(f"stops: no better for {recipe.patience} times")
    return Path(trainer.state.best_model_checkpoint)


def _columns(training: Sequence[TrainingPair]) -> Any:
    """Return the rows by kind, mined negative or none, title or body. A batch has one kind."""
    from datasets import Dataset

    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for pair in training:
        part = pair.source if pair.source in CLICKED else "rows"
        row = {"question": pair.question, "text": pair.text}
        mined = {"negative": pair.negatives[0]} if pair.negatives else {}
        rows[f"{part}, mined" if mined else part].append(row | mined)
    return {kind: Dataset.from_list(members) for kind, members in rows.items()}


def _evaluator(kept: Sequence[TrainingPair], figure: str, tokens: int | None) -> Any:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class Kept(BaseEvaluator):
        def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
            with _reading(model, tokens):
                return {figure: retrieval_figures(kept, partial(vectors_of, model))[figure]}

    evaluator: Any = Kept
    return evaluator()


def vectors_of(
    model: Any, texts: Sequence[str], asked: bool = False
) -> tuple[Vectors, list[Vectors] | None]:
    """Return sentence vectors, and the token vectors of each text if a model gives them.

    Args:
        model: A model from ``open_encoder``.
        texts: Questions, or texts to search.
        asked: Whether they are questions, for a model that encodes these differently.
    """
    if not is_multi_vector(model):
        return encoded(model, [*texts], asked), None
    encode = model.encode_query if asked else model.encode_document
    rows = encode([*texts], convert_to_numpy=True, show_progress_bar=False)
    sums = np.stack([tokens.sum(axis=0) for tokens in rows]).astype(np.float32)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.maximum(lengths, 1e-9), rows
