"""``lexloop index``: makes an index of a folder, keeps it up to date, and looks into it."""

from typing import Any

import typer
from typer.core import TyperGroup

from lexloop.apps.cli.index.build import build
from lexloop.apps.cli.index.change import add, remove, update
from lexloop.apps.cli.index.look import info, verify


class _BuildsByDefault(TyperGroup):
    """``lexloop index DIR --out INDEX`` stands for ``lexloop index build DIR --out INDEX``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["build", *args]
        return super().parse_args(ctx, args)


commands = typer.Typer(
    name="index",
    cls=_BuildsByDefault,
    no_args_is_help=True,
    help="Make an index of your documents, keep it up to date, and look into it. "
    "`lexloop index DIR --out INDEX` is short for `lexloop index build DIR --out INDEX`.",
)
commands.command()(build)
commands.command()(add)
commands.command()(update)
commands.command()(remove)
commands.command()(verify)
commands.command()(info)
