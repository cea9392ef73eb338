"""The options that the commands of ``lexloop index`` have in common."""

from pathlib import Path
from typing import Annotated

import typer

_COST = "Cost"

Index = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of the index.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Say what would be read, embedded and asked, and what it would cost; do nothing.",
        rich_help_panel=_COST,
    ),
]
PriceIn = Annotated[
    float | None,
    typer.Option(
        "--price-in",
        metavar="USD",
        min=0,
        help="What a million tokens of prompts cost.",
        rich_help_panel=_COST,
    ),
]
PriceOut = Annotated[
    float | None,
    typer.Option(
        "--price-out",
        metavar="USD",
        min=0,
        help="What a million tokens of replies cost.",
        rich_help_panel=_COST,
    ),
]
PriceEmbedding = Annotated[
    float | None,
    typer.Option(
        "--price-embedding",
        metavar="USD",
        min=0,
        help="What a million embedded tokens cost.",
        rich_help_panel=_COST,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0,
        help="Stop before the model has cost more; what it extracted is kept for the next run.",
        rich_help_panel=_COST,
    ),
]
Prefix = Annotated[
    str,
    typer.Option("--prefix", metavar="NAME/", help="What the names of these documents begin with."),
]
