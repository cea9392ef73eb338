"""What the commands of ``lexloop finetune`` have in common."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option("--seed", min=0, help="Of every choice.")]
Licence = Annotated[str, typer.Option(help="Of the data and of the weights, for the card.")]


def command() -> str:
    """What was run, for a card: without the folders of this machine."""
    return shlex.join(["lexloop", *(Path(part).name or part for part in sys.argv[1:])])
