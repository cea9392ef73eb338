"""Train the sentence vectors alone: multiple negatives ranking, plain or with cached gradients."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lexloop.core.errors import need_extra
from lexloop.finetune.checkpoints import STEADY, Say, quietly, train_on, watch
from lexloop.finetune.late import EmbedderRecipe
from lexloop.finetune.pairs import CLICKED, TrainingPair
from lexloop.finetune.retrieval_figures import retrieval_figures
from lexloop.models.embedding import Vectors

FIGURE = "cosine, all MRR@10"
"""The figure that training is stopped by."""
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
        TrainingError: The loss is no number.
    """
    need_extra("finetune", "accelerate", "datasets")
    from safetensors.torch import load_file
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from transformers import EarlyStoppingCallback, PrinterCallback

    with quietly():
        model = SentenceTransformer(str(base), device="cpu", model_kwargs={"use_safetensors": True})
    model.max_seq_length = recipe.text_tokens
    model.model_card_data.widget = [{}]  # else it looks for examples, for a card that nobody reads
    loss: Any = MultipleNegativesRankingLoss(model, scale=_SCALE)
    if recipe.loss == "cached_mnrl":
        loss = CachedMultipleNegativesRankingLoss(model, scale=_SCALE, mini_batch_size=_AT_ONCE)
    trainer = SentenceTransformerTrainer(
        model=model,
        args=_arguments(recipe, state),
        train_dataset=_columns(training),
        loss=loss,
        evaluator=_evaluator(kept),
        callbacks=[
            watch(say, figure=f"eval_{FIGURE}", named=FIGURE),
            EarlyStoppingCallback(recipe.patience),
        ],
    )
    trainer.remove_callback(PrinterCallback)
    with quietly():
        train_on(trainer, state, say)
    if trainer.state.global_step < recipe.steps:
        say(f"stops: no better for {recipe.patience} times")
    best = Path(trainer.state.best_model_checkpoint or "")
    weights: dict[str, Any] = load_file(best / "model.safetensors")
    return weights


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


def _arguments(recipe: EmbedderRecipe, state: Path) -> Any:
    from sentence_transformers import SentenceTransformerTrainingArguments
    from sentence_transformers.base.sampler import BatchSamplers

    every = min(recipe.every, recipe.steps)
    return SentenceTransformerTrainingArguments(
        output_dir=str(state),
        max_steps=recipe.steps,
        per_device_train_batch_size=recipe.batch,
        batch_sampler=BatchSamplers.NO_DUPLICATES,
        learning_rate=recipe.rate,
        warmup_steps=0.1,
        seed=recipe.seed,
        eval_strategy="steps",
        eval_steps=every,
        save_steps=every,
        load_best_model_at_end=True,
        metric_for_best_model=FIGURE,
        use_cpu=True,
        **STEADY,
    )


def _evaluator(kept: Sequence[TrainingPair]) -> Any:
    from sentence_transformers.base.evaluation import BaseEvaluator

    class Kept(BaseEvaluator):
        def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
            return {FIGURE: retrieval_figures(kept, partial(_vectors, model))[FIGURE]}

    evaluator: Any = Kept
    return evaluator()


def _vectors(model: Any, texts: Sequence[str], most: int) -> tuple[Vectors, list[Vectors]]:
    """Sentence vectors, each of which stands for the vectors of its tokens, too."""
    longest, model.max_seq_length = model.max_seq_length, most
    vectors: Vectors = model.encode([*texts], normalize_embeddings=True, show_progress_bar=False)
    model.max_seq_length = longest
    return vectors, [*vectors[:, None]]
