"""A generator that prefers what people preferred: DPO on pairs of answers, from thumbs up and down.

The base is measured, an adapter is trained on the pairs by trl's ``DPOTrainer`` (Rafailov et al.)
and merged into the base, and the result is measured. Stages are stored and gone on with as those of
``generator``.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any, Self

from pydantic import Field, model_validator

from lexloop.core.errors import InputError
from lexloop.core.files import CARD, sha256_of, write_text
from lexloop.core.jsonl import read_jsonl
from lexloop.models.embedding import without_bars
from lexloop.models.local_model import Turn, load_local
from lexloop_train.checkpoints import Say, settle, train_on
from lexloop_train.generator import (
    ADAPTER,
    CHECKPOINTS,
    AdapterRecipe,
    adapter_settings,
    card_of,
    enough_memory,
    lora_of,
    made_before,
    measured,
    save_adapter,
    weights_of,
    workplace,
)
from lexloop_train.generator_rows import FEWEST, MeasuredFile, Row, read_test

STAGES = ("before", "preferred")
_BETA = 0.1
"""How strongly the adapter is held to the base; trl's default."""


class Preference(Row):
    """A question with two answers, of which people preferred the first."""

    question: str = Field(pattern=r"\S")
    chosen: str = Field(pattern=r"\S")
    rejected: str = Field(pattern=r"\S")

    @model_validator(mode="after")
    def _are_two(self) -> Self:
        if self.chosen.split() == self.rejected.split():
            raise ValueError("both answers are the same")
        return self

    def as_row(self) -> dict[str, list[Turn]]:
        """Return the row in trl's form."""
        answers = {"chosen": self.chosen, "rejected": self.rejected}
        said = {name: [{"role": "assistant", "content": text}] for name, text in answers.items()}
        return {"prompt": self.turns(), **said}


@dataclass(frozen=True)
class PreferencePlan:
    """The settings of one training on preferences.

    Args:
        pairs: The file of preferences.
        tests: Files to measure on.
        held_back: Share of the pairs that decide when to stop.
        reply_tokens: Maximum tokens of a measured answer.
    """

    base: str
    pairs: Path
    tests: tuple[Path, ...]
    out: Path
    recipe: AdapterRecipe
    held_back: float
    reply_tokens: int
    licence: str
    command: str


def make_preferred(plan: PreferencePlan, say: Say) -> dict[str, Any]:
    """Make the folder, or continue where an earlier call with the same plan ended.

    Returns:
        The card, with the figures before and after.

    Raises:
        InputError: The pairs cannot be used, or the folder belongs to something else.
        DataError: The base cannot be loaded, or a file of the earlier call has changed.
        TrainingError: The loss is not a number, or there is too little memory.
    """
    tests = [read_test(path) for path in plan.tests]
    trained, held = _divided(read_jsonl(plan.pairs, Preference), plan)
    origin = {
        "base": {"name": plan.base, "sha256": weights_of(plan.base)},
        "licence": plan.licence,
        "data": {
            "preferences": {
                "file": plan.pairs.name,
                "sha256": sha256_of(plan.pairs),
                "trained": len(trained),
                "held_back": len(held),
            }
        },
        "split": {"share_held_back": plan.held_back},
        "measured_on": {test.path.name: sha256_of(test.path) for test in tests},
        "recipe": {n: value for n, value in asdict(plan.recipe).items() if n != "at_once"},
        "reply_tokens": plan.reply_tokens,
    }
    if plan.out.exists():
        return made_before(plan.out, origin)
    with workplace(plan.out, origin) as work:
        return _Maker(plan, trained, held, tests, work, say).finish(origin)


def _divided(
    pairs: Sequence[Preference], plan: PreferencePlan
) -> tuple[list[Preference], list[Preference]]:
    rows = list(dict.fromkeys(pairs))
    count = round(len(rows) * plan.held_back)
    if len(rows) < FEWEST or not 0 < count < len(rows):
        raise InputError(
            f"{plan.pairs} has {len(rows)} pairs, of which {count} would be held back.",
            f"Give at least {FEWEST}, and a share that holds some of them back and not all.",
        )
    random.Random(plan.recipe.seed).shuffle(rows)  # noqa: S311 - a choice that can be repeated
    return rows[count:], rows[:count]


@dataclass(frozen=True)
class _Maker:
    """The stages of one plan."""

    plan: PreferencePlan
    trained: Sequence[Preference]
    held: Sequence[Preference]
    tests: Sequence[MeasuredFile]
    work: Path
    say: Say

    def finish(self, origin: dict[str, Any]) -> dict[str, Any]:
        """Run the stages, and return the card."""
        folder = self.work / "preferred"
        figures = {"before": self._measured(self.plan.base, "before")}
        with enough_memory("the preferences were trained"):
            adapter = self._train()
        with enough_memory("the adapter was merged"):
            _merge(self.plan.base, self.work / ADAPTER, folder)
        figures["preferred"] = self._measured(str(folder), "preferred")
        card = {
            **origin,
            "command": self.plan.command,
            "adapters": {"preferred": adapter},
            **card_of(self.tests, figures),
        }
        write_text(folder / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
        settle(folder, self.plan.out)
        return card

    def _measured(self, model: str, stage: str) -> dict[str, Any]:
        return measured(
            model,
            self.tests,
            self.plan.recipe,
            reply_tokens=self.plan.reply_tokens,
            say=self.say,
            stage=stage,
        )

    def _train(self) -> dict[str, Any]:
        """Train the adapter from the last good checkpoint, and return what the card says of it."""
        from datasets import Dataset
        from trl.trainer.dpo_config import DPOConfig
        from trl.trainer.dpo_trainer import DPOTrainer

        self.say("preferred: loading")
        recipe, folder = self.plan.recipe, self.work / CHECKPOINTS
        local = load_local(self.plan.base, four_bit=recipe.four_bit)
        settings = adapter_settings(recipe, len(self.trained), folder)
        trainer: Any = DPOTrainer(
            model=local.model,
            args=DPOConfig(beta=_BETA, max_length=recipe.most_tokens, **settings),
            train_dataset=Dataset.from_list([pair.as_row() for pair in self.trained]),
            eval_dataset=Dataset.from_list([pair.as_row() for pair in self.held]),
            processing_class=local.tokenizer,
            peft_config=lora_of(recipe),
        )
        named = "on pairs held back"
        train_on(
            trainer, folder, self.say, figure="eval_loss", named=named, patience=recipe.patience
        )
        save_adapter(trainer.model, self.work / ADAPTER)
        rmtree(folder, ignore_errors=True)
        state = trainer.state
        kept = [line for line in state.log_history if line.get("eval_loss") == state.best_metric]
        return {
            "steps": state.global_step,
            "kept_step": state.best_global_step,
            "kept_loss": round(float(state.best_metric), 6),
            "preferred": round(float(kept[0]["eval_rewards/accuracies"]), 6),
            "stopped_early": state.global_step < state.max_steps,
        }


def _merge(base: str, adapter: Path, folder: Path) -> None:
    """Write the base with the adapter merged in, in the base's own precision."""
    from peft import PeftModel

    local = load_local(base, as_is=True)
    adapted: Any = PeftModel.from_pretrained(local.model, str(adapter))
    with without_bars():
        adapted.merge_and_unload().save_pretrained(str(folder))
    local.tokenizer.save_pretrained(str(folder))
