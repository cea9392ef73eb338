"""``lexloop finetune generator``: two LoRA adapters, merged into one model of text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.terminal import one_line, plain, progress_console, result_console, write_json

if TYPE_CHECKING:
    from rich.table import Table

_DATA, _TRAINING, _MERGING = "Data", "Training", "Merging and measuring"
_PRECISIONS = ("auto", "4bit", "full")


def generator(
    *,
    base: Annotated[
        str,
        typer.Option(
            "--base", metavar="MODEL", help="The model to begin with: a local folder or a hub id."
        ),
    ],
    domain: Annotated[
        Path,
        typer.Option(
            "--domain", metavar="FILE", help="Questions on the domain.", rich_help_panel=_DATA
        ),
    ],
    instructions: Annotated[
        Path,
        typer.Option(
            "--instructions",
            metavar="FILE",
            help="General instructions.",
            rich_help_panel=_DATA,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="The folder to make, for local:DIR."),
    ],
    tests: Annotated[
        list[Path] | None,
        typer.Option(
            "--test",
            metavar="FILE",
            help="Measure on these questions, and never learn them. May be repeated.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    held_back: Annotated[
        float,
        typer.Option(
            "--held-back",
            min=0.0,
            max=1.0,
            help="Share of the rows of each file that say when to stop.",
            rich_help_panel=_DATA,
        ),
    ] = 0.1,
    licence: Annotated[
        str,
        typer.Option("--licence", help="Of the data, for the card.", rich_help_panel=_DATA),
    ] = "not stated",
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="At most.", rich_help_panel=_TRAINING)
    ] = 3,
    rate: Annotated[
        float,
        typer.Option("--rate", min=0.0, help="Learning rate.", rich_help_panel=_TRAINING),
    ] = 2e-4,
    rank: Annotated[
        int, typer.Option("--rank", min=1, help="Of the adapters.", rich_help_panel=_TRAINING)
    ] = 16,
    batch: Annotated[
        int, typer.Option("--batch", min=1, help="Rows of one step.", rich_help_panel=_TRAINING)
    ] = 16,
    at_once: Annotated[
        int,
        typer.Option(
            "--at-once",
            min=1,
            help="Rows on the device at once: fewer need less memory.",
            rich_help_panel=_TRAINING,
        ),
    ] = 4,
    most_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens",
            min=8,
            help="Longer rows are left out.",
            rich_help_panel=_TRAINING,
        ),
    ] = 2048,
    patience: Annotated[
        int,
        typer.Option(
            "--patience",
            min=1,
            help="Stop after so many checks without improvement; an epoch has up to four.",
            rich_help_panel=_TRAINING,
        ),
    ] = 4,
    precision: Annotated[
        str,
        typer.Option(
            "--precision",
            metavar="|".join(_PRECISIONS),
            help="Of the weights under the adapters; auto: 4bit where bitsandbytes and a GPU are.",
            rich_help_panel=_TRAINING,
        ),
    ] = "auto",
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, help="Of the split and the training.", rich_help_panel=_TRAINING
        ),
    ] = 7,
    domain_weight: Annotated[
        float,
        typer.Option(
            "--domain-weight",
            min=0.0,
            max=1.0,
            help="Of the domain's adapter in the merged model; the other has the rest.",
            rich_help_panel=_MERGING,
        ),
    ] = 0.5,
    reply_tokens: Annotated[
        int,
        typer.Option(
            "--reply-tokens",
            min=1,
            help="Of an answer that is measured, at most.",
            rich_help_panel=_MERGING,
        ),
    ] = 256,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the card as JSON and nothing else.")
    ] = False,
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
    with reported(as_json):
        from lexloop.finetune.generator.adapter import Recipe
        from lexloop.finetune.generator.make import Plan, make_generator, need_extra

        need_extra()
        recipe = Recipe(
            epochs=epochs,
            rate=rate,
            rank=rank,
            batch=batch,
            at_once=at_once,
            most_tokens=most_tokens,
            patience=patience,
            seed=seed,
            four_bit=_four_bit(precision),
        )
        plan = Plan(
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
            command=_command(),
        )
        card = make_generator(plan, _say)
        if as_json:
            write_json(card)
            return
        console = result_console()
        for name, figures in card["figures"].items():
            console.print(_table(name, figures))
        for kind, told in card["adapters"].items():
            early = ", early" if told["stopped_early"] else ""
            console.print(
                plain(
                    f"{kind}: stopped after {told['steps']} steps{early}; kept step "
                    f"{told['kept_step']}, loss on rows held back {told['kept_loss']:.3f}"
                )
            )
        console.print(plain(one_line(f"Intervals and data: {out / 'card.json'}"), "dim"))
        console.print(plain(one_line(f"Use it with: --model local:{out}"), "cyan"))


def _four_bit(precision: str) -> bool:
    from lexloop.core.errors import InputError
    from lexloop.finetune.generator.make import four_bit_here

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
    _say("Weights in 4 bits" if wanted else f"Weights in full precision{why}")
    return wanted


def _say(doing: str) -> None:
    progress_console().print(plain(one_line(doing), "dim"))


def _command() -> str:
    import shlex
    import sys

    return shlex.join(["lexloop", *sys.argv[1:]])


def _table(name: str, figures: dict[str, Any]) -> "Table":
    from rich.table import Table

    from lexloop.finetune.generator.make import STAGES

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
