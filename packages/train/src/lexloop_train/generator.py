"""Making a generator, from its data to a folder that ``local:FOLDER`` serves, stage by stage.

Stages: the base is measured, an adapter of each kind is trained and measured, the two are merged
linearly, and the merged model is measured. The results of stages are stored beside the final
folder, in ``NAME.work``, so that the same command continues. The folder appears when all is done.
An adapter is trained by supervision that stops early and continues after a kill.
"""

import gc
import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree
from typing import Any

from lexloop.core.errors import DataError, InputError, LexloopError, TrainingError
from lexloop.core.files import CARD, check_sums, sha256_of, write_text
from lexloop.core.jsonl import read_jsonl
from lexloop.models.embedding import without_bars
from lexloop.models.local_model import LocalModel, load_local
from lexloop_train.checkpoints import GOES_ON, STEADY, Say, alone, settle, train_on
from lexloop_train.generator_figures import measure
from lexloop_train.generator_rows import DividedRows, Example, MeasuredFile, divide, read_test

Rows = list[dict[str, Any]]
ADAPTER = "adapter"
CHECKPOINTS = "checkpoints"
_ALPHA_TO_RANK = 2
_DROPOUT = 0.05
_WARMUP = 0.03
_CHECKS_PER_EPOCH = 4
_WRITTEN_AT_ONCE = 8
"""Replies that are written at once while a model is measured: they take little memory."""


@dataclass(frozen=True)
class AdapterRecipe:
    """The settings of an adapter's training.

    Args:
        rate: Learning rate, which falls to 0 as a cosine.
        decay: Weight decay of AdamW.
        at_once: Rows on the device at once. Changes the memory needed and little else.
        most_tokens: Maximum tokens of a row. Longer ones are left out.
        patience: Checks without improvement, at most four per epoch, after which training stops.
        four_bit: Whether to keep the weights under the adapter as NF4.
    """

    epochs: int
    rate: float
    decay: float
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
    """Train an adapter, or continue with one.

    ``folder`` gets the adapter with the least loss on the held-back rows, in ``adapter/``, and the
    ``checkpoints/``, which may be removed once the result is safe.

    Returns:
        For the card: rows that are too long, steps, the step whose weights were kept and its loss
        on the held-back rows, and whether it stopped early.

    Raises:
        InputError: Too few rows are short enough.
        DataError: The base cannot be loaded.
        TrainingError: The loss is not a number, or there is too little memory.
    """
    from transformers import set_seed

    set_seed(recipe.seed)
    checkpoints = folder / CHECKPOINTS
    with enough_memory(f"the adapter in {folder.name} was trained"):
        local = load_local(base, four_bit=recipe.four_bit)
        trained = _encoded(local, rows.trained, recipe.most_tokens)
        held_back = _encoded(local, rows.held, recipe.most_tokens)
        trainer = _trainer(local, trained, held_back, recipe, checkpoints)
        train_on(
            trainer,
            checkpoints,
            say,
            figure="eval_loss",
            named="on rows held back",
            patience=recipe.patience,
        )
        save_adapter(trainer.model, folder / ADAPTER)
    state = trainer.state
    return {
        "too_long": len(rows.trained) + len(rows.held) - len(trained) - len(held_back),
        "steps": state.global_step,
        "kept_step": state.best_global_step,
        "kept_loss": round(float(state.best_metric), 6),
        "stopped_early": state.global_step < state.max_steps,
    }


