"""One LoRA adapter: supervised training that stops early and goes on after a kill."""

import gc
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from lexloop.core.errors import InputError, TrainingError
from lexloop.finetune.checkpoints import GOES_ON, STEADY, Say, settle, train_on
from lexloop.finetune.generator_rows import DividedRows, Example
from lexloop.models.local_model import LocalModel, load_local

Rows = list[dict[str, Any]]
ADAPTER = "adapter"
CHECKPOINTS = "checkpoints"
_ALPHA_TO_RANK = 2
_DROPOUT = 0.05
_WARMUP = 0.03
_CHECKS_PER_EPOCH = 4


@dataclass(frozen=True)
class AdapterRecipe:
    """The settings of an adapter's training.

    Args:
        rate: Learning rate, which falls to 0 as a cosine.
        at_once: Rows that are on the device at once; changes the memory needed and little else.
        most_tokens: The longest row, in tokens; longer ones are left out.
        patience: Checks without improvement, at most four in an epoch, after which it stops.
        four_bit: Keep the weights under the adapter as NF4.
    """

    epochs: int
    rate: float
    rank: int
    batch: int
    at_once: int
    most_tokens: int
    patience: int
    seed: int
    four_bit: bool


def train_adapter(
    base: str, rows: DividedRows, recipe: AdapterRecipe, folder: Path, say: Say
) -> dict[str, Any]:
    """Train an adapter, or go on with one.

    ``folder`` gets the adapter with the least loss on the rows held back, in ``adapter/``, and the
    ``checkpoints/``, which may go once what is returned is safe.

    Returns:
        For the card: rows too long, steps, the step whose weights were kept and its loss on the
        rows held back, and whether it stopped early.

    Raises:
        InputError: Too few rows are short enough.
        DataError: The base cannot be loaded.
        TrainingError: The loss is no number, or the memory does not suffice.
    """
    from transformers import set_seed

    set_seed(recipe.seed)
    checkpoints = folder / CHECKPOINTS
    with enough_memory(f"the adapter in {folder.name} was trained"):
        local = load_local(base, four_bit=recipe.four_bit)
        trained = _encoded(local, rows.trained, recipe.most_tokens)
        held = _encoded(local, rows.held, recipe.most_tokens)
        trainer = _trainer(local, trained, held, recipe, checkpoints)
        train_on(
            trainer,
            checkpoints,
            say,
            figure="eval_loss",
            named="on rows held back",
            patience=recipe.patience,
        )
        _save(trainer.model, folder / ADAPTER)
    state = trainer.state
    return {
        "too_long": len(rows.trained) + len(rows.held) - len(trained) - len(held),
        "steps": state.global_step,
        "kept_step": state.best_global_step,
        "kept_loss": round(float(state.best_metric), 6),
        "stopped_early": state.global_step < state.max_steps,
    }


@contextmanager
def enough_memory(doing: str) -> Iterator[None]:
    """Say what to do where the memory does not suffice, after letting go of what was used before.

    Raises:
        TrainingError: It does not suffice.
    """
    import torch

    gc.collect()  # a trainer refers to itself
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers, of its own names
            yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise TrainingError(
            f"There was not enough memory while {doing}: {' '.join(str(error).split())[:200]}.",
            f"{GOES_ON}; lower --at-once, end what else uses the GPU, or begin anew with 4 bits "
            "(bitsandbytes), a lower --max-tokens or a smaller base.",
        ) from error


def _encoded(local: LocalModel, examples: Sequence[Example], most: int) -> Rows:
    """Tokens of the rows that fit; the loss is that of the reply alone."""
    rows = []
    for example in examples:
        prompt = local.prompt(example.turns())
        reply = local.reply(example.turns(), example.answer)
        if len(prompt) + len(reply) <= min(most, local.window):
            labels = [-100] * len(prompt) + reply
            rows.append({"input_ids": prompt + reply, "labels": labels})
    if not rows:
        raise InputError(
            f"All {len(examples)} rows to train on or held back have over {most} tokens.",
            f"Raise --max-tokens, at most to the model's {local.window}, or give shorter rows.",
        )
    return rows


def _trainer(
    local: LocalModel, trained: Rows, held: Rows, recipe: AdapterRecipe, folder: Path
) -> Any:
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    gpu = torch.cuda.is_available()
    # whatever is on the device at once, a step has the same rows
    at_once = max(n for n in range(1, recipe.at_once + 1) if recipe.batch % n == 0)
    steps = math.ceil(len(trained) / recipe.batch)
    every = math.ceil(steps / _CHECKS_PER_EPOCH)
    settings: Any = SFTConfig(
        output_dir=str(folder),
        num_train_epochs=recipe.epochs,
        learning_rate=recipe.rate,
        lr_scheduler_type="cosine",
        warmup_steps=_WARMUP,
        per_device_train_batch_size=at_once,
        per_device_eval_batch_size=at_once,
        gradient_accumulation_steps=recipe.batch // at_once,
        gradient_checkpointing=gpu,
        bf16=gpu and torch.cuda.is_bf16_supported(),
        max_length=None,
        seed=recipe.seed,
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        dataloader_pin_memory=gpu,
        **STEADY,
    )
    lora = LoraConfig(
        r=recipe.rank,
        lora_alpha=_ALPHA_TO_RANK * recipe.rank,
        lora_dropout=_DROPOUT,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    trainer: Any = SFTTrainer(
        model=local.model,
        args=settings,
        train_dataset=Dataset.from_list(trained),
        eval_dataset=Dataset.from_list(held),
        processing_class=local.tokenizer,
        peft_config=lora,
    )
    return trainer


def _save(model: Any, folder: Path) -> None:
    """Write the adapter as safetensors, whole or not at all."""
    part = folder.with_name(f"{folder.name}.part")
    if part.exists():
        rmtree(part)
    model.save_pretrained(str(part))
    (part / "README.md").unlink(missing_ok=True)  # a form to fill in; the card says it
    settle(part, folder)
