"""``lexloop graph show``: what the knowledge graph knows around an entity, printed and drawn."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import Progress
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import note, plain, result_console, say, write_json
from lexloop.core.errors import SettingsError
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lexloop.store.graph import KnowledgeGraph, Relation

_MOST, _MOST_ASKED = 30, 200
"""Relations that are looked for unless more are asked for, and the most that can be."""
_BESIDE = 5
"""Lines of the screen for what stands above and below the relations, and the next prompt."""

commands = typer.Typer(name="graph", no_args_is_help=True, help="Look into the knowledge graph.")


@commands.callback()
def _top() -> None:
    """Look into the knowledge graph."""


@commands.command()
@options.taking("corpus", "index.embedder", *options.ACCESS)
def show(
    *,
    context: typer.Context,
    entity: Annotated[
        str, typer.Argument(help="A term, an acronym or a section, e.g. 'bias audit' or '§ 5-301'.")
    ],
    depth: Annotated[int, option("How many entities away to look.", min=1, max=2)] = 1,
    limit: Annotated[
        int | None,
        option(
            "How many relations at most; left out, as many as the screen has room for.",
            min=1,
            max=_MOST_ASKED,
        ),
    ] = None,
    svg: Annotated[Path | None, option("Draw them into this file.", "FILE")] = None,
    html: Annotated[
        Path | None, option("Write the drawing and the table as a page.", "FILE")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the relations around an entity, each with the place that states it."""
    graph, corpus = _open(context.params)
    from lexloop.apps.provisions import neighbourhood

    where, elsewhere = corpus, ""
    if corpus == SAMPLE_CORPUS:
        where, elsewhere = "the bundled sample", "--corpus names other documents."
    around = neighbourhood(graph, entity, depth, limit or _MOST, where=where, elsewhere=elsewhere)
    name, _, degree, relations = around
    more = max(0, degree - len(relations)) if depth == 1 else 0
    _draw(name, relations, more, svg, html)
    if as_json:
        write_json(around.record())
        return
    _print(name, degree, relations, limit)
    for file in filter(None, (svg, html)):
        note(f"Drawn in {file}")


def _open(given: dict[str, Any]) -> "tuple[KnowledgeGraph, str]":
    """Return the knowledge graph, and the documents that it is of."""
    settings = options.chosen_settings(given)
    with Progress() as progress:
        resources, _ = open_resources(settings, options.chosen_connection(given), progress)
        source = resources(settings).graph_source
        if source is None:
            raise SettingsError(
                f"The settings leave the knowledge graph out (variant {settings.variant}, "
                f"knowledge_graph {settings.retrieval.knowledge_graph}).",
                "Leave these settings at their defaults.",
            )
        return source.graph(), settings.corpus


def _draw(
    name: str, relations: "Sequence[Relation]", more: int, svg: Path | None, html: Path | None
) -> None:
    if svg is None and html is None:
        return
    from lexloop.apps.cli.graph_drawing import as_page, as_svg
    from lexloop.evaluation.jsonl import write_checked

    drawing = as_svg(name, relations, more)
    if svg is not None:
        write_checked(svg, drawing)
    if html is not None:
        write_checked(html, as_page(name, relations, drawing))


def _print(name: str, degree: int, relations: "Sequence[Relation]", limit: int | None) -> None:
    """Print two lines for each relation: the statement, and its source with the quote."""
    from lexloop.apps.cli.graph_drawing import row

    console = result_console()
    # a pipe has no height and no width
    room = max(1, (console.size.height - _BESIDE) // 2) if console.is_terminal else len(relations)
    shown = relations if limit else relations[:room]
    say(
        f"{name}: {'1 relation' if degree == 1 else f'{degree} relations'} of its own", style="bold"
    )
    for found in shown:
        subject, relation, target, source, quote = row(found)
        said, where = f"{subject} {relation} {target}", f"    {source}: “{quote}”"
        for text, style in ((said, ""), (where, "dim")):
            line = plain(text, style)
            if console.is_terminal:
                line.truncate(console.size.width, overflow="ellipsis")
            console.print(line)
    if (hidden := max(degree, len(relations)) - len(shown)) > 0:
        say(f"{hidden} more: --limit shows up to {_MOST_ASKED}", style="dim")
