"""``lexloop finetune generator``: two LoRA adapters, merged into one model of text."""

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import note, plain, reported, result_console, say, write_json
from lexloop.apps.shapes.text import one_line
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

Seed = Annotated[int, option("Of every choice.", flag="--seed", min=0)]
Licence = Annotated[str, option("Of the data and of the weights, for the card.")]
_PRECISIONS = ("auto", "4bit", "full")
_data = partial(option, panel="Data")
_training = partial(option, panel="Training")
_merging = partial(option, panel="Merging and measuring")


@reported
def generator(
    *,
    base: Annotated[str, option("To begin with: a local folder or a hub id.", "MODEL")],
    domain: Annotated[Path, _data("Questions on the domain.", "FILE")],
    instructions: Annotated[Path, _data("General instructions.", "FILE")],
    out: Annotated[Path, option("The folder to make, for local:DIR.", "DIR")],
    tests: Annotated[
        list[Path] | None,
        _data(
            "Measure on these questions, and never learn them. May be repeated.",
            "FILE",
            flag="--test",
        ),
    ] = None,
    held_back: Annotated[
        float, _data("Share of each file's rows that say when to stop.", min=0.0, max=1.0)
    ] = 0.1,
    licence: Licence = "not stated",
    epochs: Annotated[int, _training("At most.", min=1)] = 3,
    rate: Annotated[float, _training("Learning rate.", min=0.0, max=1.0)] = 2e-4,
    rank: Annotated[int, _training("Of the adapters.", min=1)] = 16,
    batch: Annotated[int, _training("Rows of one step.", min=1)] = 16,
    at_once: Annotated[
        int, _training("Rows on the device at once: fewer need less memory.", min=1)
    ] = 4,
    most_tokens: Annotated[
        int, _training("Longer rows are left out.", flag="--max-tokens", min=8)
    ] = 2048,
    patience: Annotated[
        int,
        _training("Stop after so many checks without improvement; an epoch has up to four.", min=1),
    ] = 4,
    precision: Annotated[
        str,
        _training(
            "Of the weights under the adapters; auto: 4bit where bitsandbytes and a GPU are.",
            "|".join(_PRECISIONS),
        ),
    ] = "auto",
    choice_seed: Seed = 7,
    domain_weight: Annotated[
        float,
        _merging(
            "Of the domain's adapter in the merged model; the other has the rest.", min=0.0, max=1.0
        ),
    ] = 0.5,
    reply_tokens: Annotated[int, _merging("Of an answer that is measured, at most.", min=1)] = 256,
    as_json: options.AsJson = False,
) -> None:
    r"""Train a model that writes answers: two LoRA adapters, merged into one.

    One adapter learns questions on your domain, one general instructions. The base, each adapter
    and the merged model are measured on the files of --test. Needs the extra lexloop\[finetune].
    After Ctrl-C or a kill the same command goes on.

    Files are JSON Lines, one object a line. To train on: {"question": "...", "context": "...",
    "answer": "..."}; context and system may be left out, and instruction, input, output are read
    as well. To be measured on, each file of one kind: with "choices": \["...", "..."] a multiple
    choice, whose answer is one of them; with "label" in place of answer a classification; else
    question answering. Use the result with: lexloop ask --model local:DIR.
    """
    from lexloop.core.errors import need_extra
    from lexloop.finetune.generator import (
        NEEDED,
        AdapterRecipe,
        GeneratorPlan,
        make_generator,
    )

    need_extra("finetune", *NEEDED)  # before anything is said
    recipe = AdapterRecipe(
        epochs=epochs,
        rate=rate,
        rank=rank,
        batch=batch,
        at_once=at_once,
        most_tokens=most_tokens,
        patience=patience,
        seed=choice_seed,
        four_bit=_four_bit(precision),
    )
    plan = GeneratorPlan(
        base=base,
        domain=domain,
        instructions=instructions,
        tests=tuple(tests or ()),
        out=out,
        recipe=recipe,
        held_back=held_back,
        domain_weight=domain_weight,
        reply_tokens=reply_tokens,
        licence=licence,
        command=shown_command(),
    )
    card = make_generator(plan, note)
    if as_json:
        write_json(card)
        return
    _show(card, out)


def _show(card: dict[str, Any], out: Path) -> None:
    for name, figures in card["figures"].items():
        result_console().print(_table(name, figures))
    for kind, told in card["adapters"].items():
        early = ", early" if told["stopped_early"] else ""
        say(
            f"{kind}: stopped after {told['steps']} steps{early}; kept step {told['kept_step']}, "
            f"loss on rows held back {told['kept_loss']:.3f}"
        )
    say(f"Intervals and data: {out / 'card.json'}", style="dim")
    say(f"Use it with: --model local:{out}", style="cyan")


def _four_bit(precision: str) -> bool:
    from lexloop.finetune.generator import four_bit_here

    if precision not in _PRECISIONS:
        what = f"--precision is {precision!r}."
        raise InputError(what, f"Use one of {', '.join(_PRECISIONS)}.")
    possible = four_bit_here()
    if precision == "4bit" and not possible:
        raise InputError(
            "4 bits need bitsandbytes and a CUDA GPU, which are not both here.",
            "Install bitsandbytes on a machine with such a GPU, or use --precision full.",
        )
    wanted = possible and precision != "full"
    why = "" if possible or precision == "full" else ": bitsandbytes and a GPU are not both here"
    note("Weights in 4 bits" if wanted else f"Weights in full precision{why}")
    return wanted


def _table(name: str, figures: dict[str, Any]) -> "Table":
    from rich.table import Table

    from lexloop.finetune.generator import STAGES

    title = f"{name}: {figures['kind']}, {figures['questions']} questions"
    table = Table(title=plain(one_line(title)), title_justify="left")
    for column in ("", *STAGES):
        table.add_column(column)
    for metric in figures[STAGES[0]]:
        table.add_row(metric, *(_shown(figures[stage][metric]) for stage in STAGES))
    return table


def _shown(figure: dict[str, float] | float | None) -> str:
    mean = figure["mean"] if isinstance(figure, dict) else figure
    return "–" if mean is None else f"{mean:.3f}"


def shown_command() -> str:
    """Return the command line for a model card, without the folders of this machine."""
    return shlex.join(["lexloop", *(Path(part).name or part for part in sys.argv[1:])])
