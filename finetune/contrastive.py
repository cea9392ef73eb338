"""Train the sentence vectors alone: multiple negatives ranking, plain or with cached gradients."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexloop.core.errors import TrainingError
from lexloop.finetune.late import Recipe
from lexloop.finetune.pairs import Pair
from lexloop.models.bars import without_bars

_SCALE = 20.0
_AT_ONCE = 16
_EVERY = 60


def contrast(pairs: Sequence[Pair], base: Path, state: Path, recipe: Recipe) -> dict[str, Any]:
    """The encoder's weights after training by sentence-transformers, by their names.

    Each question is told from the texts of the others of its batch, the cross-entropy of 20 times
    the cosine: LQ-RAG's multiple negatives ranking. Over the titles and the bodies of clicked
    documents it is the InfoNCE of Sultania et al., appendix A. ``cached_mnrl`` takes
    the same step for a large batch a few pairs at a time.

    Args:
        pairs: What is learned.
        base: The folder of the weights before.
        state: Where checkpoints are kept; the same call goes on from the last.
        recipe: How; its runs, headings and projection play no part.

    Raises:
        TrainingError: The loss is no number.
    """
    import math

    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        MultipleNegativesRankingLoss,
    )
    from transformers import trainer_utils

    with without_bars():
        model = SentenceTransformer(str(base), device="cpu", model_kwargs={"use_safetensors": True})
    model.max_seq_length = recipe.text_tokens
    columns = {"question": [p.question for p in pairs], "text": [p.text for p in pairs]}
    loss: Any = MultipleNegativesRankingLoss(model, scale=_SCALE)
    if recipe.loss == "cached_mnrl":
        loss = CachedMultipleNegativesRankingLoss(model, scale=_SCALE, mini_batch_size=_AT_ONCE)
    told = SentenceTransformerTrainingArguments(
        output_dir=str(state),
        max_steps=recipe.steps,
        per_device_train_batch_size=recipe.batch,
        learning_rate=recipe.rate,
        warmup_ratio=0.1,
        seed=recipe.seed,
        save_steps=_EVERY,
        save_total_limit=2,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = SentenceTransformerTrainer(
        model=model, args=told, train_dataset=Dataset.from_dict(columns), loss=loss
    )
    utils: Any = trainer_utils
    last = utils.get_last_checkpoint(str(state))
    result = trainer.train(resume_from_checkpoint=last)
    if not math.isfinite(result.training_loss):
        raise TrainingError(
            f"The loss after {result.global_step} steps is no number.",
            f"Use a lower learning rate than {recipe.rate:g}.",
        )
    encoder: Any = model[0]
    named = encoder.auto_model.state_dict().items()
    return {name: t.detach().clone() for name, t in named if t.is_floating_point()}