@contextmanager
def enough_memory(doing: str) -> Iterator[None]:
    """Explain what to do if memory runs out, after releasing what was used before.

    Raises:
        TrainingError: Memory ran out.
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
            f"{GOES_ON}; lower --at-once, end other programs on the GPU, or start again with "
            "4 bits (bitsandbytes), a lower --max-tokens or a smaller base.",
        ) from error


def _encoded(local: LocalModel, examples: Sequence[Example], most: int) -> Rows:
    """Return the tokens of the rows that fit. Only the reply counts in the loss."""
    rows = []
    for example in examples:
        prompt = local.prompt(example.turns())
        reply = local.reply(example.turns(), example.reply)
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
    local: LocalModel, trained: Rows, held_back: Rows, recipe: AdapterRecipe, folder: Path
) -> Any:
    from datasets import Dataset
    from trl.trainer.sft_config import SFTConfig
    from trl.trainer.sft_trainer import SFTTrainer

    trainer: Any = SFTTrainer(
        model=local.model,
        args=SFTConfig(max_length=None, **adapter_settings(recipe, len(trained), folder)),
        train_dataset=Dataset.from_list(trained),
        eval_dataset=Dataset.from_list(held_back),
        processing_class=local.tokenizer,
        peft_config=lora_of(recipe),
    )
    return trainer


def adapter_settings(recipe: AdapterRecipe, rows: int, folder: Path) -> dict[str, Any]:
    """Return the arguments of a trainer of an adapter; checkpoints go to ``folder``."""
    import torch

    gpu = torch.cuda.is_available()
    # a step has the same rows, however many are on the device at once
    at_once = max(n for n in range(1, recipe.at_once + 1) if recipe.batch % n == 0)
    check_steps = math.ceil(math.ceil(rows / recipe.batch) / _CHECKS_PER_EPOCH)
    return {
        "output_dir": str(folder),
        "num_train_epochs": recipe.epochs,
        "learning_rate": recipe.rate,
        "weight_decay": recipe.decay,
        "lr_scheduler_type": "cosine",
        "warmup_steps": _WARMUP,
        "per_device_train_batch_size": at_once,
        "per_device_eval_batch_size": at_once,
        "gradient_accumulation_steps": recipe.batch // at_once,
        "gradient_checkpointing": gpu,
        "bf16": gpu and torch.cuda.is_bf16_supported(),
        "seed": recipe.seed,
        "eval_strategy": "steps",
        "eval_steps": check_steps,
        "save_strategy": "steps",
        "save_steps": check_steps,
        "load_best_model_at_end": True,
        "metric_for_best_model": "eval_loss",
        "greater_is_better": False,
        "dataloader_pin_memory": gpu,
        **STEADY,
    }


def lora_of(recipe: AdapterRecipe) -> Any:
    """Return peft's configuration of an adapter."""
    import torch
    from peft import LoraConfig

    return LoraConfig(
        r=recipe.rank,
        lora_alpha=_ALPHA_TO_RANK * recipe.rank,
        # on a processor its random numbers would take as long as all else
        lora_dropout=_DROPOUT if torch.cuda.is_available() else 0.0,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def save_adapter(model: Any, folder: Path) -> None:
    """Write the adapter as safetensors, whole or not at all."""
    part = folder.with_name(f"{folder.name}.part")
    if part.exists():
        rmtree(part)
    model.save_pretrained(str(part))
    (part / "README.md").unlink(missing_ok=True)  # a form to fill in; the card says it
    settle(part, folder)


KINDS = ("domain", "instructions")
STAGES = ("before", *KINDS, "merged")
_VERSIONS = ("torch", "transformers", "peft", "trl")


@dataclass(frozen=True)
class GeneratorPlan:
    """The settings of one generator.

    Args:
        tests: Files to measure on.
        held_back: Share of the rows of each file that decide when to stop.
        domain_weight: The weight of the domain's adapter, in [0, 1]. The other has the rest.
        reply_tokens: Maximum tokens of a measured answer.
    """

    base: str
    domain: Path
    instructions: Path
    tests: tuple[Path, ...]
    out: Path
    recipe: AdapterRecipe
    held_back: float
    domain_weight: float
    reply_tokens: int
    licence: str
    command: str


def versions() -> dict[str, str]:
    """Return the versions of the packages that train, for a card."""
    return {name: version(name) for name in _VERSIONS}


def four_bit_here() -> bool:
    """Return whether weights can be kept in 4 bits, with bitsandbytes and a CUDA GPU."""
    if find_spec("bitsandbytes") is None:
        return False
    import torch

    return torch.cuda.is_available()


def most_at_once() -> int:
    """Return how many rows are on the device at once; a processor keeps all activations."""
    import torch

    return 4 if torch.cuda.is_available() else 1


def make_generator(plan: GeneratorPlan, say: Say) -> dict[str, Any]:
    """Make the folder, or continue where an earlier call with the same plan ended.

    Raises:
        InputError: The data cannot be used, or the folder belongs to something else.
        DataError: The base cannot be loaded, or a file of the earlier call has changed.
        TrainingError: The loss is not a number, or there is too little memory.
    """
    tests = [read_test(path) for path in plan.tests]
    if len({path.name for path in plan.tests}) < len(tests):
        raise InputError("Two files to be measured on have the same name.", "Rename one.")
    measured_questions = {question.asked for test in tests for question in test.questions}
    files = dict(zip(KINDS, (plan.domain, plan.instructions), strict=True))
    rows = {
        kind: divide(
            read_jsonl(path, Example),
            measured_questions,
            plan.held_back,
            plan.recipe.seed,
            str(path),
        )
        for kind, path in files.items()
    }
    origin = _origin(plan, rows, tests)
    if plan.out.exists():
        return made_before(plan.out, origin)
    with workplace(plan.out, origin) as work:
        return _Maker(plan, rows, tests, work, say).finish(origin)


@dataclass(frozen=True)
class _Maker:
    """The stages of one plan."""

    plan: GeneratorPlan
    rows: dict[str, DividedRows]
    tests: list[MeasuredFile]
    work: Path
    say: Say

    def finish(self, origin: dict[str, Any]) -> dict[str, Any]:
        """Run the remaining stages, and return the card."""
        adapters, figures = {}, {}
        for stage in STAGES:
            if stage in KINDS:
                adapters[stage] = self._once(f"{stage}.trained", partial(self._train, stage))
                rmtree(self.work / stage / CHECKPOINTS, ignore_errors=True)
            if stage == "merged" and not (self.work / "merged").exists():
                self.say("merged: merging the adapters")
                self._merge()
            figures[stage] = self._once(f"{stage}.figures", partial(self._measure, stage))
        card = {
            **origin,
            "command": self.plan.command,
            "adapters": adapters,
            "merge": {"combination_type": "linear", "shares": self._shares()},
            **card_of(self.tests, figures),
        }
        folder = self.work / "merged"
        for kind in KINDS:
            if (adapter := self.work / kind / ADAPTER).exists():
                adapter.rename(folder / kind)
        write_text(folder / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
        settle(folder, self.plan.out)
        return card

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the results of a stage, from its file if it was done before."""
        file = self.work / f"{name}.json"
        if not file.exists():
            write_text(file, json.dumps(make(), indent=2))
        return json.loads(file.read_text(encoding="utf-8"))

    def _train(self, kind: str) -> dict[str, Any]:
        self.say(f"{kind}: loading")
        return train_adapter(
            self.plan.base,
            self.rows[kind],
            self.plan.recipe,
            self.work / kind,
            lambda doing: self.say(f"{kind}: {doing}"),
        )

    def _measure(self, stage: str) -> dict[str, Any]:
        plan, recipe = self.plan, self.plan.recipe
        model = str(self.work / "merged") if stage == "merged" else plan.base

        def adapted(local: LocalModel) -> LocalModel:
            if stage not in KINDS:
                return local
            made = self._adapted(local.model, stage)
            # beside the weights an adapter slows every layer
            return LocalModel(made if recipe.four_bit else made.merge_and_unload(), local.tokenizer)

        return measured(
            model,
            self.tests,
            recipe,
            reply_tokens=plan.reply_tokens,
            say=self.say,
            stage=stage,
            adapted=adapted,
        )

    def _adapted(self, model: Any, kind: str, *more: str) -> Any:
        from peft import PeftModel

        folders = {name: self.work / name / ADAPTER for name in (kind, *more)}
        for folder in folders.values():
            check_sums(folder)
        adapted: Any = PeftModel.from_pretrained(model, str(folders[kind]), adapter_name=kind)
        for name in more:
            adapted.load_adapter(str(folders[name]), adapter_name=name)
        return adapted.eval()

    def _merge(self) -> None:
        """One model of the two adapters, in the base's own precision, on the processor."""
        with enough_memory("the adapters were merged"):
            local = load_local(self.plan.base, as_is=True)
            adapted = self._adapted(local.model, *KINDS)
            # peft takes the root of each weight for both factors of an adapter: from the squares it
            # makes the mean of either, so that two equal adapters merge into the same one
            squares = [share**2 for share in self._shares().values()]
            adapted.add_weighted_adapter(list(KINDS), squares, "merged", combination_type="linear")
            adapted.set_adapter("merged")
            part = self.work / "merged.part"
            if part.exists():
                rmtree(part)
            with without_bars():
                adapted.merge_and_unload().save_pretrained(str(part))
            local.tokenizer.save_pretrained(str(part))
            settle(part, self.work / "merged")

    def _shares(self) -> dict[str, float]:
        domain = self.plan.domain_weight
        return dict(zip(KINDS, (domain, 1.0 - domain), strict=True))


def card_of(
    tests: Sequence[MeasuredFile], figures: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what each card of a generator has.

    Args:
        tests: The files that were measured on.
        figures: Of each stage, in their order, the figures by the names of these files.
    """
    return {
        "kind": "generator",
        "figures": {
            test.path.name: {
                "kind": test.kind,
                "questions": len(test.questions),
                **{stage: by_file[test.path.name] for stage, by_file in figures.items()},
            }
            for test in tests
        },
        "versions": versions(),
    }


def measured(
    model: str,
    tests: Sequence[MeasuredFile],
    recipe: AdapterRecipe,
    *,
    reply_tokens: int,
    say: Say,
    stage: str,
    adapted: Callable[[LocalModel], LocalModel] = lambda local: local,
) -> dict[str, Any]:
    """Return the figures of a model by the names of the files that it is measured on.

    Args:
        model: A folder or a hub id.
        tests: The files.
        recipe: Its precision, and how many rows are on the device at once.
        reply_tokens: Maximum tokens of an answer.
        say: Called with what is done.
        stage: The name of the stage.
        adapted: Returns the loaded model with an adapter, if there is one.
    """
    if not tests:
        return {}
    say(f"{stage}: measuring")
    with enough_memory(f"{stage} was measured"):
        local = adapted(load_local(model, four_bit=recipe.four_bit))
        at_once = max(recipe.at_once, _WRITTEN_AT_ONCE)
        return {test.path.name: measure(local, test, reply_tokens, at_once) for test in tests}


def _origin(
    plan: GeneratorPlan, rows: dict[str, DividedRows], tests: Sequence[MeasuredFile]
) -> dict[str, Any]:
    """Return the identity of the model. A later call with the same identity continues."""
    files = {"domain": plan.domain, "instructions": plan.instructions}
    recipe = {name: value for name, value in asdict(plan.recipe).items() if name != "at_once"}
    return {
        "base": {"name": plan.base, "sha256": weights_of(plan.base)},
        "licence": plan.licence,
        "data": {
            kind: {
                "file": path.name,
                "sha256": sha256_of(path),
                "trained": len(rows[kind].trained),
                "held_back": len(rows[kind].held),
                "left_out": rows[kind].left_out,
            }
            for kind, path in files.items()
        },
        "measured_on": {test.path.name: sha256_of(test.path) for test in tests},
        "split": {"share_held_back": plan.held_back, "by": "question and context, at random"},
        "recipe": {**recipe, "domain_weight": plan.domain_weight},
        "reply_tokens": plan.reply_tokens,
    }


def weights_of(base: str) -> dict[str, str] | str:
    """SHA-256 of the weights in a folder; of a hub id the commit that is loaded."""
    folder = Path(base).expanduser()
    if folder.is_dir():
        return {path.name: sha256_of(path) for path in sorted(folder.glob("*.safetensors"))}
    from transformers import AutoConfig

    try:
        config: Any = AutoConfig.from_pretrained(base, trust_remote_code=False)
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:300].rstrip(".")
        raise DataError(
            f"The base model {base!r} is not there: {why}.",
            "Name a local folder, or a hub id that this machine can reach.",
        ) from error
    return str(config._commit_hash)


def made_before(out: Path, origin: dict[str, Any]) -> dict[str, Any]:
    """The card of a folder that the same plan has made."""
    try:
        card: dict[str, Any] = json.loads((out / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        card = {}
    if any(card.get(name) != value for name, value in origin.items()):
        raise InputError(
            f"{out} is there already, and is not what this command makes.",
            "Name another --out, or remove it.",
        )
    check_sums(out)
    rmtree(_beside(out), ignore_errors=True)
    return card


@contextmanager
def workplace(out: Path, origin: dict[str, Any]) -> Iterator[Path]:
    """Lock the folder of the stages' results for this process, and remove it when done."""
    work = _beside(out)
    plan = work / "plan.json"
    try:
        with alone(work):
            if not plan.exists():
                write_text(plan, json.dumps(origin, indent=2))
            before = json.loads(plan.read_text(encoding="utf-8"))
            if changed := [name for name, value in origin.items() if before.get(name) != value]:
                raise InputError(
                    f"{work} has a training that was started differently ({', '.join(changed)}).",
                    "Give the same options and files to continue, or another --out, or remove it.",
                )
            try:
                yield work
            except LexloopError:
                if {path.name for path in work.iterdir()} <= {plan.name, "lock"}:
                    rmtree(work)  # nothing was made that a training could continue from
                raise
            rmtree(work)
    except OSError as error:
        raise TrainingError(
            f"A file cannot be read or written: {error}.", "See to it; the same command goes on."
        ) from error


def _beside(out: Path) -> Path:
    absolute = Path(os.path.abspath(out))
    return absolute.with_name(f"{absolute.name}.work")
