"""``lexloop finetune``: parts trained on a user's own data."""

import typer

from lexloop.apps.cli.finetune.classifier import classifier
from lexloop.apps.cli.finetune.embedder import embedder
from lexloop.apps.cli.finetune.generator import generator
from lexloop.apps.cli.finetune.pairs import pairs

commands = typer.Typer(
    help="Train parts on your own data; needs the extra lexloop\\[finetune].", no_args_is_help=True
)
for command in (pairs, embedder, classifier, generator):
    commands.command()(command)
