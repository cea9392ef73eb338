"""The command line: ``lexloop ask``, ``chat``, ``show``, ``index``, ``graph`` and the measuring.

This module and those it imports at the top stay light: ``lexloop --help`` loads neither langgraph
nor numpy.
"""

import os
import sys
from typing import Annotated

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from lexloop.apps.cli.ask import ask
from lexloop.apps.cli.audit import audit
from lexloop.apps.cli.chat import chat
from lexloop.apps.cli.compare_embedders import compare_embedders
from lexloop.apps.cli.describe import describe
from lexloop.apps.cli.diff import diff
from lexloop.apps.cli.doctor import doctor
from lexloop.apps.cli.evaluate import compare, evaluate, judge, tune
from lexloop.apps.cli.example import example
from lexloop.apps.cli.feedback import commands as feedback_commands
from lexloop.apps.cli.finetune import commands as finetune_commands
from lexloop.apps.cli.forget import forget
from lexloop.apps.cli.index import commands as index_commands
from lexloop.apps.cli.label import label
from lexloop.apps.cli.register import register
from lexloop.apps.cli.sbom import sbom
from lexloop.apps.cli.search import search
from lexloop.apps.cli.serve import mcp, serve
from lexloop.apps.cli.show import commands as graph_commands
from lexloop.apps.cli.show import show
from lexloop.apps.cli.table import table
from lexloop.apps.cli.terminal import debugging, show_error, unexpected, write_error
from lexloop.apps.cli.testset import commands as testset_commands

_EPILOG = (
    "Exit codes: 0 answered or abstained; 1 unexpected; 2 input or settings; 3 index made, files "
    "skipped; 4 documents; 5 stored files; 6 model; 7 deadline; 8 thread busy; 9 training; "
    "13 engine; 14 Ray; 15 forget: something is left; 130 interrupted. With --exit-code: "
    "10 abstained; 11 answered without passing. eval, table: 12 some questions not answered."
)

_MISUSED = 2

app = typer.Typer(
    name="lexloop",
    help="Cited, checked answers to questions about laws, rules and policies.",
    epilog=_EPILOG,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_COMMANDS = (
    *(ask, chat, example, show, search, diff, register, describe),
    *(table, serve, mcp, doctor, judge, evaluate, compare, compare_embedders),
    *(label, tune, forget, sbom, audit),
)
for command in _COMMANDS:
    app.command("eval" if command is evaluate else None, epilog=_EPILOG)(command)
for name, commands in (
    ("index", index_commands),
    ("graph", graph_commands),
    ("feedback", feedback_commands),
    ("testset", testset_commands),
    ("finetune", finetune_commands),
):
    app.add_typer(commands, name=name, epilog=_EPILOG)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"lexloop {version('lexloop')}")
        raise typer.Exit


@app.callback()
def _top(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Cited, checked answers to questions about laws, rules and policies."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    Args:
        arguments: Those after the program's name; None takes the process's own.

    Raises:
        SystemExit: Always, with a code of ``_EPILOG``; an abstention is a result and no failure.
    """
    # numpy reads it when it is imported. Products are small here: a second thread would wait busily
    # for the next one, and take the processor from what runs beside it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not debugging():
        sys.excepthook = unexpected
    command, given = get_command(app), sys.argv[1:] if arguments is None else arguments
    in_json = "--json" in given
    try:
        sys.exit(command(args=given, prog_name="lexloop", standalone_mode=not in_json) or 0)
    except TyperException as error:
        hint = "`--help` behind a command names its options."
        show_error(str(error), hint)
        write_error(type(error).__name__, str(error), hint, _MISUSED)
        sys.exit(_MISUSED)
