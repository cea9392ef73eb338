"""The command line: ``lexloop ask``, ``chat``, ``show``, ``index``, ``graph`` and the measuring.

This module and those it imports at the top stay light: ``lexloop --help`` loads neither langgraph
nor numpy.
"""

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from typing import Annotated

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from lexloop.apps.cli.ask import ask
from lexloop.apps.cli.chat import chat
from lexloop.apps.cli.check import check
from lexloop.apps.cli.doctor import doctor
from lexloop.apps.cli.example import example
from lexloop.apps.cli.index import commands as index_commands
from lexloop.apps.cli.sbom import sbom
from lexloop.apps.cli.show import commands as graph_commands
from lexloop.apps.cli.show import show
from lexloop.apps.cli.terminal import (
    debugging,
    reported,
    show_error,
    unexpected,
    write_error,
)
from lexloop.core.errors import InputError
from lexloop.core.packages import brought, loaded, package_missing

_EPILOG = (
    "Exit codes: 0 answered or abstained; 1 unexpected; 2 input or settings; 3 index made, files "
    "skipped; 4 documents; 5 stored files; 6 model; 7 deadline; 8 thread busy; 9 training; "
    "13 engine; 14 Ray; 15 forget: something is left; 130 interrupted. With --exit-code: "
    "10 abstained; 11 answered without passing. check: 1 something is wrong. eval, table: 12 some "
    "questions not answered."
)

_MISUSED = 2
PACKAGES = {
    **dict.fromkeys(("describe", "diff", "register", "search", "table"), "workbench"),
    **dict.fromkeys(("audit", "forget", "mcp", "serve"), "server"),
    **dict.fromkeys(("compare", "eval", "feedback", "judge", "label", "testset", "tune"), "eval"),
    **dict.fromkeys(("compare-embedders", "finetune"), "train"),
}
"""The commands of our other packages, each with the package that brings it."""

app = typer.Typer(
    name="lexloop",
    help="Cited, checked answers to questions about laws, rules and policies.",
    epilog=_EPILOG,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (ask, chat, check, example, show, doctor, sbom):
    app.command(epilog=_EPILOG)(command)
for name, commands in (
    ("index", index_commands),
    ("graph", graph_commands),
):
    app.add_typer(commands, name=name, epilog=_EPILOG)


def _telling(error: InputError) -> Callable[..., None]:
    """Return a command that says why another one is not available."""

    @reported
    def told() -> None:
        raise error

    return told


def add_brought(app: typer.Typer, brought: Mapping[str, EntryPoint]) -> None:
    """Add the commands of other packages. Commands that cannot be loaded tell why.

    Args:
        app: The command line.
        brought: Entry points of the group ``lexloop.commands``, by name. Each is a command or a
            Typer app.
    """
    troubles = {
        name: package_missing(f"`lexloop {name}`", package)
        for name, package in PACKAGES.items()
        if name not in brought
    }
    for name in sorted(brought):
        try:
            command = loaded(brought[name])
        except InputError as error:
            troubles[name] = error
            continue
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, epilog=_EPILOG)
        else:
            app.command(name, epilog=_EPILOG)(command)
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    for name, trouble in troubles.items():
        app.command(name, hidden=True, context_settings=anything)(_telling(trouble))


_own = {"ask", "chat", "check", "doctor", "example", "graph", "index", "sbom", "show"}
_commands = brought("lexloop.commands")
add_brought(app, {name: entry for name, entry in _commands.items() if name not in _own})


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
    command, argv = get_command(app), sys.argv[1:] if arguments is None else arguments
    in_json = "--json" in argv
    try:
        sys.exit(command(args=argv, prog_name="lexloop", standalone_mode=not in_json) or 0)
    except TyperException as error:
        hint = "`--help` behind a command names its options."
        show_error(str(error), hint)
        write_error(type(error).__name__, str(error), hint, _MISUSED)
        sys.exit(_MISUSED)
